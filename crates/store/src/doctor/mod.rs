//! Diagnosing a project, and repairs that need no decision.

use std::ops::Range;
use stepmark_model::artifact::StateUnreadable;

use crate::{
    Error,
    commit::{self, CommitSetAside, SetAsideRepair},
    disk::{
        WalkProblem,
        folder::{EntryKind, Folder},
        local_state::PLAIN_FOLDER,
        root::Root,
        walk::{self, Visitor},
    },
    history::{History, SEALED_FOLDER, SegmentProblem, verify_segments},
    projection::pack_files::Overwrite,
    replay::Replayed,
    workspace::Workspace,
};
use serde::Serialize;
use stepmark_model::{
    artifact::ProjectPath,
    coordination::Format,
    journal::{HistoryState, SegmentName},
};

#[derive(Debug, Default)]
pub struct Diagnosis {
    pub findings: Vec<DoctorFinding>,
    pub fixed: Vec<DoctorFix>,
    /// Artifacts with a later state in history, as that of another branch or work tree.
    pub behind: Vec<ProjectPath>,
    /// True if the journal's index had lost events, and was rebuilt.
    pub is_index_renewed: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Doctor<'w> {
    pub(crate) workspace: &'w Workspace,
}

impl Workspace {
    pub const fn doctor(&self) -> Doctor<'_> {
        Doctor { workspace: self }
    }
}

