//! History of staged changes: sealed into segments for the next commit.

use crate::{Error, ErrorKind, git::failed_as};
use std::{collections::BTreeSet, io, path::Path};
use stepmark_model::transition::TransitionRefusal;

use crate::{
    bmad::sprint::{ImportDecision, StoryImport},
    changes::recording::Versions,
    commit::{self, FileDecision, FileTransition, Halt, Transaction, read_whole},
    disk::own_file,
    git::{
        Comparison, GitVersion,
        index::{self, IndexEntry},
        process::{answer, git, is_repository, printed},
    },
    history::{SEALED_FOLDER, SegmentPlace},
    repository::{ChangedArtifact, git::GitFacts},
    workspace::ProjectHistory,
};
use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    bmad::sprint::{SprintStatus, StorySide, StorySides},
    check::Severity,
    journal::{ArtifactKey, ArtifactState, Digests, Event, EventDraft, Kind, SegmentName},
    tracked_artifact::TrackedArtifact,
};

/// In bytes: git is slow with larger files.
const LIMIT: u64 = 1 << 30;

#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct StagedHistory {
    pub sealed: Vec<SegmentName>,
    /// The files of segments that were put into the index.
    pub staged: Vec<ProjectPath>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StagingFor {
    NextCommit,
    /// The running hook's commit. It may be refused, so the work tree gets no file of another branch.
    ThisCommit,
}

