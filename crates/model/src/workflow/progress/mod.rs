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
    /// One of these, at the person's choice.
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
    /// The furthest done step; several where a number stands for alternatives.
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
        // What follows may be done already where a side way joins the route; each turn goes on to new steps.
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

    /// The steps that follow `from`, and those that may follow instead. A successor that a key names counts
    /// even where it leads back (a menu that every session returns to), unless that step is done.
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
    /// The items of `stepsCompleted` (for the track validate, of `validationStepsCompleted`), in their order.
    pub completed: &'artifact [StepId],
    pub last_step: Option<&'artifact StepId>,
    pub content: Content,
}

/// The presence of text in an artifact's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Content {
    Empty,
    Present,
}

/// The progress of an artifact in its workflow. Indices are positions in [`StepRecord::completed`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress<'chain> {
    pub state: WorkState,
    /// The items that are steps of this chain and count, in the order of the list.
    pub done: Vec<DoneItem<'chain>>,
    /// The number of units of the route that are done; at most [`Progress::total`].
    pub done_units: usize,
    /// Units of the chain ([`Chain::units`]) with the alternatives taken, without those rightly passed by.
    pub total: usize,
    pub next: Next<'chain>,
    /// Units before the furthest done one that the list should name and does not.
    pub gaps: Vec<&'chain Step>,
    /// Steps before the furthest done one that the list does not name and need not: they record nothing, or a
    /// way passes them by.
    pub passed: Vec<&'chain Step>,
    pub out_of_order: Vec<usize>,
    pub duplicates: Vec<usize>,
    /// Items that only say that a session was resumed (`step-01b-continue`). They are never progress.
    pub resume_markers: Vec<usize>,
    /// Items that mean no step of this chain.
    pub unknown: Vec<UnknownItem<'chain>>,
    /// `lastStep` beside the list. Where they disagree, the list counts.
    pub last_step: LastStep<'chain>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WorkState {
    /// Nothing is done and nothing is written.
    NotStarted,
    /// No step is recorded, but there is content: upstream calls this an interrupted workflow, to be shown to
    /// a person before its first step runs again (docs/formats.md, "Resumption").
    Interrupted,
    Underway,
    /// The end of the chain is done.
    Finished,
}

impl Progress<'_> {
    /// The number of units that are not done.
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
    /// The step; several where a number stands for alternatives and does not say which was taken.
    pub steps: Vec<&'chain Step>,
    pub by: MatchedBy,
    pub skipped: bool,
}

/// One item of the list that means no step of the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownItem<'chain> {
    pub item: usize,
    pub reason: UnknownReason<'chain>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnknownReason<'chain> {
    /// Free words, such as `edit-2026-02-24`: a note, not a step.
    Words,
    /// It looks like a step, and the chain has no such step.
    NoSuchStep,
    Ambiguous(Vec<&'chain Step>),
    /// It is a step of another track: `step-e-01-discovery` in a PRD that was edited later.
    OtherTrack(Track),
}

/// The value of `lastStep` beside the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LastStep<'chain> {
    Absent,
    /// It names the furthest done step or the last item; or it is `0` and nothing is done.
    Agrees,
    /// It names another step (or the number of several); none where it is `0` and something is done.
    Disagrees(Vec<&'chain Step>),
    Unknown,
}

impl<'chain> Progress<'chain> {
    /// Reads `record` against `chain`. `siblings` are the step names of the workflow's other tracks.
    ///
    /// The next step is what follows the **furthest** done step, not the first gap and not the last item.
    /// Upstream resumes after the last item, never at a gap, so going back to a gap would redo work (some
    /// steps record nothing and would be offered for ever); and the last item is no guide, since lists are
    /// rewritten and reordered (docs/formats.md: not ascending 18 times) and end with a resume marker. Gaps
    /// are reported, for a person to judge.
    pub fn read(chain: &'chain Chain, siblings: &[(Track, StepId)], record: &StepRecord<'_>) -> Self {
        let mut reading = Reading::new(chain);
        for (item, id) in record.completed.iter().enumerate() {
            reading.take(item, id, siblings);
        }
        reading.finish(record)
    }
}

/// The part of the list that has been read so far.
pub(in crate::workflow) struct Reading<'chain> {
    chain: &'chain Chain,
    done: Vec<bool>,
    done_items: Vec<DoneItem<'chain>>,
    /// The done place of the highest rank, with its steps.
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
            // By its full name, a step of another track is not this track's step of the same number.
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

/// `lastStep: 0` is how the templates of older releases say that nothing is done.
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
    /// Every step of one number: `2` where there are only 02a–02d. Which of them was done is not said.
    Number(Vec<&'chain Step>),
    Ambiguous(Vec<&'chain Step>),
    None,
}

/// The rule by which a spelling was matched, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MatchedBy {
    /// Number, track and slug are the same: `step-01-init`, `1-init.md`.
    Name,
    /// Only one step has this slug: it was renumbered between releases. The alpha PRD ends with
    /// `step-11-complete`, the one of 6.0.4 with `step-12-complete`, and 6.0.4 still looks for the former
    /// (docs/formats.md, "Resumption").
    Slug,
    /// The number, with its letter and track, is the step's; the spelling has no slug: `4`, `02b`,
    /// `Step 4: Title`. Numbers are those of the file names, not positions: upstream writes `[1, 2, …, 8]`
    /// for files 01 to 08, and `2` means 02, not 02b.
    Number,
    /// The number is the step's but the slug is not: the step was renamed between releases.
    NumberOfOtherName,
}

impl Chain {
    /// Finds what `id` means in this chain, by the rules of [`MatchedBy`] in their order.
    ///
    /// A number of several steps means those that the route visits; resume steps are found by name only.
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
            // Only lettered steps have this number, so it means all of them.
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
            // A slug speaks of one step, which this chain does not have under that name.
            several if is_file_like(id) && id.slug().is_some() => StepMatch::Ambiguous(steps(several)),
            several => StepMatch::Number(steps(several)),
        }
    }

    /// A marker in the spelling must be the step's own marker, or else the chain's track.
    fn fits_track(&self, step: &Step, id: &StepId) -> bool {
        id.track().is_none_or(|track| step.id.track().unwrap_or(self.track()) == track)
    }
}

/// A declared step may have any words for a name; these are compared as they stand.
fn same_name(step: &StepId, id: &StepId) -> bool {
    match step.form() {
        StepForm::Words => step.spelling().trim().eq_ignore_ascii_case(id.spelling().trim()),
        form => form == id.form(),
    }
}

/// Returns whether the words after the number are a slug out of a file's name, not a made-up title.
fn is_file_like(id: &StepId) -> bool {
    !id.spelling().contains(|letter: char| letter.is_whitespace() || letter == ':')
}

#[cfg(test)]
mod cases;