impl Doctor<'_> {
    pub fn diagnose(&self) -> Result<Diagnosis, Error> {
        let (root, history) = (self.workspace.root(), self.workspace.history());
        let mut findings = Vec::new();
        findings.extend(commit::interrupted_paths(root)?.iter().map(DoctorFinding::interrupted_commit));
        let aside = |aside: &_| DoctorFinding::commit_set_aside(aside, &root.shown(&aside.record));
        findings.extend(commit::commits_set_aside(root)?.iter().map(aside));
        let found = commit::names_in(&root.path().join(PLAIN_FOLDER));
        let is_old = root.state().is_in_git() && found.is_ok_and(|names| !names.is_empty());
        findings.extend(is_old.then(DoctorFinding::old_state));
        let unpublished = commit::unpublished_segments(root).map_err(Error::from)?;
        let segment = |name: &_| DoctorFinding::unpublished_segment(&tracked_file(name));
        findings.extend(unpublished.iter().map(segment));
        // The segments themselves: an index that lost rows would miss events.
        let verified = verify_segments(root)?;
        let is_index_renewed = history.ask(|history| history.renew_if_wrong(&verified))?;
        findings.extend(verified.problems.iter().map(DoctorFinding::journal_line));
        let replayed = history.replay_all()?;
        let spoilt = |(place, error): &(_, _)| DoctorFinding::checkpoint(place, error);
        findings.extend(replayed.checkpoints.iter().map(spoilt));
        let left = left_files(root)?;
        findings.extend(left.kept.iter().map(|path| DoctorFinding::kept_bytes(path)));
        let temporary = left.temporary.iter().filter(|path| commit::is_left_over(root, path));
        findings.extend(temporary.map(|path| DoctorFinding::temporary_file(path)));
        findings.extend(replayed.unreadable.iter().map(DoctorFinding::unreadable_artifact));
        findings.extend(replayed.problems.iter().map(DoctorFinding::unreadable_folder));
        let is_behind = |replayed: &&Replayed| matches!(replayed.state, HistoryState::Earlier { .. });
        let behind = replayed.artifacts.iter().filter(is_behind).map(|own| own.path.clone()).collect();
        findings.extend(replayed.artifacts.iter().flat_map(DoctorFinding::of));
        Ok(Diagnosis { findings, behind, is_index_renewed, ..Diagnosis::default() })
    }

    /// Finishes interrupted commits, cuts torn lines off the journal, and diagnoses the rest.
    pub fn repair(&self) -> Result<Diagnosis, Error> {
        let (root, options) = (self.workspace.root(), self.workspace.commit_options());
        let mut finished = commit::interrupted_paths(root)?;
        commit::finish_interrupted(root, options)?;
        let waiting = commit::interrupted_paths(root)?;
        finished.retain(|path| !waiting.contains(path));
        let torn =
            self.workspace.history().ask(History::problems)?.iter().any(|problem| !problem.is_damage());
        let cut = match torn {
            true => commit::cut_torn_lines(root, options.fsync).map_err(Error::from)?,
            false => Vec::new(),
        };
        let published = match commit::unpublished_segments(root).map_err(Error::from)?.is_empty() {
            true => Vec::new(),
            false => commit::finish_sealing(root, options.fsync).map_err(Error::from)?,
        };
        let mut removed = left_files(root)?.temporary;
        removed.retain(|path| commit::remove_left_over(root, path));
        let set_aside = commit::repair_commits_set_aside(root, options)?;
        finished.extend(self.finish_systems());

        let is_done = "fixed: the commit that was cut off is finished";
        let finished = finished.iter().map(|path| DoctorFix::new("interrupted-commit", path, is_done));
        let mut fixed: Vec<DoctorFix> = finished.collect();
        fixed.extend(cut.into_iter().map(|cut| {
            let (length, copy) = (cut.length, cut.copy);
            let message = format!("fixed: {length} bytes of a torn line are cut off and kept in `{copy}`");
            DoctorFix { kept: Some(copy), ..DoctorFix::new("journal-torn", cut.segment, &message) }
        }));
        let is_done = "fixed: the sealing that was cut off is finished";
        let published = published.iter().map(tracked_file);
        fixed.extend(published.map(|file| DoctorFix::new("segment-unpublished", file, is_done)));
        let is_done = "fixed: the temporary file of a process that was killed is removed";
        fixed.extend(removed.iter().map(|path| DoctorFix::new("temporary-file", path, is_done)));
        fixed.extend(set_aside.iter().map(fix_of));
        Ok(Diagnosis { fixed, ..self.diagnose()? })
    }

    /// Does what commands of systems do after their first commit. `check` finds what fails.
    fn finish_systems(&self) -> Vec<ProjectPath> {
        // The file of option C is written only by `save`.
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

fn fix_of(repair: &SetAsideRepair) -> DoctorFix {
    let paths = |aside: &CommitSetAside| match aside.files.as_slice() {
        [] => "a commit of nobody here".to_owned(),
        files => files.iter().map(ProjectPath::as_str).collect::<Vec<_>>().join(", "),
    };
    match repair {
        SetAsideRepair::Finished(aside) => {
            let is_done = "fixed: the commit that was set aside is finished";
            DoctorFix::new("commit-set-aside", paths(aside), is_done)
        }
        SetAsideRepair::Dropped(aside, reason) => {
            let record = aside.record.display().to_string();
            let message = format!("given up: {reason}; the bytes of the commit are kept in `{record}`");
            DoctorFix { kept: Some(record), ..DoctorFix::new("commit-set-aside", paths(aside), &message) }
        }
    }
}

/// The prefix of files that commits leave beside others (`commit`, "Guarantees").
const PREFIX: &str = ".stepmark-";

/// The prefix of those with other programs' bytes.
const KEPT: &str = ".stepmark-kept-";

const TEMPORARY: &str = ".tmp";

/// Folders of other tools, which have no artifacts.
const FOREIGN: [&str; 2] = [".git", "node_modules"];

struct Collector(Vec<String>);

impl Visitor for Collector {
    fn visit(&mut self, folder: &Folder, places: Range<usize>) {
        let names = places.map(|place| folder.name(place)).filter(|name| name.starts_with(PREFIX));
        self.0.extend(names.map(|name| folder.path_of(name)));
    }
}

#[derive(Debug, Default)]
struct LeftFiles {
    kept: Vec<String>,
    /// Left by a killed process, or just being written.
    temporary: Vec<String>,
}

fn left_files(root: &Root) -> Result<LeftFiles, Error> {
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

/// Something that is not as it should be in `.stepmark/`, or between an artifact and its history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct DoctorFinding {
    kind: &'static str,
    /// The file that it is about, seen from the root.
    pub path: String,
    pub message: String,
    pub help: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct DoctorFix {
    pub kind: &'static str,
    pub path: String,
    /// The place at which bytes are kept that had to go.
    pub kept: Option<String>,
    #[serde(skip)]
    pub message: String,
}

impl DoctorFix {
    fn new(kind: &'static str, path: impl ToString, message: &str) -> Self {
        Self { kind, path: path.to_string(), kept: None, message: message.to_owned() }
    }
}

impl DoctorFinding {
    fn new(
        kind: &'static str,
        path: impl ToString,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self { kind, path: path.to_string(), message: message.into(), help: help.into() }
    }

    pub const fn word(&self) -> &'static str {
        self.kind
    }

    fn interrupted_commit(path: &ProjectPath) -> Self {
        let message = "a commit of this file was cut off and is not finished";
        let help = "any command that writes finishes it, `stepmark doctor --repair` too";
        Self::new("interrupted-commit", path, message, help)
    }

    fn commit_set_aside(aside: &CommitSetAside, record: &str) -> Self {
        let files: Vec<String> = aside.files.iter().map(|file| format!("`{file}`")).collect();
        let message = if files.is_empty() {
            "a record of a commit that this version did not write: nothing of it was done".to_owned()
        } else {
            let files = files.join(", ");
            format!("a commit of {files} was cut off and could not be finished; its bytes are kept here")
        };
        let help = "`stepmark doctor --repair` finishes it if that is possible by now, else gives it up and keeps its bytes";
        Self::new("commit-set-aside", record, message, help)
    }

    /// Something is in the place of a clone's state in a project without git.
    fn old_state() -> Self {
        let message = "files stand here that are not read: the state of this clone is in git's folder";
        let help = "remove it; where it is your own history from before `git init`: `mv .stepmark/local/* .git/stepmark/`";
        Self::new("old-state", ".stepmark/local", message, help)
    }

    fn unpublished_segment(file: &str) -> Self {
        let message = "sealing this segment was cut off, so git does not get it; this clone has a whole copy";
        let help = "`stepmark doctor --repair`, or the next command that seals, writes it";
        Self::new("segment-unpublished", file, message, help)
    }

    fn journal_line(problem: &SegmentProblem) -> Self {
        let (kind, help) = match problem {
            problem if problem.is_gap() => (
                "journal-incomplete",
                "take the segment that holds it from git or from the clone where the work was done; without it, history begins later",
            ),
            problem if problem.is_damage() => {
                ("journal-damaged", "take the file back from git or a backup; the other events of it count")
            }
            _ => {
                ("journal-torn", "`stepmark doctor --repair` cuts the line off and keeps it beside the file")
            }
        };
        Self::new(kind, &problem.file, format!("line {}: {}", problem.line, problem.problem), help)
    }

    fn checkpoint(place: &ProjectPath, error: &Error) -> Self {
        let message = match std::error::Error::source(error) {
            Some(cause) => format!("the checkpoint cannot be trusted: {cause}"),
            None => error.to_string(),
        };
        Self::new("checkpoint", place, message, "take it back from git, or remove it")
    }

    fn kept_bytes(path: &str) -> Self {
        let message = "bytes that another program wrote in the middle of a commit were kept here";
        Self::new("kept-bytes", path, message, "compare it with the file beside it, and remove it")
    }

    fn temporary_file(path: &str) -> Self {
        let message = "a stepmark process that was killed left this file";
        Self::new("temporary-file", path, message, "`stepmark doctor --repair` removes it")
    }

    fn unreadable_folder(problem: &WalkProblem) -> Self {
        let help = "make it readable, or give it another name";
        Self::new("unreadable", &problem.path, problem.kind.to_string(), help)
    }

    fn unreadable_artifact(error: &Error) -> Self {
        let path = error.path().map(ToString::to_string).unwrap_or_default();
        Self::new("unreadable", path, error.to_string(), "`stepmark check` shows the place")
    }

    fn of(artifact: &Replayed) -> Vec<Self> {
        let path = &artifact.path;
        let help = "the event was forged or is damaged: take its segment back from git or a backup";
        let wrong = |error: &_| Self::new("history-damaged", path, format!("{error}"), help);
        let mut findings: Vec<Self> = artifact.damage.iter().map(wrong).collect();
        if let HistoryState::Unexplained { head } = artifact.state {
            let since = format!("by other means since event {head}");
            findings.push(match (&artifact.obstacle, artifact.earlier) {
                (Some(obstacle), _) if obstacle.is_missing() => Self::new(
                    "gone",
                    path,
                    format!("it was removed or moved {since}"),
                    "nothing is to be done if that was meant; `stepmark track` gives an id that survives moving",
                ),
                (Some(obstacle), _) if obstacle.detail::<StateUnreadable>().is_some() => Self::new(
                    "damaged",
                    path,
                    format!("it was changed {since}, and its state cannot be read"),
                    format!(
                        "`stepmark check {path}` shows the place, `stepmark resume {path}` leads on, `stepmark restore` puts a \
                         checkpoint back"
                    ),
                ),
                // An earlier state, which git has not checked out.
                (_, Some(earlier)) => Self::new(
                    "written-back",
                    path,
                    format!(
                        "it is in the state after event {earlier} again, without what was recorded up to event {head}; neither the \
                         checked out commit nor the index of git has it so: an editor may have written an older text over it"
                    ),
                    format!(
                        "`stepmark log at {head} {path}` shows the newer state, `stepmark log {path}` what led to it; the file wins: the next \
                         command that changes it records this as an edit"
                    ),
                ),
                _ => Self::new(
                    "unexplained",
                    path,
                    format!("it was changed {since}: history cannot explain its state"),
                    "the file wins: the next command that changes it records the edit; `stepmark checkpoint` does so now",
                ),
            });
        }
        findings
    }
}
