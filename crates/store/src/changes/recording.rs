//! The events of a change, determined under the locks of its files.

use crate::{Error, changes::not_edited};
use crate::{
    changes::UpdateError,
    commit::{FileDecision, FileTransition, Halt, Outcome},
    history::History,
    repository::git::GitFacts,
    workspace::Workspace,
};
use serde_json::Value as Json;
use stepmark_frontmatter::{Document, Edit, Yaml, apply, diff};
use stepmark_model::journal::ReplayError;
use stepmark_model::{
    artifact::{Artifact, ProjectPath, state_region},
    check::rules::systems::record_edited_finding,
    journal::{
        Ancestor, ArtifactKey, ArtifactState, Digests, Event, EventBuilder, EventDraft, EventId,
        ExternalAuthor, Kind, PriorState, Spelling,
    },
    transition::TransitionRefusal,
};

impl Workspace {
    /// Checks the change that `draft` describes, returns its events, and removes the gates of steps that it
    /// takes away. `facts` are git's answers about `versions`. Call it under the change's locks.
    pub(crate) fn events_of(
        &self,
        change: FileTransition<'_>,
        versions: &Versions,
        draft: &EventDraft,
        facts: &GitFacts,
    ) -> Result<Vec<Event>, Halt<Error>> {
        let path = change.path;
        let artifacts = [versions.old.as_ref(), versions.new.as_ref()];
        let mut events = self.guard(path, artifacts, draft).map_err(Error::unwritten)?;
        let moment = |artifact: Option<&Artifact>| match artifact {
            Some(artifact) => ArtifactState::of_artifact(artifact),
            None => ArtifactState::of(path, None),
        };
        let [mut old, new] = artifacts.map(moment);
        if old.digests.is_none() {
            // A missing file has the history of the new one.
            old.key.clone_from(&new.key);
        }
        let ask_git = |asks_checkout| {
            let file = (old.digests, change.old.unwrap_or_default());
            Halt::Ask(facts.question(self.root(), path, file, asks_checkout))
        };
        let git = facts.of(self.root(), path, old.digests);
        let prior = match (change.last_event, &old.state) {
            (Some(event), Some(state)) => Some(PriorState::Known { event, state: Some(state.clone()) }),
            _ => self
                .history()
                .ask(|history| past(history, path, &old, git.is_checked_out))
                .map_err(Error::unwritten)?,
        };
        let prior = prior.ok_or_else(|| ask_git(true))?;
        let author = match &prior {
            PriorState::Unknown if old.digests.is_none() => ExternalAuthor::unknown(),
            PriorState::Known { .. } => ExternalAuthor::unknown(),
            PriorState::Unknown | PriorState::Unexplained { .. } => {
                git.author.ok_or_else(|| ask_git(false))?
            }
        };
        // A committed edit counts as accepted.
        let is_edited = old.digests.is_some()
            && matches!(&prior, PriorState::Unexplained { heads, .. } if heads.len() == 1)
            && author.commit.is_none();
        if is_edited
            && draft.is_move
            && draft.kind != Kind::IMPORT
            && versions.old.as_ref().is_some_and(|old| self.configuration().lifecycles().is_recorded(old))
        {
            let finding = record_edited_finding(path);
            let (reason, help) = (finding.message, finding.help.unwrap_or_default());
            let source = TransitionRefusal::Record { reason, help };
            return Err(Error::left(path, source).into());
        }
        let failed = |source| {
            let message =
                format!("`{path}` is left as it is: a gate that says a step is done would stay behind");
            Error::io(message, source).unwritten()
        };
        self.gates().close(path, versions.new.as_ref()).map_err(failed)?;
        let draft = draft.clone().keeping(versions.spelling.as_ref());
        let builder = EventBuilder { attribution: self.attribution(), now: self.now(), path };
        events.extend(builder.events(prior, (&old, &new), draft, author));
        Ok(events)
    }
}

