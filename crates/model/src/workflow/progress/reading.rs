//! Reading a list of completed steps against a chain, item by item.

use crate::workflow::{
    Chain, Content, DoneItem, LastStep, Next, Progress, Recording, Step, StepForm, StepId, StepNumber,
    StepRecord, Track, UnknownItem, UnknownNext, UnknownReason, WorkState, same_step,
};
use crate::workflow::{chain::graph::RoutePosition, progress::next::Position};

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
            // A step of another track by its full name is not the step of this track that has the same
            // number.
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
    /// A number that several steps have means those that the route visits; resume steps are found by name
    /// only.
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

/// Returns whether the words after the number are a slug out of a file's name, not a title that someone made
/// up.
fn is_file_like(id: &StepId) -> bool {
    !id.spelling().contains(|letter: char| letter.is_whitespace() || letter == ':')
}
