//! Progress of an artifact in its workflow, and its next step.

use crate::workflow::{
    Chain, EdgeKind, EdgeSource, Recording, Step, StepForm, StepId, StepNumber, Track, chain::RoutePosition,
    same_step,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next<'chain> {
    Step {
        step: &'chain Step,
        alternatives: Vec<&'chain Step>,
    },
    /// A person chooses one.
    Choice(Vec<&'chain Step>),
    Finished,
    Unknown(UnknownNext),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum UnknownNext {
    #[error("the workflow has no steps")]
    NoSteps,
    #[error("no listed step is one of the workflow")]
    NothingMatches,
}

pub(in crate::workflow) struct Position<'reading, 'chain> {
    pub(in crate::workflow) chain: &'chain Chain,
    pub(in crate::workflow) done: &'reading [bool],
    /// Several if a number means alternatives.
    pub(in crate::workflow) furthest: Option<&'reading Vec<usize>>,
}

impl<'chain> Position<'_, 'chain> {
    pub(in crate::workflow) fn next(&self) -> Next<'chain> {
        let route = self.chain.route();
        let Some(last) = route.units.last() else { return Next::Unknown(UnknownNext::NoSteps) };
        if last.members.iter().any(|step| self.done[*step]) {
            return Next::Finished;
        }
        let Some(from) = self.furthest else { return self.offer(route.units[0].members.clone(), Vec::new()) };
        let mut from = from.clone();
        // Successors may be done already after an alternative; each turn visits new steps.
        for _ in 0..=self.done.len() {
            let (ahead, alternatives) = self.following(&from);
            if ahead.is_empty() {
                return Next::Finished;
            }
            if ahead.iter().all(|step| !self.done[*step]) {
                return self.offer(ahead, alternatives);
            }
            from = ahead.into_iter().filter(|step| self.done[*step]).collect();
        }
        Next::Finished
    }

    /// Successors, and alternatives to them. A successor from a key counts even if it leads back (to a menu
    /// that every session returns to), unless it is done.
    fn following(&self, from: &[usize]) -> (Vec<usize>, Vec<usize>) {
        let graph = self.chain.graph();
        let back = |step: usize| {
            graph.edges[step]
                .iter()
                .filter(|edge| edge.kind == EdgeKind::Loop && matches!(edge.source, EdgeSource::Key(_)))
                .map(|edge| edge.to)
                .filter(|to| !self.done[*to])
        };
        let back: Vec<usize> = from.iter().flat_map(|step| back(*step)).collect();
        let regular: Vec<usize> = from
            .iter()
            .flat_map(|step| graph.targets(*step, EdgeKind::Next))
            .filter(|to| !from.contains(to))
            .collect();
        let ahead = graph.nearest_of(if back.is_empty() { regular.clone() } else { back });
        let mut alternatives: Vec<usize> =
            from.iter().flat_map(|step| graph.targets(*step, EdgeKind::Alternative)).chain(regular).collect();
        alternatives.sort_unstable();
        alternatives.dedup();
        alternatives.retain(|step| !ahead.contains(step) && !from.contains(step) && !self.done[*step]);
        (ahead, alternatives)
    }

    fn offer(&self, ahead: Vec<usize>, alternatives: Vec<usize>) -> Next<'chain> {
        let steps = |indices: Vec<usize>| indices.into_iter().map(|at| &self.chain.steps()[at]).collect();
        match ahead.as_slice() {
            [step] => Next::Step { step: &self.chain.steps()[*step], alternatives: steps(alternatives) },
            _ => Next::Choice(steps(ahead)),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct StepRecord<'artifact> {
    /// `stepsCompleted` (track validate: `validationStepsCompleted`), in order.
    pub completed: &'artifact [StepId],
    pub last_step: Option<&'artifact StepId>,
    pub content: Content,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Content {
    Empty,
    Present,
}

/// Indices refer to [`StepRecord::completed`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress<'chain> {
    pub state: WorkState,
    /// Steps of this chain that count, in list order.
    pub done: Vec<DoneItem<'chain>>,
    /// Units of the route; at most [`Progress::total`].
    pub done_units: usize,
    /// [`Chain::units`] with taken alternatives, without rightly skipped units.
    pub total: usize,
    pub next: Next<'chain>,
    /// Before the furthest done one; the list should have them.
    pub gaps: Vec<&'chain Step>,
    /// Rightly skipped: before the furthest done one, but not recording, or bypassed.
    pub passed: Vec<&'chain Step>,
    pub out_of_order: Vec<usize>,
    pub duplicates: Vec<usize>,
    /// `step-01b-continue`: a resumed session, never progress.
    pub resume_markers: Vec<usize>,
    pub unknown: Vec<UnknownItem<'chain>>,
    /// If it disagrees, the list counts.
    pub last_step: LastStep<'chain>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WorkState {
    NotStarted,
    /// Content without steps: upstream shows it to a person before the first step runs again
    /// (docs/formats.md, "Resumption").
    Interrupted,
    Underway,
    Finished,
}

impl Progress<'_> {
    pub const fn left(&self) -> usize {
        self.total.saturating_sub(self.done_units)
    }
}

