//! How far an artifact has come in its workflow, and what comes next.

use super::{
    Chain, EdgeKind, EdgeSource, MatchedBy, Recording, Step, StepForm, StepId, StepMatch, Track, route::Place,
};

/// What an artifact says about its steps.
#[derive(Clone, Copy, Debug)]
pub struct StepRecord<'artifact> {
    /// The items of `stepsCompleted` (for the track validate, of `validationStepsCompleted`), in their order.
    pub completed: &'artifact [StepId],
    /// The value of `lastStep`, if it is there.
    pub last_step: Option<&'artifact StepId>,
    /// Whether the artifact's body holds anything.
    pub content: Content,
}

/// Whether an artifact's body holds anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Content {
    /// Nothing but white space.
    Empty,
    /// Some text.
    Present,
}

/// How far an artifact has come. Indices are positions in [`StepRecord::completed`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress<'chain> {
    /// Where the workflow as a whole stands.
    pub standing: Standing,
    /// The items that are steps of this chain and count, in the order of the list.
    pub done: Vec<DoneItem<'chain>>,
    /// How many units of the route are done; at most [`Progress::total`].
    pub done_units: usize,
    /// How many units there are: those of the chain ([`Chain::units`]), with the alternatives that were taken, and
    /// without the units that were rightly passed by.
    pub total: usize,
    /// What comes next.
    pub next: Next<'chain>,
    /// Units before the furthest done one that the list should name and does not.
    pub gaps: Vec<&'chain Step>,
    /// Steps before the furthest done one that the list does not name and need not: they record nothing, or a way
    /// passes them by.
    pub passed: Vec<&'chain Step>,
    /// Items that stand after an item of a later step.
    pub out_of_order: Vec<usize>,
    /// Items that repeat a step.
    pub duplicates: Vec<usize>,
    /// Items that only say that a session was resumed (`step-01b-continue`). They are never progress.
    pub resume_markers: Vec<usize>,
    /// Items that mean no step of this chain.
    pub unknown: Vec<UnknownItem<'chain>>,
    /// Whether `lastStep` agrees with the list. Where it does not, the list counts.
    pub last_step: LastStep<'chain>,
}

/// Where a workflow as a whole stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Standing {
    /// Nothing is done and nothing is written.
    NotStarted,
    /// No step is recorded, but there is content: upstream calls this an interrupted workflow, to be shown to a person
    /// before its first step runs again (FORMATS.md, "Resumption").
    Interrupted,
    /// Some steps are done.
    Underway,
    /// The end of the chain is done.
    Finished,
}

/// What comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next<'chain> {
    /// This step.
    Step {
        /// The step.
        step: &'chain Step,
        /// Steps that may be taken instead, in special cases.
        alternatives: Vec<&'chain Step>,
    },
    /// One of these, at the person's choice.
    Choice(Vec<&'chain Step>),
    /// Nothing: the end is reached.
    Finished,
    /// It cannot be told.
    Unknown(UnknownNext),
}

/// Why the next step cannot be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnknownNext {
    /// The chain has no steps.
    NoSteps,
    /// The list names steps, and none of them is a step of this chain.
    NothingMatches,
}

/// One item of the list that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoneItem<'chain> {
    /// Its position in the list.
    pub item: usize,
    /// The step; several where a number stands for alternatives and does not say which was taken.
    pub steps: Vec<&'chain Step>,
    /// By which rule the spelling was matched.
    pub by: MatchedBy,
    /// Whether the item marks the step as skipped.
    pub skipped: bool,
}

/// One item of the list that means no step of the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownItem<'chain> {
    /// Its position in the list.
    pub item: usize,
    /// What is known about it.
    pub reason: UnknownReason<'chain>,
}

/// Why an item means no step of the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnknownReason<'chain> {
    /// Free words, such as `edit-2026-02-24`: a note, not a step.
    Words,
    /// It looks like a step, and the chain has no such step.
    NoSuchStep,
    /// Several steps fit equally well.
    Ambiguous(Vec<&'chain Step>),
    /// It is a step of another track: `step-e-01-discovery` in a PRD that was edited later.
    OtherTrack(Track),
}

/// What `lastStep` says beside the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LastStep<'chain> {
    /// The key is not there.
    Absent,
    /// It names the furthest done step or the last item; or it is `0` and nothing is done.
    Agrees,
    /// It names another step (or the number of several).
    Disagrees(Vec<&'chain Step>),
    /// It names no step of the chain.
    Unknown,
}

