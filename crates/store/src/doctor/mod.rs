//! Examining a project for what is not as it should be, and repairing what needs no decision.

pub(crate) mod finding;

pub use finding::DoctorFinding;

use crate::commit::{self, CommitError, CutLine, SetAsideRepair};
use crate::disk::{WalkError, folder::EntryKind, folder::Folder, local_state::PLAIN_FOLDER};
use crate::disk::{root::Root, walk, walk::Visitor};
use crate::history::{History, HistoryError, SEALED_FOLDER, verify_segments};
use crate::projection::record_format::Overwrite;
use crate::replay::{Obstacle, ReplayArtifactsError, Replayed, ReplayedArtifacts};
use crate::workspace::{AppendError, Workspace};
use std::ops::Range;
use stepmark_model::{
    artifact::ProjectPath,
    coordination::Format,
    journal::{HistoryState, SegmentName},
};

#[derive(Debug, Default)]
pub struct Diagnosis {
    /// Everything that is not as it should be, after what was fixed.
    pub findings: Vec<DoctorFinding>,
    /// The files of commits that were cut off and are finished now.
    pub finished: Vec<ProjectPath>,
    pub cut: Vec<CutLine>,
    pub published: Vec<String>,
    pub removed: Vec<String>,
    pub set_aside: Vec<SetAsideRepair>,
    /// The artifacts of which history knows a later state, as that of another branch or work tree.
    pub behind: Vec<ProjectPath>,
    /// Set where the index of the journal had lost events, and was made anew.
    pub is_index_renewed: bool,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DoctorError {
    #[error(transparent)]
    Commit(#[from] CommitError),
    #[error(transparent)]
    History(#[from] HistoryError),
    #[error(transparent)]
    Fix(#[from] AppendError),
    #[error(transparent)]
    Walk(#[from] WalkError),
    #[error(transparent)]
    Replay(#[from] ReplayArtifactsError),
}

#[derive(Clone, Copy, Debug)]
pub struct Doctor<'w> {
    pub(crate) workspace: &'w Workspace,
}

impl Workspace {
    /// The examination of a project's own files.
    pub const fn doctor(&self) -> Doctor<'_> {
        Doctor { workspace: self }
    }
}

impl Doctor<'_> {
    /// Looks for what is not as it should be. Reads only.
    pub fn diagnose(&self) -> Result<Diagnosis, DoctorError> {
        let mut findings = Vec::new();
        let pending = commit::interrupted_paths(self.workspace.root())?;
        findings.extend(pending.into_iter().map(|path| DoctorFinding::InterruptedCommit { path }));
        findings.extend(commit::commits_set_aside(self.workspace.root())?.into_iter().map(|aside| {
            DoctorFinding::CommitSetAside { shown: self.workspace.root().shown(&aside.record), aside }
        }));
        let root = self.workspace.root();
        let found = commit::names_in(&root.path().join(PLAIN_FOLDER));
        let is_old = root.state().is_in_git() && found.is_ok_and(|names| !names.is_empty());
        findings.extend(is_old.then_some(DoctorFinding::OldState));
        let unpublished = commit::unpublished_segments(self.workspace.root()).map_err(AppendError::from)?;
        findings.extend(
            unpublished.iter().map(|name| DoctorFinding::UnpublishedSegment { file: tracked_file(name) }),
        );
        // The segments themselves: an index that lost rows would know of nothing.
        let verified = verify_segments(self.workspace.root())?;
        let is_index_renewed = self.workspace.history().ask(|history| history.renew_if_wrong(&verified))?;
        findings.extend(
            verified
                .problems
                .into_iter()
                .map(|problem| DoctorFinding::JournalLine { file: problem.file.clone(), problem }),
        );
        let replayed = self.workspace.history().replay_all()?;
        let spoilt = |(place, source)| DoctorFinding::Checkpoint { place, source };
        let ReplayedArtifacts { artifacts, unreadable, problems, checkpoints } = replayed;
        findings.extend(checkpoints.into_iter().map(spoilt));
        let left = left_files(self.workspace.root())?;
        findings.extend(left.kept.into_iter().map(|path| DoctorFinding::KeptBytes { path }));
        let temporary =
            left.temporary.into_iter().filter(|path| commit::is_left_over(self.workspace.root(), path));
        findings.extend(temporary.map(|path| DoctorFinding::TemporaryFile { path }));
        findings.extend(unreadable.into_iter().map(|source| DoctorFinding::UnreadableArtifact { source }));
        findings.extend(problems.into_iter().map(|problem| DoctorFinding::UnreadableFolder { problem }));
        let is_behind = |replayed: &&Replayed| matches!(replayed.state, HistoryState::Earlier { .. });
        let behind = artifacts.iter().filter(is_behind).map(|replayed| replayed.path.clone()).collect();
        findings.extend(artifacts.into_iter().flat_map(findings_of));
        Ok(Diagnosis { findings, behind, is_index_renewed, ..Diagnosis::default() })
    }

    /// Finishes what was cut off, cuts torn lines off the journal, and looks what is left.
    pub fn repair(&self) -> Result<Diagnosis, DoctorError> {
        let mut finished = commit::interrupted_paths(self.workspace.root())?;
        commit::finish_interrupted(self.workspace.root(), self.workspace.commit_options())?;
        let waiting = commit::interrupted_paths(self.workspace.root())?;
        finished.retain(|path| !waiting.contains(path));
        let torn =
            self.workspace.history().ask(History::problems)?.iter().any(|problem| !problem.is_damage());
        let cut = if torn {
            commit::cut_torn_lines(self.workspace.root(), self.workspace.commit_options().fsync)
                .map_err(AppendError::from)?
        } else {
            Vec::new()
        };
        let published =
            if commit::unpublished_segments(self.workspace.root()).map_err(AppendError::from)?.is_empty() {
                Vec::new()
            } else {
                commit::finish_sealing(self.workspace.root(), self.workspace.commit_options().fsync)
                    .map_err(AppendError::from)?
            };
        let published = published.iter().map(tracked_file).collect();
        let left = left_files(self.workspace.root())?.temporary;
        let removed =
            left.into_iter().filter(|path| commit::remove_left_over(self.workspace.root(), path)).collect();
        let set_aside =
            commit::repair_commits_set_aside(self.workspace.root(), self.workspace.commit_options())?;
        finished.extend(self.finish_systems());
        Ok(Diagnosis { finished, cut, published, removed, set_aside, ..self.diagnose()? })
    }

    /// Does what commands of systems do behind their first commit. What cannot be done `check` finds.
    fn finish_systems(&self) -> Vec<ProjectPath> {
        // The file of option C is written on `save` alone.
        let tasks = self
            .workspace
            .coordination()
            .filter(|tasks| tasks.settings().option != Format::OrchestratorState);
        let tasks = tasks.and_then(|tasks| tasks.project(&Overwrite::None).ok());
        let slices = self.workspace.asdd().and_then(|slices| slices.project(&Overwrite::None).ok());
        let mut finished = self.workspace.flows().map(|flows| flows.finish_cut_off()).unwrap_or_default();
        finished.extend(tasks.into_iter().flat_map(|files| files.written));
        finished.extend(slices.into_iter().flat_map(|files| files.written));
        finished
    }
}

fn tracked_file(name: &SegmentName) -> String {
    format!("{SEALED_FOLDER}/{name}.jsonl")
}

/// Everything that is not as it should be between an artifact and its history.
fn findings_of(artifact: Replayed) -> Vec<DoctorFinding> {
    let path = artifact.path;
    let wrong = |source| DoctorFinding::WrongHistory { path: path.clone(), source };
    let mut findings: Vec<DoctorFinding> = artifact.damage.into_iter().map(wrong).collect();
    if let HistoryState::Unexplained { head } = artifact.state {
        findings.push(match (artifact.obstacle, artifact.earlier) {
            (Some(Obstacle::Gone), _) => DoctorFinding::Gone { path, head },
            (Some(Obstacle::Unreadable(_)), _) => DoctorFinding::Damaged { path, head },
            (_, Some(earlier)) => DoctorFinding::WrittenBack { path, head, earlier },
            _ => DoctorFinding::Unexplained { path, head },
        });
    }
    findings
}

/// The start of the names of files that commits leave beside others (`commit`, "Guarantees").
const PREFIX: &str = ".stepmark-";

/// The start of the names of those that hold bytes of other programs.
const KEPT: &str = ".stepmark-kept-";

const TEMPORARY: &str = ".tmp";

/// Folders of other tools, in which no artifact stands.
const FOREIGN: [&str; 2] = [".git", "node_modules"];

struct Collector(Vec<String>);

impl Visitor for Collector {
    fn visit(&mut self, folder: &Folder, places: Range<usize>) {
        let names = places.map(|place| folder.name(place)).filter(|name| name.starts_with(PREFIX));
        self.0.extend(names.map(|name| folder.path_of(name)));
    }
}

/// The files that commits left beside others, in order.
#[derive(Debug, Default)]
struct LeftFiles {
    kept: Vec<String>,
    /// A process that was killed left them, or one that lives is writing them.
    temporary: Vec<String>,
}

fn left_files(root: &Root) -> Result<LeftFiles, WalkError> {
    let enters = |path: &str, kind: EntryKind| {
        let name = path.rsplit('/').next().unwrap_or(path);
        kind == EntryKind::Folder && !FOREIGN.contains(&name)
    };
    let walked = walk::walk(root.path(), &enters, &|| Collector(Vec::new()))?;
    let mut paths: Vec<String> = walked.visitors.into_iter().flat_map(|visitor| visitor.0).collect();
    paths.sort();
    let mut found = LeftFiles::default();
    for path in paths {
        let name = path.rsplit('/').next().unwrap_or(&path);
        if name.starts_with(KEPT) {
            found.kept.push(path);
        } else if name.ends_with(TEMPORARY) {
            found.temporary.push(path);
        }
    }
    Ok(found)
}