/// Finds `old` in the artifact's history; `None` if git must be asked first. A state that only an earlier
/// event led to is trusted if git has it checked out; otherwise somebody wrote it back.
fn past(
    history: &History,
    path: &ProjectPath,
    old: &ArtifactState,
    is_checked_out: Option<bool>,
) -> Result<Option<PriorState>, Error> {
    let ArtifactState { key, digests, state } = old;
    let digests = *digests;
    let found = history.heads_and_ways(key, path)?;
    if found.is_empty() {
        return Ok(Some(PriorState::Unknown));
    }
    if found.len() > 1
        && let Some(now) = state
        && let Some(lost) = history.lost_in_merge(&history.lineage(key, path)?, now)?
    {
        // A merge took one side. Differences are computed from the last head.
        let state = recorded_state(history, lost)?;
        let (last, mut heads): (Vec<Event>, Vec<Event>) =
            found.into_iter().map(|(head, _)| head).partition(|head| head.id == lost);
        heads.extend(last);
        return Ok(Some(PriorState::Unexplained { state, heads, earlier: None }));
    }
    if let Some((event, true)) = found.iter().rev().find(|(head, _)| is_same_file(head.after, digests))
        && state.is_some()
    {
        // The file is exactly as recorded: no replay. A state's digest does not cover times.
        return Ok(Some(PriorState::Known { state: state.clone(), event: Ancestor::of(event) }));
    }
    let heads: Vec<Event> = found.into_iter().map(|(head, _)| head).collect();
    let is_head = |head: &&Event| Digests::are_same_state(head.after, digests);
    if let Some(head) = heads.iter().rev().find(is_head) {
        return known(history, head, old).map(Some);
    }
    let earlier = history.find_state(key, path, digests)?;
    if let Some(event) = &earlier {
        match is_checked_out {
            None => return Ok(None),
            Some(true) => return known(history, event, old).map(Some),
            Some(false) => {}
        }
    }
    let state = heads.last().map(|latest| recorded_state(history, latest.id)).transpose()?.flatten();
    Ok(Some(PriorState::Unexplained { state, heads, earlier: earlier.map(|event| event.id) }))
}

/// The past of an artifact whose state is that of `event`. The digest covers no times: where recorded times
/// differ, somebody edited them since.
fn known(history: &History, event: &Event, old: &ArtifactState) -> Result<PriorState, Error> {
    let recorded = recorded_state(history, event.id)?;
    Ok(match (recorded, &old.state) {
        (Some(recorded), Some(now)) if recorded != *now => {
            PriorState::Unexplained { heads: vec![event.clone()], state: Some(recorded), earlier: None }
        }
        (state, _) => PriorState::Known { state, event: Ancestor::of(event) },
    })
}

fn is_same_file(recorded: Option<Digests>, now: Option<Digests>) -> bool {
    recorded.zip(now).is_some_and(|(recorded, now)| recorded.file == now.file)
}

/// `None` if the chain of events is broken or unreadable.
fn recorded_state(history: &History, event: EventId) -> Result<Option<Json>, Error> {
    match history.state_after(event) {
        Ok(state) => Ok(Some(state)),
        Err(error) if error.detail::<ReplayError>().is_some() => Ok(None),
        Err(error) => Err(error),
    }
}

pub(crate) const RECORDS_A_COMMIT: usize = 64;

#[derive(Clone, Debug, PartialEq)]
pub enum RecordDecision {
    /// Unchanged, but locked, so that decisions on the others may depend on it.
    Keep,
    Edit(Vec<Edit>),
    Write(Vec<u8>),
    Remove,
}

