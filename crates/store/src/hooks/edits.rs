//! Edits of other programs in artifacts that are about to be committed: history gets to know them.

use crate::bmad::sprint::{ImportDecision, StoryImport};
use crate::changes::{ChangeError, records::Versions};
use crate::commit::{FileDecision, FileTransition, Halt, Transaction, read_whole};
use crate::git::{
    Comparison, GitVersion, process::answer, process::git, process::is_repository, process::printed,
};
use crate::hooks::StageHistoryError;
use crate::repository::{ChangedArtifact, git::GitFacts};
use crate::workspace::ProjectHistory;
use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    bmad::sprint::{SprintStatus, StorySide, StorySides},
    check::Severity,
    journal::{ArtifactState, Event, EventDraft, Kind},
};

/// The code of the rule that asks for history in the commit, where it is put afterwards.
const HISTORY_MISSING: &str = "SM908";

impl ProjectHistory<'_> {
    /// Brings the frontmatter of staged stories to what their line and their ledger agree on, and stages
    /// them: where the configuration wants it, the lifecycle leads there, and the work tree has what is
    /// staged.
    pub fn take_in_agreed(&self) -> Result<Vec<StorySides>, StageHistoryError> {
        let (workspace, root) = (self.workspace, self.workspace.root());
        if !workspace.configuration().stories.take_in_agreed || !is_repository(root) {
            return Ok(Vec::new());
        }
        // `git commit FILE` has an index of its own: the one of the next commit would keep the old content.
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
            files.extend(
                read_whole(root, path).map_err(ChangeError::from)?.map(|bytes| (path.clone(), bytes)),
            );
        }
        self.put_into_index(&files)?;
        agreed.retain(|sides| written.contains(&sides.path));
        failed.pop().map_or(Ok(agreed), |error| Err(error.into()))
    }

    /// Records the edits of other programs in the artifacts of the index that the check lets pass, and that
    /// the work tree shows as they are staged. Where several are refused or in use, the others are recorded.
    pub fn record_edits(&self) -> Result<(), StageHistoryError> {
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
        for artifact in &changed {
            let ChangedArtifact::Present { now, .. } = artifact else { continue };
            if !is_stopped(now.path()) {
                match self.record_edit(now.path(), Some(now.artifact().file_hash()), None) {
                    Ok(_)
                    | Err(StageHistoryError::Edits(ChangeError::Refused { .. } | ChangeError::Lease(_))) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }

    pub fn accept_edit(&self, path: &ProjectPath, reason: &str) -> Result<bool, StageHistoryError> {
        self.record_edit(path, None, Some(reason))
    }

    fn record_edit(
        &self,
        path: &ProjectPath,
        staged: Option<FileHash>,
        reason: Option<&str>,
    ) -> Result<bool, StageHistoryError> {
        let paths = [path.clone()];
        let (facts, actor) = (GitFacts::default(), &self.workspace.attribution().actor);
        let root = self.workspace.root().path();
        let ask = || answer(&mut git(root, &["cat-file", "blob", &format!("HEAD:./{path}")])).ok();
        let committed = reason.and_then(|_| ask()).filter(|(status, _)| status.success());
        let events = |old: Option<&[u8]>| -> Result<Vec<Event>, Halt<ChangeError>> {
            if old.is_none_or(|bytes| staged.is_some_and(|staged| FileHash::of(bytes) != staged)) {
                return Ok(Vec::new());
            }
            let unchanged = FileTransition { path, old, new: old, last_event: None };
            facts.tell(path, ArtifactState::of(path, old).digests, actor);
            let versions = Versions::read(path, [old, old]);
            let draft = EventDraft::new(Kind::IMPORT);
            let mut events = self.workspace.events_of(unchanged, &versions, &draft, &facts)?;
            // The last one is that of the draft: nothing else happens.
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
            Ok::<_, Halt<ChangeError>>((vec![FileDecision::Keep], ()))
        };
        transaction.run(decide, |(), _| Ok(Vec::new()))?;
        if !found_out.is_empty() {
            self.append(&found_out)?;
        }
        Ok(!found_out.is_empty())
    }
}