impl ProjectHistory<'_> {
    pub fn seal_all(&self) -> Result<Vec<SegmentName>, Error> {
        let live = self.ask(|history| history.live_segments(None))?;
        self.seal_live(commit::LiveSegments::Named(&live))
    }

    /// Adds the history of staged files to the next commit: seals the live segments with their events, and
    /// stages sealed segments that git lacks, except ignored ones.
    ///
    /// If nothing is staged, [`StagingFor::NextCommit`] takes all live segments and what no remote has, as
    /// before a refused push; [`StagingFor::ThisCommit`] takes the last commit's changes, which may be about
    /// to be amended.
    pub fn stage(&self, staging: StagingFor) -> Result<StagedHistory, Error> {
        let mut changed = self.changed_files(&["diff", "--cached"], &[])?;
        let is_all = changed.is_empty() && staging == StagingFor::NextCommit;
        if changed.is_empty() {
            // Both are missing before the first commit.
            changed = match staging {
                StagingFor::NextCommit => {
                    self.changed_files(&["log", "--format="], &["HEAD", "--not", "--remotes"])
                }
                StagingFor::ThisCommit => self.changed_files(&["diff", "--cached"], &["HEAD~"]),
            }
            .unwrap_or_default();
        }
        let wanted = (!is_all).then_some(&changed);
        let live = self.ask(|history| history.live_segments(wanted))?;
        let sealed =
            if live.is_empty() { Vec::new() } else { self.seal_live(commit::LiveSegments::Named(&live))? };
        let elsewhere = self.segments_elsewhere(&changed)?;
        let mut staged = Vec::new();
        match staging {
            StagingFor::NextCommit if !elsewhere.is_empty() => {
                let fsync = self.workspace.commit_options().fsync;
                commit::publish_copies(self.workspace.root(), &elsewhere, fsync).map_err(Error::from)?;
            }
            StagingFor::NextCommit => {}
            StagingFor::ThisCommit => staged = self.stage_copies(&elsewhere)?,
        }
        if !is_all && changed.is_empty() {
            return Ok(StagedHistory { sealed, staged });
        }
        let unknown =
            self.paths_of(&["ls-files", "--others", "--exclude-standard", "-z", "--", SEALED_FOLDER])?;
        staged.extend(self.add_to_index(unknown)?);
        Ok(StagedHistory { sealed, staged })
    }

    /// Without files of history.
    pub(super) fn changed_files(
        &self,
        command: &[&str],
        sides: &[&str],
    ) -> Result<BTreeSet<ProjectPath>, Error> {
        const NAMES: [&str; 5] = ["--name-only", "-z", "--no-renames", "--no-ext-diff", "--relative"];
        let is_own = |path: &ProjectPath| {
            path.as_str().strip_prefix(SEALED_FOLDER).is_some_and(|rest| rest.starts_with('/'))
        };
        let changed = self.paths_of(&[command, &NAMES, sides].concat())?;
        Ok(changed.into_iter().filter(|path| !is_own(path)).collect())
    }

    /// Segments of another work tree with events that led to the current files at `changed`: its hook sealed
    /// the history of both.
    fn segments_elsewhere(&self, changed: &BTreeSet<ProjectPath>) -> Result<BTreeSet<SegmentName>, Error> {
        let segments = self.ask(|history| history.segments())?.into_iter();
        let copies = segments.filter(|segment| segment.place == SegmentPlace::Copy);
        let elsewhere: BTreeSet<SegmentName> = copies.map(|segment| segment.name).collect();
        let mut wanted = BTreeSet::new();
        if elsewhere.is_empty() {
            return Ok(wanted);
        }
        for path in changed {
            let artifact = self.workspace.artifact(path).ok();
            let artifact = artifact.as_ref().map(TrackedArtifact::artifact);
            let key = artifact.map_or_else(|| ArtifactKey::of_path(path), ArtifactKey::of);
            let file = artifact.map(Digests::of);
            let lineage = self.ask(|history| history.lineage(&key, path))?;
            let mut left: Vec<&Event> =
                lineage.events().iter().filter(|event| Digests::are_same_state(event.after, file)).collect();
            let mut seen = BTreeSet::new();
            while let Some(event) = left.pop() {
                if seen.insert(event.id) {
                    left.extend(event.parents.iter().filter_map(|parent| lineage.get(*parent)));
                    wanted.extend(self.ask(|history| history.segments_of(event.id))?);
                }
            }
        }
        wanted.retain(|name| elsewhere.contains(name));
        Ok(wanted)
    }

    /// Stages copies in the index, not in the work tree, which gets them after the commit.
    fn stage_copies(&self, names: &BTreeSet<SegmentName>) -> Result<Vec<ProjectPath>, Error> {
        let paths = names.iter().filter_map(|name| Some((name, sealed_path(name)?)));
        let mut copies: Vec<(&SegmentName, ProjectPath)> = paths.collect();
        if copies.is_empty() {
            return Ok(Vec::new());
        }
        let asked: Vec<&str> = copies.iter().map(|(_, path)| path.as_str()).collect();
        let arguments = [&["check-ignore", "-z", "--"], &asked[..]].concat();
        // Exit status 1 if none is ignored.
        let ignored = printed(self.workspace.root(), &arguments).unwrap_or_default();
        copies.retain(|(_, path)| !ignored.split('\0').any(|ignored| ignored == path.as_str()));
        let mut files = Vec::with_capacity(copies.len());
        for (name, path) in copies {
            let read = commit::read_copy(self.workspace.root(), name, LIMIT);
            let bytes = read.map_err(|source| not_staged(&path, source))?;
            files.push((path, bytes));
        }
        self.put_into_index(&files)?;
        Ok(files.into_iter().map(|(path, _)| path).collect())
    }

    /// After a commit: writes the files of segments that the hook only staged, and stages those of HEAD that
    /// `git commit FILE` left out.
    pub fn restage(&self) -> Result<Vec<ProjectPath>, Error> {
        const ADDED: [&str; 8] =
            ["diff-tree", "-r", "-m", "--root", "--no-commit-id", "--name-only", "-z", "--diff-filter=A"];
        let added = self.paths_of(&[&ADDED[..], &["--relative", "HEAD", "--", SEALED_FOLDER]].concat())?;
        let added: BTreeSet<SegmentName> = added.iter().filter_map(segment_at).collect();
        let segments = self.ask(|history| history.segments())?.into_iter();
        let copies = segments.filter(|segment| segment.place == SegmentPlace::Copy);
        let missing: BTreeSet<SegmentName> =
            copies.map(|segment| segment.name).filter(|name| added.contains(name)).collect();
        if !missing.is_empty() {
            let fsync = self.workspace.commit_options().fsync;
            commit::publish_copies(self.workspace.root(), &missing, fsync).map_err(Error::from)?;
        }
        let committed: BTreeSet<ProjectPath> = self
            .paths_of(&["ls-tree", "-r", "--name-only", "-z", "HEAD", "--", SEALED_FOLDER])?
            .into_iter()
            .collect();
        let unknown = self.paths_of(&["ls-files", "--others", "-z", "--", SEALED_FOLDER])?;
        self.add_to_index(unknown.into_iter().filter(|path| committed.contains(path)).collect())
    }

    fn add_to_index(&self, files: Vec<ProjectPath>) -> Result<Vec<ProjectPath>, Error> {
        let is_segment = |path: &ProjectPath| path.extension() == Some("jsonl");
        let files: Vec<ProjectPath> = files.into_iter().filter(is_segment).collect();
        let mut found = Vec::with_capacity(files.len());
        for path in &files {
            let bytes = own_file::read(self.workspace.root().path(), Path::new(path.as_str()), LIMIT)
                .map_err(|source| not_staged(path, source))?;
            found.push((path.clone(), bytes));
        }
        self.put_into_index(&found)?;
        Ok(files)
    }

    pub(super) fn put_into_index(&self, files: &[(ProjectPath, Vec<u8>)]) -> Result<(), Error> {
        let prefix = printed(self.workspace.root(), &["rev-parse", "--show-prefix"]).unwrap_or_default();
        let prefix = prefix.trim_end_matches('\n');
        let entry = |(path, bytes): &(ProjectPath, Vec<u8>)| {
            IndexEntry::of_new(self.workspace.root(), prefix, path, bytes)
        };
        let entries = files.iter().map(entry).collect::<Result<Vec<_>, _>>()?;
        if entries.is_empty() { Ok(()) } else { index::write(self.workspace.root(), &entries) }
    }

    /// NUL-terminated in git's output; empty outside a repository.
    fn paths_of(&self, arguments: &[&str]) -> Result<Vec<ProjectPath>, Error> {
        if !is_repository(self.workspace.root()) {
            return Ok(Vec::new());
        }
        let Some(printed) = printed(self.workspace.root(), arguments) else {
            let reason = "it ended with an error".to_owned();
            return Err(failed_as(arguments, &reason));
        };
        Ok(printed.split('\0').filter_map(|path| ProjectPath::new(path).ok()).collect())
    }
}