impl Workspace {
    /// Changes records as one: all or none, whenever the process dies. `decide` gets each (`None`: no such
    /// file), must depend on them alone, and may be called again. Each is checked like a single artifact:
    /// lease, lifecycle, open children, events; `draft` describes the events.
    pub(crate) fn change_records<E: 'static>(
        &self,
        paths: &[ProjectPath],
        draft: impl Fn(&ProjectPath) -> EventDraft,
        mut decide: impl FnMut(&[Option<Artifact>]) -> Result<Vec<RecordDecision>, E>,
    ) -> Result<Vec<Outcome>, UpdateError<E>> {
        let refused = |source| UpdateError::Refused { path: paths[0].clone(), source };
        self.change_files_asking(paths, draft, |found| {
            let read = |(path, bytes): (&ProjectPath, &Option<&[u8]>)| {
                bytes.map(|bytes| Artifact::read(path.clone(), bytes.to_vec()))
            };
            let records: Vec<Option<Artifact>> = paths.iter().zip(found).map(read).collect();
            let decisions = decide(&records).map_err(|source| Halt::Refused(refused(source)))?;
            let edit = |((path, bytes), decision): ((&ProjectPath, &Option<&[u8]>), RecordDecision)| {
                match decision {
                    RecordDecision::Keep => Ok(FileDecision::Keep),
                    RecordDecision::Write(bytes) => Ok(FileDecision::Write(bytes)),
                    RecordDecision::Remove => Ok(FileDecision::Delete),
                    RecordDecision::Edit(edits) => edited(path, bytes.unwrap_or_default(), &edits),
                }
            };
            for ((path, found), decision) in paths.iter().zip(found).zip(&decisions) {
                if let (None, RecordDecision::Write(bytes)) = (found, decision) {
                    self.refuse_taken_id(path, bytes).map_err(|error| Halt::Refused(error.into()))?;
                }
            }
            let decided = paths.iter().zip(found).zip(decisions).map(edit);
            decided.collect::<Result<_, Error>>().map_err(|error| Halt::Refused(error.into()))
        })
    }
}

impl Workspace {
    /// Refuses a new record with the id of another artifact: they would share a history.
    fn refuse_taken_id(&self, path: &ProjectPath, bytes: &[u8]) -> Result<(), Error> {
        let key_of =
            |path: &ProjectPath, bytes: Vec<u8>| ArtifactKey::of(&Artifact::read(path.clone(), bytes));
        let key = key_of(path, bytes.to_vec());
        let others = self.history().ask(|history| history.places(&key))?;
        let mut others = others.into_iter().filter(|other| other != path);
        let is_there = |other: &ProjectPath| {
            !key.is_path() && self.read_file(other).is_ok_and(|bytes| key_of(other, bytes) == key)
        };
        match others.find(is_there) {
            Some(other) => Err(Error::refused(format!(
                "cannot make `{path}`: `{other}` has its id already, and one id has one history ({key})"
            ))
            .help("give it another id, with --id")),
            None => Ok(()),
        }
    }
}

fn edited(path: &ProjectPath, bytes: &[u8], edits: &[Edit]) -> Result<FileDecision, Error> {
    match apply(bytes, &state_region(path), edits) {
        Ok(edited) => Ok(FileDecision::Write(edited.bytes)),
        Err(source) => Err(not_edited(path, bytes, source)),
    }
}

#[derive(Debug)]
pub(crate) struct Versions {
    pub(crate) old: Option<Artifact>,
    pub(crate) new: Option<Artifact>,
    pub(crate) spelling: Option<Spelling>,
}

impl Versions {
    pub(crate) fn read(path: &ProjectPath, [old, new]: [Option<&[u8]>; 2]) -> Self {
        let tree = old.and_then(|old| state_of(path, old));
        let read = |bytes, tree| Artifact::read_with_value(path.clone(), bytes, tree);
        let (old, new) = (old.map(|old| read(old, tree.as_ref())), new.map(|new| read(new, None)));
        Self::of(old, tree.as_ref(), new)
    }

    /// `tree` is the frontmatter of `old`.
    pub(crate) fn of(old: Option<Artifact>, tree: Option<&Yaml<'_>>, new: Option<Artifact>) -> Self {
        // Without a comparable state only the texts can revert the change.
        let changes = |old: &Artifact, new: &Artifact| {
            old.state_value().ok().zip(new.state_value().ok()).map(|(old, new)| diff(&old, &new))
        };
        let spelling = old.as_ref().zip(new.as_ref()).and_then(|(old, new)| {
            let changes = changes(old, new).unwrap_or_default();
            Spelling::of(&old.region(), (old.bytes(), tree), new.bytes(), &changes)
        });
        Self { old, new, spelling }
    }
}

pub(crate) fn state_of<'b>(path: &ProjectPath, bytes: &'b [u8]) -> Option<Yaml<'b>> {
    Yaml::parse(bytes, state_region(path).find(&Document::scan(bytes)).ok()?).ok()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests write files directly")]
