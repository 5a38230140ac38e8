//! Looking at a project.

use std::{collections::HashSet, sync::Arc};

use jiff::Timestamp;
use stepmark_model::{artifact::ProjectPath, journal::Event};
use stepmark_store::bmad::sprint::SprintLedgers;
use stepmark_store::checking::{CheckError, Checks, Known, Selection, Summaries};
use stepmark_store::disk::WalkError;
use stepmark_store::history::{History, HistoryError};
use stepmark_store::workspace::{Artifacts, Workspace};

use super::{FindingRow, ObservedArtifacts, TrackerState};

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
    /// Its artifacts.
    pub artifacts: ObservedArtifacts,
    /// The files that could not be read, and the artifacts where all were read: for the check that follows.
    pub found: Arc<Artifacts>,
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
#[non_exhaustive]
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
    /// Looks at the project of `workspace` as it is now, its workflows included. Artifacts that have not
    /// changed since they were last checked are not read, unless something was found in them, or the
    /// configuration names trackers: tickets are made from texts.
    ///
    /// # Errors
    /// When artifacts cannot be listed or checked, or the journal cannot be read. What concerns single files,
    /// lines or trackers is part of the observation.
    pub fn take(workspace: &Workspace) -> Result<Self, ObservationError> {
        Self::whole(&workspace.afresh())
    }

    /// The same with the workflows that `workspace` has found ([`Workspace::afresh`]).
    ///
    /// # Errors
    /// Those of [`Observation::take`].
    pub fn whole(workspace: &Workspace) -> Result<Self, ObservationError> {
        let mut summaries = listed(workspace, Checks::summaries_for_findings)?;
        let findings = findings(&mut summaries)?;
        Self::of(workspace, summaries, findings)
    }

    /// Everything but what is wrong, which takes longer: `findings` are those of the look before. For whoever
    /// shows changes at once.
    ///
    /// # Errors
    /// When artifacts cannot be listed, or the journal cannot be read.
    pub fn begin(workspace: &Workspace, findings: Vec<FindingRow>) -> Result<Self, ObservationError> {
        Self::of(workspace, listed(workspace, Checks::summaries)?, findings)
    }

    /// The same, with what is wrong now. Where all artifacts were read, they are not read again.
    ///
    /// # Errors
    /// When artifacts cannot be listed or checked.
    pub fn checked(self, workspace: &Workspace) -> Result<Self, ObservationError> {
        if !self.found.artifacts.is_empty() {
            let report = workspace.check(&self.found.artifacts, Selection::All, Known::LeftOut)?;
            let findings = report.files.iter().flat_map(FindingRow::of_file).collect();
            return Ok(Self { findings, ..self });
        }
        let mut summaries = listed(workspace, Checks::summaries_for_findings)?;
        let findings = findings(&mut summaries)?;
        Ok(Self {
            artifacts: ObservedArtifacts::of(&summaries),
            found: kept(workspace, summaries),
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
            ledgers: Arc::new(workspace.ledgers().all(summaries.rows().map(|row| row.path()))),
            findings,
            events,
            damaged_lines,
            trackers: TrackerState::read_all(workspace, summaries.found()),
            found: kept(workspace, summaries),
        })
    }
}

/// Lists the artifacts: all are read where trackers are configured, in every look, else as `list` says.
fn listed<'w>(
    workspace: &'w Workspace,
    list: fn(&Checks<'w>) -> Result<Summaries<'w>, WalkError>,
) -> Result<Summaries<'w>, WalkError> {
    let checks = workspace.checks();
    if TrackerState::are_configured(workspace) { checks.summaries_of_all_read() } else { list(&checks) }
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

/// The files that could not be read, and where all artifacts were read, those that have workflow state.
fn kept(workspace: &Workspace, summaries: Summaries<'_>) -> Arc<Artifacts> {
    let mut found = summaries.into_found();
    if TrackerState::are_configured(workspace) {
        let mut have = found.have_workflow_state(workspace).into_iter();
        found.artifacts.retain(|_| have.next().unwrap_or(true));
    } else {
        found.artifacts.clear();
    }
    Arc::new(found)
}

fn recorded(history: &History) -> Result<(Vec<Event>, usize), HistoryError> {
    let damaged = history.problems()?.iter().filter(|problem| problem.is_damage()).count();
    Ok((history.latest(EVENTS)?, damaged))
}
