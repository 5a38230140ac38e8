//! Looking at a project.

use std::{collections::HashSet, sync::Arc};

use jiff::Timestamp;
use stepmark_model::{artifact::ProjectPath, journal::Event};
use stepmark_store::bmad::sprint::SprintLedgers;
use stepmark_store::checking::{CheckError, Summaries};
use stepmark_store::disk::WalkError;
use stepmark_store::history::{History, HistoryError};
use stepmark_store::workspace::{Artifacts, Workspace};

use super::{FindingRow, ObservedArtifacts, ObservedMemory, ObservedSystems, TrackerState};

/// The number of the latest events that are looked at: those that the timeline shows, and by which "lately"
/// is judged.
pub const EVENTS: usize = 600;

/// Everything that a view is made from, read at one moment.
#[derive(Clone, Debug)]
pub struct Observation {
    /// The name that people give the project: that of its folder.
    pub project: String,
    /// The time at which it was looked at, by the clock of the workspace.
    pub at: Timestamp,
    pub artifacts: ObservedArtifacts,
    pub systems: Arc<ObservedSystems>,
    /// The files that could not be read; not the artifacts.
    pub found: Arc<Artifacts>,
    /// The ledgers of its sprints, which know stories that nobody has written yet.
    pub ledgers: Arc<SprintLedgers>,
    /// All findings, in the order of the files.
    pub findings: Vec<FindingRow>,
    /// The latest events, at most [`EVENTS`], the last first.
    pub events: Vec<Event>,
    /// True where something is remembered ([`ObservedMemory`]).
    pub has_memory: bool,
    pub damaged_lines: usize,
    /// The trackers that the configuration names, or why that cannot be told.
    pub trackers: Result<Vec<TrackerState>, String>,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ObservationError {
    #[error("cannot list the artifacts of the project")]
    Artifacts(#[from] WalkError),
    #[error("cannot tell what is wrong with the artifacts of the project")]
    Check(#[from] CheckError),
    #[error("cannot read the journal of the project")]
    History(#[from] HistoryError),
}

impl Observation {
    /// Looks at the project of `workspace` as it is now, its workflows included. Artifacts that have not
    /// changed since they were last checked are not read, unless something was found in them.
    pub fn take(workspace: &Workspace) -> Result<Self, ObservationError> {
        Self::whole(&workspace.afresh())
    }

    pub fn whole(workspace: &Workspace) -> Result<Self, ObservationError> {
        let mut summaries = workspace.checks().summaries_for_findings()?;
        let findings = findings(&mut summaries)?;
        Self::of(workspace, summaries, findings)
    }

    /// Everything but what is wrong, which takes longer: `findings` are those of the look before. For whoever
    /// shows changes at once.
    pub fn begin(workspace: &Workspace, findings: Vec<FindingRow>) -> Result<Self, ObservationError> {
        Self::of(workspace, workspace.checks().summaries()?, findings)
    }

    pub fn checked(self, workspace: &Workspace) -> Result<Self, ObservationError> {
        let mut summaries = workspace.checks().summaries_for_findings()?;
        let findings = findings(&mut summaries)?;
        Ok(Self {
            artifacts: ObservedArtifacts::of(&summaries),
            found: unreadable(summaries),
            findings,
            ..self
        })
    }

    fn of(
        workspace: &Workspace,
        summaries: Summaries<'_>,
        findings: Vec<FindingRow>,
    ) -> Result<Self, ObservationError> {
        let root = workspace.root().path();
        let name = root.file_name().map(|name| name.to_string_lossy().into_owned());
        let (events, damaged_lines) = workspace.history().ask(recorded)?;
        Ok(Self {
            project: name.unwrap_or_else(|| root.display().to_string()),
            at: workspace.now(),
            artifacts: ObservedArtifacts::of(&summaries),
            systems: Arc::new(ObservedSystems::of(workspace)),
            has_memory: ObservedMemory::is_there(workspace, &events),
            ledgers: Arc::new(workspace.ledgers().all(summaries.rows().map(|row| row.path()))),
            findings,
            events,
            damaged_lines,
            trackers: TrackerState::read_all(workspace, &summaries),
            found: unreadable(summaries),
        })
    }
}

/// Checks the project: what is wrong with artifacts that have workflow state, and with files beside them.
fn findings(summaries: &mut Summaries<'_>) -> Result<Vec<FindingRow>, CheckError> {
    let mut findings: Vec<FindingRow> =
        summaries.report()?.files.iter().flat_map(FindingRow::of_file).collect();
    let stateless = summaries.rows().filter(|row| !row.brief().has_workflow_state);
    let stateless: HashSet<&ProjectPath> = stateless.map(|row| row.path()).collect();
    findings.retain(|finding| !stateless.contains(&finding.path));
    Ok(findings)
}

fn unreadable(summaries: Summaries<'_>) -> Arc<Artifacts> {
    Arc::new(Artifacts { artifacts: Vec::new(), ..summaries.into_found() })
}

fn recorded(history: &History) -> Result<(Vec<Event>, usize), HistoryError> {
    let damaged = history.problems()?.iter().filter(|problem| problem.is_damage()).count();
    Ok((history.latest(EVENTS)?, damaged))
}
