//! Looking at a project.

use std::sync::Arc;

use jiff::Timestamp;
use stepmark_model::journal::Event;
use stepmark_store::bmad::sprint::SprintLedgers;
use stepmark_store::checking::{CheckError, Known, Selection};
use stepmark_store::disk::WalkError;
use stepmark_store::history::{History, HistoryError};
use stepmark_store::workspace::{Artifacts, Workspace};

use super::{FindingRow, TrackerState};

/// The number of the latest events that are looked at: those that the timeline shows, and by which "lately" is judged.
pub const EVENTS: usize = 600;

/// Everything that a view is made from, read at one moment.
#[derive(Clone, Debug)]
pub struct Observation {
    /// The name that people give the project: that of its folder.
    pub project: String,
    /// The time at which it was looked at, by the clock of the workspace.
    pub at: Timestamp,
    /// All artifacts with workflow state: a post of a blog, of which a status is all, is none of them.
    pub artifacts: Arc<Artifacts>,
    /// The ledgers of its sprints, which know stories that nobody has written yet.
    pub ledgers: Arc<SprintLedgers>,
    /// All findings, in the order of the files.
    pub findings: Vec<FindingRow>,
    /// The latest events, at most [`EVENTS`], the last first.
    pub events: Vec<Event>,
    /// The number of lines of the journal that cannot be used.
    pub damaged_lines: usize,
    /// The trackers that the configuration names, or why that cannot be told.
    pub trackers: Result<Vec<TrackerState>, String>,
}

/// A reason why a project cannot be looked at.
#[derive(Debug, thiserror::Error)]
pub enum ObservationError {
    /// Its artifacts cannot be listed.
    #[error("cannot list the artifacts of the project")]
    Artifacts(#[from] WalkError),
    /// It cannot be checked.
    #[error("cannot tell what is wrong with the artifacts of the project")]
    Check(#[from] CheckError),
    /// Its journal cannot be read.
    #[error("cannot read the journal of the project")]
    History(#[from] HistoryError),
}

impl Observation {
    /// Looks at the project of `workspace` as it is now, its workflows included.
    ///
    /// # Errors
    /// When artifacts cannot be listed or checked, or the journal cannot be read. What concerns single files, lines or trackers is part of
    /// the observation.
    pub fn take(workspace: &Workspace) -> Result<Self, ObservationError> {
        let workspace = &workspace.afresh();
        Self::begin(workspace, Vec::new())?.checked(workspace)
    }

    /// Everything but what is wrong, which takes as long again: `findings` are those of the look before. For whoever shows changes at once.
    /// Workflows are those that `workspace` has found ([`Workspace::afresh`]).
    ///
    /// # Errors
    /// When artifacts cannot be listed, or the journal cannot be read.
    pub fn begin(workspace: &Workspace, findings: Vec<FindingRow>) -> Result<Self, ObservationError> {
        let root = workspace.root().path();
        let name = root.file_name().map(|name| name.to_string_lossy().into_owned());
        let (events, damaged_lines) = workspace.history().ask(recorded)?;
        let mut artifacts = workspace.artifacts()?;
        let ledgers = Arc::new(workspace.ledgers().all(&artifacts.artifacts));
        let trackers = TrackerState::read_all(workspace, &artifacts);
        let mut have = artifacts.have_workflow_state(workspace).into_iter();
        artifacts.artifacts.retain(|_| have.next().unwrap_or(true));
        let artifacts = Arc::new(artifacts);
        let project = name.unwrap_or_else(|| root.display().to_string());
        Ok(Self {
            project,
            at: workspace.now(),
            artifacts,
            ledgers,
            findings,
            events,
            damaged_lines,
            trackers,
        })
    }

    /// The same, with what is wrong now.
    ///
    /// # Errors
    /// When artifacts cannot be checked.
    pub fn checked(self, workspace: &Workspace) -> Result<Self, ObservationError> {
        let report = workspace.check(&self.artifacts.artifacts, Selection::All, Known::LeftOut)?;
        let findings = report.files.iter().flat_map(FindingRow::of_file).collect();
        Ok(Self { findings, ..self })
    }
}

fn recorded(history: &History) -> Result<(Vec<Event>, usize), HistoryError> {
    let damaged = history.problems()?.iter().filter(|problem| problem.is_damage()).count();
    Ok((history.latest(EVENTS)?, damaged))
}