impl WorkState {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotStarted => "not-started",
            Self::Interrupted => "interrupted",
            Self::Underway => "underway",
            Self::Finished => "finished",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoneItem<'chain> {
    pub item: usize,
    /// Several if a number means alternatives.
    pub steps: Vec<&'chain Step>,
    pub by: MatchedBy,
    pub skipped: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownItem<'chain> {
    pub item: usize,
    pub reason: UnknownReason<'chain>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnknownReason<'chain> {
    /// `edit-2026-02-24`: a note.
    Words,
    NoSuchStep,
    Ambiguous(Vec<&'chain Step>),
    /// `step-e-01-discovery` in a PRD edited later.
    OtherTrack(Track),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LastStep<'chain> {
    Absent,
    /// The furthest done step or the last item; or `0`, and nothing is done.
    Agrees,
    /// Another step (or several of that number); empty for `0` if something is done.
    Disagrees(Vec<&'chain Step>),
    Unknown,
}

impl<'chain> Progress<'chain> {
    /// `siblings` are the step names of other tracks.
    ///
    /// The next step follows the **furthest** done step, not the first gap or the last item. Upstream never
    /// resumes at a gap: that would redo work, and offer steps that record nothing forever. The last item is
    /// no guide: lists are reordered (docs/formats.md: not ascending 18 times) and end with resume markers.
    /// Gaps are reported for a person to judge.
    pub fn read(chain: &'chain Chain, siblings: &[(Track, StepId)], record: &StepRecord<'_>) -> Self {
        let mut reading = Reading::new(chain);
        for (item, id) in record.completed.iter().enumerate() {
            reading.take(item, id, siblings);
        }
        reading.finish(record)
    }
}

pub(in crate::workflow) struct Reading<'chain> {
    chain: &'chain Chain,
    done: Vec<bool>,
    done_items: Vec<DoneItem<'chain>>,
    furthest: Option<(usize, Vec<usize>)>,
    out_of_order: Vec<usize>,
    duplicates: Vec<usize>,
    resume_markers: Vec<usize>,
    unknown: Vec<UnknownItem<'chain>>,
}

impl<'chain> Reading<'chain> {
    pub(in crate::workflow) fn new(chain: &'chain Chain) -> Self {
        Self {
            chain,
            done: vec![false; chain.steps().len()],
            done_items: Vec::new(),
            furthest: None,
            out_of_order: Vec::new(),
            duplicates: Vec::new(),
            resume_markers: Vec::new(),
            unknown: Vec::new(),
        }
    }

    pub(in crate::workflow) fn take(&mut self, item: usize, id: &StepId, siblings: &[(Track, StepId)]) {
        let found = match self.chain.find(id) {
            // A full name of another track's step does not match this track's step of that number.
            StepMatch::Step { by, .. } if by > MatchedBy::Name && is_sibling(id, siblings) => StepMatch::None,
            found => found,
        };
        let (steps, by) = match found {
            StepMatch::Step { step, by } => (vec![step], by),
            StepMatch::Number(steps) => (steps, MatchedBy::Number),
            StepMatch::Ambiguous(_) | StepMatch::None if id.is_resume() => {
                self.resume_markers.push(item);
                return;
            }
            StepMatch::Ambiguous(steps) => {
                self.unknown.push(UnknownItem { item, reason: UnknownReason::Ambiguous(steps) });
                return;
            }
            StepMatch::None => {
                self.unknown.push(UnknownItem { item, reason: self.reason(id, siblings) });
                return;
            }
        };
        let indices: Vec<usize> = steps.iter().filter_map(|step| self.chain.index_of(step)).collect();
        let places = &self.chain.route().places;
        if id.is_resume() || indices.iter().all(|at| places[*at] == RoutePosition::Resume) {
            self.resume_markers.push(item);
            return;
        }
        if indices.iter().all(|at| self.done[*at]) {
            self.duplicates.push(item);
            return;
        }
        if let Some(rank) = indices.iter().filter_map(|at| places[*at].rank()).max() {
            match &self.furthest {
                Some((furthest, _)) if *furthest > rank => self.out_of_order.push(item),
                _ => self.furthest = Some((rank, indices.clone())),
            }
        }
        for at in indices {
            self.done[at] = true;
        }
        self.done_items.push(DoneItem { item, steps, by, skipped: id.is_skipped() });
    }

    fn reason(&self, id: &StepId, siblings: &[(Track, StepId)]) -> UnknownReason<'chain> {
        let sibling = siblings.iter().find(|(_, sibling)| sibling.form() == id.form() && id.slug().is_some());
        let marked = id.track().filter(|track| *track != self.chain.track());
        match (id.form(), sibling, marked) {
            (StepForm::Words, _, _) => UnknownReason::Words,
            (_, Some((track, _)), _) => UnknownReason::OtherTrack(*track),
            (_, None, Some(track)) => UnknownReason::OtherTrack(track),
            (_, None, None) => UnknownReason::NoSuchStep,
        }
    }

    pub(in crate::workflow) fn finish(self, record: &StepRecord<'_>) -> Progress<'chain> {
        let route = Position {
            chain: self.chain,
            done: &self.done,
            furthest: self.furthest.as_ref().map(|(_, steps)| steps),
        };
        let astray = self.unknown.iter().any(|item| matches!(item.reason, UnknownReason::NoSuchStep));
        let next = if self.done_items.is_empty() && astray && !self.chain.route().units.is_empty() {
            Next::Unknown(UnknownNext::NothingMatches)
        } else {
            route.next()
        };
        let mut gaps = Vec::new();
        let mut passed = Vec::new();
        let (mut done_units, mut total) = (0, 0);
        let furthest = self.furthest.as_ref().map_or(0, |(rank, _)| *rank);
        for (position, unit) in self.chain.route().units.iter().enumerate() {
            let first = &self.chain.steps()[unit.members[0]];
            if unit.members.iter().any(|step| self.done[*step]) {
                done_units += 1;
            } else if RoutePosition::Unit(position).rank() < Some(furthest) {
                if unit.may_be_passed || first.recording == Recording::Silent {
                    passed.push(first);
                    continue;
                }
                gaps.push(first);
            }
            total += 1;
        }
        let places = &self.chain.route().places;
        let asides = (0..self.done.len())
            .filter(|at| self.done[*at] && matches!(places[*at], RoutePosition::Aside(_)));
        let asides = asides.count();
        Progress {
            state: self.state(&next, record.content),
            done_units: done_units + asides,
            total: total + asides,
            gaps,
            passed,
            last_step: self.last_step(record),
            next,
            done: self.done_items,
            out_of_order: self.out_of_order,
            duplicates: self.duplicates,
            resume_markers: self.resume_markers,
            unknown: self.unknown,
        }
    }

    fn state(&self, next: &Next<'_>, content: Content) -> WorkState {
        match (next, self.done_items.is_empty(), content) {
            (Next::Finished, _, _) => WorkState::Finished,
            (_, false, _) => WorkState::Underway,
            (_, true, Content::Present) => WorkState::Interrupted,
            (_, true, Content::Empty) => WorkState::NotStarted,
        }
    }

    fn last_step(&self, record: &StepRecord<'_>) -> LastStep<'chain> {
        let Some(id) = record.last_step else { return LastStep::Absent };
        let steps = match self.chain.find(id) {
            StepMatch::Step { step, .. } => vec![step],
            StepMatch::Number(steps) => steps,
            StepMatch::Ambiguous(_) | StepMatch::None if is_zero(id) && self.done_items.is_empty() => {
                return LastStep::Agrees;
            }
            StepMatch::Ambiguous(_) | StepMatch::None if is_zero(id) => Vec::new(),
            StepMatch::Ambiguous(_) | StepMatch::None => return LastStep::Unknown,
        };
        let furthest = self.furthest.iter().flat_map(|(_, steps)| steps).map(|at| &self.chain.steps()[*at]);
        let last = self.done_items.last().into_iter().flat_map(|item| item.steps.iter().copied());
        if furthest.chain(last).any(|done| steps.contains(&done)) {
            LastStep::Agrees
        } else {
            LastStep::Disagrees(steps)
        }
    }
}

/// Templates of older releases: nothing is done.
fn is_zero(id: &StepId) -> bool {
    id.number().is_some_and(|number| number.major == 0)
}

fn is_sibling(id: &StepId, siblings: &[(Track, StepId)]) -> bool {
    id.slug().is_some() && siblings.iter().any(|(_, sibling)| sibling.form() == id.form())
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepMatch<'chain> {
    Step {
        step: &'chain Step,
        by: MatchedBy,
    },
    /// `2` with only 02a–02d: any of them.
    Number(Vec<&'chain Step>),
    Ambiguous(Vec<&'chain Step>),
    None,
}

/// Strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MatchedBy {
    /// Equal number, track and slug: `step-01-init`, `1-init.md`.
    Name,
    /// The only step with this slug: renumbered between releases. The alpha PRD ends with `step-11-complete`,
    /// 6.0.4's with `step-12-complete`, and 6.0.4 still looks for the former (docs/formats.md, "Resumption").
    Slug,
    /// Number, letter and track match; no slug: `4`, `02b`, `Step 4: Title`. Numbers are those of file names,
    /// not positions: upstream writes `[1, 2, …, 8]` for files 01 to 08, and `2` means 02, not 02b.
    Number,
    /// The number matches, the slug does not: renamed between releases.
    NumberOfOtherName,
}

impl Chain {
    /// Applies [`MatchedBy`] in order.
    ///
    /// An ambiguous number means the steps on the route; resume steps match by name only.
    pub fn find(&self, id: &StepId) -> StepMatch<'_> {
        if let Some(step) = self.steps().iter().find(|step| same_name(&step.id, id)) {
            return StepMatch::Step { step, by: MatchedBy::Name };
        }
        if let Some(step) = self.by_slug(id) {
            return StepMatch::Step { step, by: MatchedBy::Slug };
        }
        id.number().map_or(StepMatch::None, |number| self.by_number(id, number))
    }

    fn by_slug(&self, id: &StepId) -> Option<&Step> {
        let slug = id.slug().filter(|_| is_file_like(id))?;
        let mut fitting = self
            .steps()
            .iter()
            .filter(|step| step.id.slug() == Some(slug) && self.fits_track(step, id) && !id.is_resume());
        let step = fitting.next()?;
        fitting.next().is_none().then_some(step)
    }

    fn by_number(&self, id: &StepId, number: StepNumber) -> StepMatch<'_> {
        let fitting = |wanted: &dyn Fn(StepNumber) -> bool| -> Vec<usize> {
            let fits = |step: &Step| step.id.number().is_some_and(wanted) && self.fits_track(step, id);
            let places = &self.route().places;
            (0..self.steps().len())
                .filter(|at| places[*at] != RoutePosition::Resume && fits(&self.steps()[*at]))
                .collect()
        };
        let mut found = fitting(&|own| own == number);
        if found.is_empty() && number.letter.is_none() {
            // Only lettered steps have this number: all of them match.
            found = fitting(&|own| same_step(own, number));
        }
        let visited: Vec<usize> =
            found.iter().copied().filter(|at| self.route().places[*at].rank().is_some()).collect();
        let found = if visited.is_empty() { found } else { visited };
        let steps = |found: &[usize]| found.iter().map(|at| &self.steps()[*at]).collect();
        match found.as_slice() {
            [] => StepMatch::None,
            [at] => {
                let step = &self.steps()[*at];
                let renamed = is_file_like(id) && id.slug().is_some() && step.id.slug().is_some();
                let by = if renamed { MatchedBy::NumberOfOtherName } else { MatchedBy::Number };
                StepMatch::Step { step, by }
            }
            // The slug names one step, which is not in this chain.
            several if is_file_like(id) && id.slug().is_some() => StepMatch::Ambiguous(steps(several)),
            several => StepMatch::Number(steps(several)),
        }
    }

    /// The spelling's marker must equal the step's, or else the chain's track.
    fn fits_track(&self, step: &Step, id: &StepId) -> bool {
        id.track().is_none_or(|track| step.id.track().unwrap_or(self.track()) == track)
    }
}

/// Declared names may be any words, compared literally.
fn same_name(step: &StepId, id: &StepId) -> bool {
    match step.form() {
        StepForm::Words => step.spelling().trim().eq_ignore_ascii_case(id.spelling().trim()),
        form => form == id.form(),
    }
}

/// A file name's slug, not a made-up title.
fn is_file_like(id: &StepId) -> bool {
    !id.spelling().contains(|letter: char| letter.is_whitespace() || letter == ':')
}

#[cfg(test)]
mod cases;
