//! Reading a list of completed steps against a chain, item by item.

use crate::workflow::{
    Chain, Content, DoneItem, LastStep, MatchedBy, Next, Progress, Recording, StepForm, StepId, StepMatch,
    StepRecord, Track, UnknownItem, UnknownNext, UnknownReason, WorkState, chain::route::RoutePosition,
    progress::next::Position,
};

/// What has been read of the list so far.
pub(in crate::workflow) struct Reading<'chain> {
    chain: &'chain Chain,
    /// For each step whether it is done.
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

    /// Reads the item at `item`.
    pub(in crate::workflow) fn take(&mut self, item: usize, id: &StepId, siblings: &[(Track, StepId)]) {
        let found = match self.chain.find(id) {
            // A step of another track by its full name is not the step of this track that has the same number.
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

    /// Draws the conclusions.
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