fn sealed_path(name: &SegmentName) -> Option<ProjectPath> {
    ProjectPath::new(format!("{SEALED_FOLDER}/{name}.jsonl")).ok()
}

fn segment_at(path: &ProjectPath) -> Option<SegmentName> {
    let name = path.as_str().strip_prefix(SEALED_FOLDER)?.strip_prefix('/')?.strip_suffix(".jsonl")?;
    SegmentName::new(name)
}

/// The rule that demands history in the commit, which is added afterwards.
const HISTORY_MISSING: &str = "SM908";

impl ProjectHistory<'_> {
    /// Updates staged stories whose line and sprint status agree, and stages them: if configured, allowed by
    /// the lifecycle, and unchanged in the work tree.
    pub fn take_in_agreed(&self) -> Result<Vec<StorySides>, Error> {
        let (workspace, root) = (self.workspace, self.workspace.root());
        if !workspace.configuration().stories.take_in_agreed || !is_repository(root) {
            return Ok(Vec::new());
        }
        // `git commit FILE` has an index of its own: the next commit's would keep the old content.
        let index = printed(root, &["rev-parse", "--git-path", "index"]).unwrap_or_default();
        let is_unstaged = self.changed_files(&["diff"], &[])?.iter().any(SprintStatus::is_at);
        if is_unstaged || index.contains("next-index-") {
            return Ok(Vec::new());
        }
        let changed =
            workspace.repository().changed_artifacts(&GitVersion::open(root, &Comparison::Index)?)?;
        let is_as_staged = |artifact: &ChangedArtifact| {
            let ChangedArtifact::Present { now, .. } = artifact else { return None };
            let hash = workspace.artifact(now.path()).ok()?.artifact().file_hash();
            (hash == now.artifact().file_hash()).then(|| now.path().clone())
        };
        let staged: Vec<ProjectPath> = changed.artifacts.iter().filter_map(is_as_staged).collect();
        if staged.is_empty() {
            return Ok(Vec::new());
        }
        let mut agreed = workspace.ledgers().survey(&staged)?.stories;
        agreed.retain(StorySides::is_agreed);
        let decision =
            |sides: &StorySides| ImportDecision { sides: sides.clone(), winner: StorySide::StatusLine };
        let decisions: Vec<ImportDecision> = agreed.iter().map(decision).collect();
        let StoryImport { written, mut failed, .. } = workspace.ledgers().import(&decisions, "hook");
        let mut files = Vec::with_capacity(written.len());
        for path in &written {
            files.extend(read_whole(root, path)?.map(|bytes| (path.clone(), bytes)));
        }
        self.put_into_index(&files)?;
        agreed.retain(|sides| written.contains(&sides.path));
        failed.pop().map_or(Ok(agreed), Err)
    }

    /// Records staged edits of other programs that pass the check and are unchanged in the work tree. Skips
    /// artifacts that are refused or in use.
    pub fn record_edits(&self) -> Result<(), Error> {
        if !is_repository(self.workspace.root()) {
            return Ok(());
        }
        let version = GitVersion::open(self.workspace.root(), &Comparison::Index)?;
        let changed = self.workspace.repository().changed_artifacts(&version)?.artifacts;
        let found = self.workspace.checks().check_changes(&changed, &version)?;
        let is_stopped = |path: &ProjectPath| {
            let mut own = found.findings().filter(|finding| finding.path == *path);
            own.any(|finding| finding.severity != Severity::Note && finding.rule.id != HISTORY_MISSING)
        };
        let is_passing =
            |error: &Error| error.kind() == ErrorKind::Held || error.detail::<TransitionRefusal>().is_some();
        let mut failed = None;
        for artifact in &changed {
            let ChangedArtifact::Present { now, .. } = artifact else { continue };
            if !is_stopped(now.path()) {
                // One that fails stops no other.
                let recorded = self.record_edit(now.path(), Some(now.artifact().file_hash()), None);
                failed = failed.or(recorded.err().filter(|error| !is_passing(error)));
            }
        }
        failed.map_or(Ok(()), Err)
    }

    pub fn accept_edit(&self, path: &ProjectPath, reason: &str) -> Result<bool, Error> {
        self.record_edit(path, None, Some(reason))
    }

    fn record_edit(
        &self,
        path: &ProjectPath,
        staged: Option<FileHash>,
        reason: Option<&str>,
    ) -> Result<bool, Error> {
        let paths = [path.clone()];
        let (facts, actor) = (GitFacts::default(), &self.workspace.attribution().actor);
        let root = self.workspace.root().path();
        let ask = || answer(&mut git(root, &["cat-file", "blob", &format!("HEAD:./{path}")])).ok();
        let committed = reason.and_then(|_| ask()).filter(|(status, _)| status.success());
        let events = |old: Option<&[u8]>| -> Result<Vec<Event>, Halt<Error>> {
            if old.is_none_or(|bytes| staged.is_some_and(|staged| FileHash::of(bytes) != staged)) {
                return Ok(Vec::new());
            }
            let unchanged = FileTransition { path, old, new: old, last_event: None };
            facts.tell(path, ArtifactState::of(path, old).digests, actor);
            let versions = Versions::read(path, [old, old]);
            let draft = EventDraft::new(Kind::IMPORT);
            let mut events = self.workspace.events_of(unchanged, &versions, &draft, &facts)?;
            // The last is the draft's: nothing else happens.
            events.pop();
            let is_first = matches!(&events[..], [first] if first.kind == Kind::FIRST_SEEN);
            if let (true, Some(reason), Some((_, before))) = (is_first, reason, &committed) {
                let versions = Versions::read(path, [Some(before.as_slice()), old]);
                facts.tell(path, ArtifactState::of(path, Some(before)).digests, actor);
                let change = FileTransition { path, old: Some(before), new: old, last_event: None };
                let draft = EventDraft::new(Kind::OVERRIDE).with_reason(Some(reason.to_owned()));
                let draft = draft.insisting(Some(reason.to_owned()));
                return self.workspace.events_of(change, &versions, &draft, &facts);
            }
            if let Some((edit, reason)) = events.last_mut().zip(reason) {
                (edit.kind, edit.actor) = (Kind::OVERRIDE, actor.clone());
                edit.reason = Some(reason.to_owned());
                *edit = edit.clone().sealed();
            }
            Ok(events)
        };
        let transaction = Transaction::new(self.workspace.root(), &paths, self.workspace.commit_options());
        let mut found_out = Vec::new();
        let decide = |found: &[Option<&[u8]>]| {
            found_out = events(found.first().copied().flatten())?;
            Ok::<_, Halt<Error>>((vec![FileDecision::Keep], ()))
        };
        transaction.run(decide, |(), _| Ok(Vec::new()))?;
        if !found_out.is_empty() {
            self.append(&found_out)?;
        }
        Ok(!found_out.is_empty())
    }
}

fn not_staged(path: &ProjectPath, source: io::Error) -> Error {
    Error::io(format!("cannot stage the history in `{path}`"), source)
}