impl<'chain> Progress<'chain> {
    /// Reads `record` against `chain`. `siblings` are the step names of the workflow's other tracks.
    ///
    /// The next step is what follows the **furthest** done step, not the first gap and not the last item. Upstream
    /// resumes after the last item, never at a gap, so going back to a gap would redo work (some steps record nothing
    /// and would be offered for ever); and the last item is no guide, since lists are rewritten and reordered
    /// (FORMATS.md: not ascending 18 times) and end with a resume marker. Gaps are reported, for a person to judge.
    pub fn read(chain: &'chain Chain, siblings: &[(Track, StepId)], record: &StepRecord<'_>) -> Self {
        let mut reading = Reading::new(chain);
        for (item, id) in record.completed.iter().enumerate() {
            reading.take(item, id, siblings);
        }
        reading.finish(record)
    }
}

struct Reading<'chain> {
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
    fn new(chain: &'chain Chain) -> Self {
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

    fn take(&mut self, item: usize, id: &StepId, siblings: &[(Track, StepId)]) {
        let found = self.chain.find(id);
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
        if id.is_resume() || indices.iter().all(|at| places[*at] == Place::Resume) {
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
        let sibling = siblings.iter().find(|(_, sibling)| sibling.form() == id.form());
        let marked = id.track().filter(|track| *track != self.chain.track());
        match (id.form(), sibling, marked) {
            (StepForm::Words, _, _) => UnknownReason::Words,
            (_, Some((track, _)), _) => UnknownReason::OtherTrack(*track),
            (_, None, Some(track)) => UnknownReason::OtherTrack(track),
            (_, None, None) => UnknownReason::NoSuchStep,
        }
    }

    fn finish(self, record: &StepRecord<'_>) -> Progress<'chain> {
        let next = self.next();
        let mut gaps = Vec::new();
        let mut passed = Vec::new();
        let (mut done_units, mut total) = (0, 0);
        let furthest = self.furthest.as_ref().map_or(0, |(rank, _)| *rank);
        for (position, unit) in self.chain.route().units.iter().enumerate() {
            let first = &self.chain.steps()[unit.members[0]];
            if unit.members.iter().any(|step| self.done[*step]) {
                done_units += 1;
            } else if Place::Unit(position).rank() < Some(furthest) {
                if unit.may_be_passed || first.recording == Recording::Silent {
                    passed.push(first);
                    continue;
                }
                gaps.push(first);
            }
            total += 1;
        }
        let places = &self.chain.route().places;
        let asides = (0..self.done.len()).filter(|at| self.done[*at] && matches!(places[*at], Place::Aside(_)));
        let asides = asides.count();
        Progress {
            standing: self.standing(&next, record.content),
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

    fn standing(&self, next: &Next<'_>, content: Content) -> Standing {
        match (next, self.done_items.is_empty(), content) {
            (Next::Finished, _, _) => Standing::Finished,
            (_, false, _) => Standing::Underway,
            (_, true, Content::Present) => Standing::Interrupted,
            (_, true, Content::Empty) => Standing::NotStarted,
        }
    }

    fn next(&self) -> Next<'chain> {
        let route = self.chain.route();
        let Some(last) = route.units.last() else { return Next::Unknown(UnknownNext::NoSteps) };
        if last.members.iter().any(|step| self.done[*step]) {
            return Next::Finished;
        }
        let Some((_, from)) = &self.furthest else {
            let astray = self.unknown.iter().any(|item| matches!(item.reason, UnknownReason::NoSuchStep));
            return if astray {
                Next::Unknown(UnknownNext::NothingMatches)
            } else {
                self.offer(route.units[0].members.clone(), Vec::new())
            };
        };
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

    /// What follows `from`, and what may follow instead. A successor that a key names counts even where it leads back
    /// (a menu that every session returns to), unless that step is done.
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

    fn last_step(&self, record: &StepRecord<'_>) -> LastStep<'chain> {
        let Some(id) = record.last_step else { return LastStep::Absent };
        let nothing = id.number().is_some_and(|number| number.major == 0) && self.done_items.is_empty();
        let steps = match self.chain.find(id) {
            StepMatch::Step { step, .. } => vec![step],
            StepMatch::Number(steps) => steps,
            StepMatch::Ambiguous(_) | StepMatch::None if nothing => return LastStep::Agrees,
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