mod tests {
    use super::*;
    use crate::{changes::ChangeReason, commit::CommitOptions};
    use stepmark_frontmatter::{PARSED, Value};
    use stepmark_model::transition::{Command, Strictness};

    /// Reading is most of the work on a large file: the bytes found are parsed once as the artifact and once
    /// for the edits, those to be written once, for their proof.
    #[test]
    fn a_change_parses_its_artifact_three_times() {
        let folder = tempfile::tempdir().unwrap();
        let text = "---\r\nstatus: draft\r\nk: 1\r\nlastStep: z # last\r\n---\r\n";
        std::fs::write(folder.path().join("a.md"), text).unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let path = ProjectPath::new("a.md").unwrap();
        for command in [
            Command::Set { assignments: vec![("k".parse().unwrap(), Value::from("x"))] },
            Command::Complete { steps: vec!["a".to_owned()] },
            Command::Complete { steps: vec!["b".to_owned()] },
        ] {
            let before = PARSED.get();
            workspace.execute(&path, &command, Strictness::Warn, ChangeReason::Unsaid).unwrap();
            assert_eq!(PARSED.get() - before, 3, "{command}");
        }
    }

    fn git(folder: &std::path::Path, arguments: &[&str]) {
        let identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
        let mut command = std::process::Command::new("git");
        assert!(command.current_dir(folder).args(identity).args(arguments).status().unwrap().success());
    }

    /// Attempts are counted for what other programs write, not for what git is asked.
    #[test]
    fn one_attempt_is_enough_for_whoever_asks_git() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("a.md");
        git(folder.path(), &["init", "-q"]);
        std::fs::write(&place, "---\nstatus: draft\n---\n").unwrap();
        git(folder.path(), &["add", "a.md"]);
        git(folder.path(), &["commit", "-qm", "one"]);
        let options = CommitOptions { attempts: std::num::NonZeroU32::MIN, ..CommitOptions::default() };
        let workspace = Workspace::open(folder.path()).unwrap().with_commit_options(options);
        // Git is asked whether it has the bytes, and, since history does not know the file, whose they are.
        workspace.remove(&ProjectPath::new("a.md").unwrap(), None, false).unwrap();
        assert!(!place.exists());
    }

    /// Git is asked for who made a change by other means, for what is checked out, and for what would be
    /// lost; whoever starts it with a lock in hand is stopped by an assertion.
    #[test]
    fn git_is_started_without_locks() {
        let folder = tempfile::tempdir().unwrap();
        let git = |arguments: &[&str]| git(folder.path(), arguments);
        let place = folder.path().join("a.md");
        let write = |k: &str| std::fs::write(&place, format!("---\nstatus: draft\nk: {k}\n---\n")).unwrap();
        git(&["init", "-q"]);
        write("1");
        git(&["add", "a.md"]);
        git(&["commit", "-qm", "one"]);
        let workspace = Workspace::open(folder.path()).unwrap();
        let path = ProjectPath::new("a.md").unwrap();
        let set = |k: &str| {
            let command = Command::Set { assignments: vec![("k".parse().unwrap(), Value::from(k))] };
            workspace.execute(&path, &command, Strictness::Warn, ChangeReason::Unsaid).unwrap();
        };
        let kinds = || {
            let key = stepmark_model::journal::ArtifactKey::of_path(&path);
            let lineage = workspace.history().ask(|history| history.lineage(&key, &path)).unwrap();
            lineage.events().iter().map(|event| event.kind.as_str().to_owned()).collect::<Vec<_>>()
        };
        set("2");
        assert_eq!(kinds(), ["first-seen", "change"]);
        write("1");
        set("3");
        assert_eq!(kinds().len(), 3, "the checked out state is explained");
        set("4");
        write("3");
        set("5");
        assert_eq!(kinds()[4..], ["external-edit", "change"], "{:?}", kinds());
        let refused = workspace.remove(&path, None, false).unwrap_err();
        assert!(refused.to_string().contains("nor the index of git"), "{refused}");
        git(&["add", "a.md"]);
        workspace.remove(&path, None, false).unwrap();
        assert!(!place.exists());
    }
}
