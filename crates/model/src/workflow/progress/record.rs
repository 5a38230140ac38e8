//! Progress of an artifact in its workflow, and its next step.

use crate::workflow::{Chain, MatchedBy, Next, Step, StepId, Track, progress::reading::Reading};

#[derive(Clone, Copy, Debug)]
pub struct StepRecord<'artifact> {
    /// The items of `stepsCompleted` (for the track validate, of `validationStepsCompleted`), in their order.
    pub completed: &'artifact [StepId],
    /// The value of `lastStep`, if it is there.
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
    /// The total number of units: those of the chain ([`Chain::units`]), with the alternatives that were
    /// taken, and without the units that were rightly passed by.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
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
    /// True if the item marks the step as skipped.
    pub skipped: bool,
}

/// One item of the list that means no step of the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownItem<'chain> {
    pub item: usize,
    pub reason: UnknownReason<'chain>,
}

/// A reason why an item means no step of the chain.
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
    /// It names no step of the chain.
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
