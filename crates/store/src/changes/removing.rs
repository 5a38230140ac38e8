//! Removing artifacts, undoing events, and setting keys of the configuration.

use std::{cell::Cell, collections::BTreeMap, rc::Rc};

use crate::{
    Error,
    changes::{ChangeReason, ChangeReport, RecordDecision},
    commit::{self, Expected, FileDecision, Halt, Outcome, named},
    disk::CONFIGURATION_PATH,
    repository::CheckedOut,
    workspace::Workspace,
};
use stepmark_frontmatter::{Edit, KeyPath, Region, Value, apply};
use stepmark_model::{
    artifact::{Artifact, FileHash, ProjectPath},
    delegation::Member,
    journal::{self, Event, EventDraft, EventId, Kind},
    tracked_artifact::TrackedArtifact,
    transition::{Remark, TransitionRefusal},
};

/// In a removal's event: git did not have the bytes.
pub(crate) const IN_GIT: &str = "in_git";

/// The hash of the bytes that git was asked about, and the answer.
type Answer = (FileHash, bool);

impl Workspace {
    /// History keeps the frontmatter, the actor and the reason; git keeps the bytes. `force` also removes
    /// bytes that git does not have, and artifacts with delegated work.
    pub fn remove(&self, path: &ProjectPath, reason: Option<String>, force: bool) -> Result<(), Error> {
        let draft = EventDraft::new(Kind::DELETE)
            .with_command(format!("remove {path}"))
            .insisting(force.then(|| reason.clone().unwrap_or_else(|| "removed by force".to_owned())))
            .with_reason(reason);
        let answer: Rc<Cell<Option<Answer>>> = Rc::default();
        let draft = |_: &ProjectPath| match answer.get() {
            Some((_, false)) => draft.clone().with(IN_GIT, false),
            _ => draft.clone(),
        };
        let outcomes = self.change_files_asking(std::slice::from_ref(path), draft, |found| {
            let [Some(bytes)] = *found else {
                return Err(Error::missing(path.clone()).into());
            };
            let hash = FileHash::of(bytes);
            let Some((_, is_in_git)) = answer.get().filter(|(asked, _)| *asked == hash) else {
                let (answer, root) = (Rc::clone(&answer), self.root().clone());
                let (path, bytes) = (path.clone(), bytes.to_vec());
                return Err(Halt::Ask(Box::new(move || {
                    answer.set(Some((hash, CheckedOut::of(&root).keeps(&path, &bytes))));
                })));
            };
            if !force && !is_in_git {
                return Err(not_in_git(path).into());
            }
            let children = if force { Vec::new() } else { self.children(path, bytes)? };
            if children.is_empty() {
                Ok(vec![FileDecision::Delete])
            } else {
                Err(Error::refused(format!(
                    "`{path}` is left as it is: work was delegated from it: {}",
                    named(&children)
                ))
                .help("remove them first, or remove it with `--force`: then they have no parent (SM504)")
                .into())
            }
        });
        outcomes.map_err(Error::unwritten)?;
        self.follow_records(path);
        Ok(())
    }

    /// The artifacts that would lose their parent. Reads all artifacts.
    fn children(&self, path: &ProjectPath, bytes: &[u8]) -> Result<Vec<ProjectPath>, Error> {
        let member = Member::of(&Artifact::read(path.clone(), bytes.to_vec()), None);
        let Some(id) = member.id() else { return Ok(Vec::new()) };
        let others: Vec<Member> = self.artifacts()?.artifacts.iter().map(TrackedArtifact::member).collect();
        let others = || others.iter().filter(|other| other.path != *path);
        if others().any(|other| other.id() == Some(id)) {
            return Ok(Vec::new());
        }
        Ok(others().filter(|other| other.parent_id() == Some(id)).map(|other| other.path.clone()).collect())
    }
}

impl Workspace {
    /// Reverts `event` as a new event; history is never rewritten. Events of one decision are reverted in one
    /// commit or not at all. Created files stay, with a remark.
    pub fn undo(&self, event: &Event, reason: ChangeReason) -> Result<ChangeReport, Error> {
        let refused = match self.take_back(event, reason).map_err(Error::unwritten) {
            Err(error) if error.detail::<TransitionRefusal>().is_some() => error,
            other => return other,
        };
        let Some(artifact) = &event.artifact else { return Err(refused) };
        let lineage = self.history().ask(|history| history.lineage(&artifact.key, &artifact.path));
        let lineage = lineage.map_err(Error::unwritten)?;
        let undone_by = |id: EventId| {
            let id = serde_json::Value::from(id.to_string());
            lineage.events().iter().rev().find(|other| other.data.get("undone") == Some(&id)).map(|by| by.id)
        };
        let by = undone_by(event.id).filter(|by| undone_by(*by).is_none());
        Err(by.map_or(refused, |by| {
            Error::refused(format!("event {} was taken back already, by event {by}", event.id))
                .help(format!("`stepmark undo {by}` brings it back"))
                .unwritten()
        }))
    }

    fn take_back(&self, event: &Event, reason: ChangeReason) -> Result<ChangeReport, Error> {
        let Some(artifact) = &event.artifact else {
            return Err(Error::usage(format!(
                "event {} is about no artifact: there is nothing to change",
                event.id
            )));
        };
        if event.kind == Kind::DELETE {
            return Err(removed(event, &artifact.path));
        }
        let draft = reason.on(EventDraft::new(Kind::UNDO).with_command(format!("undo {}", event.id)));
        let together = self.history().ask(|history| history.decided_with(event))?;
        let undone = |draft: &EventDraft, event: &Event| draft.clone().with("undone", event.id.to_string());
        if together.is_empty() {
            let draft = undone(&draft, event);
            return Ok(
                self.update_telling(&artifact.path, &draft, |now| journal::undo(now.artifact(), event))?
            );
        }
        let (others, made): (Vec<Event>, Vec<Event>) =
            together.into_iter().partition(|other| other.before.is_some());
        let mut events: BTreeMap<ProjectPath, Event> =
            BTreeMap::from([(artifact.path.clone(), event.clone())]);
        events.extend(others.into_iter().filter_map(|other| Some((other.artifact.clone()?.path, other))));
        let paths: Vec<ProjectPath> = events.keys().cloned().collect();
        let draft =
            |path: &ProjectPath| events.get(path).map_or_else(|| draft.clone(), |own| undone(&draft, own));
        let outcomes = self.change_records(
            &paths,
            |path| draft(path).in_one_decision(),
            |found| {
                let undo = |(now, event): (&Option<Artifact>, &Event)| match now {
                    Some(now) => journal::undo(now, event).map(|plan| RecordDecision::Edit(plan.edits)),
                    None => Err(TransitionRefusal::NoUndo {
                        event: event.id.to_string(),
                        reason: "the file is gone".to_owned(),
                    }),
                };
                found.iter().zip(events.values()).map(undo).collect()
            },
        )?;
        self.taken_back(&artifact.path, &paths, outcomes, &made)
    }

    fn taken_back(
        &self,
        path: &ProjectPath,
        paths: &[ProjectPath],
        outcomes: Vec<Outcome>,
        made: &[Event],
    ) -> Result<ChangeReport, Error> {
        let with = paths.iter().filter(|other| *other != path);
        let mut remarks: Vec<Remark> =
            with.map(|other| Remark::TakenBackToo { path: other.to_string() }).collect();
        let made = made.iter().filter_map(|event| event.artifact.as_ref());
        remarks.extend(made.map(|made| Remark::MadeStays { path: made.path.to_string() }));
        remarks.extend(paths.iter().find_map(|path| self.follow_records(path)));
        let outcome = paths.iter().zip(outcomes).find_map(|(own, outcome)| (own == path).then_some(outcome));
        let artifact = self.artifact(path)?;
        Ok(ChangeReport { artifact, remarks, outcome: outcome.unwrap_or(Outcome::Unchanged) })
    }
}

impl Workspace {
    pub fn configure(&self, key: KeyPath, value: Value) -> Result<Self, Error> {
        let path = ProjectPath::new(CONFIGURATION_PATH)?;
        let found = commit::read_whole(self.root(), &path)?;
        let edits = [Edit::Set { path: key, value }];
        let edited = apply(found.as_deref().unwrap_or_default(), &Region::WholeFile, &edits);
        let failed = |source| Error::refused(format!("cannot change `{CONFIGURATION_PATH}`")).because(source);
        let edited = edited.map_err(failed)?;
        let expected = Expected::of(found.as_deref());
        commit::replace_whole(self.root(), &path, expected, &edited.bytes, self.commit_options())?;
        let changed = Self::open_with(self.root().clone(), self.configuration().given())?;
        Ok(changed
            .with_attribution(self.attribution().clone())
            .with_clock(self.clock())
            .with_commit_options(*self.commit_options()))
    }
}

fn not_in_git(path: &ProjectPath) -> Error {
    Error::refused(format!(
        "`{path}` is left as it is: neither the commit that is checked out nor the index of git has these bytes"
    )).help("commit it first, or remove it with `--force`")
}

/// The reason why the removal by `event` cannot be undone.
fn removed(event: &Event, path: &ProjectPath) -> Error {
    let message = format!("event {} removed `{path}`, and history keeps its frontmatter only", event.id);
    let help = if event.data.get(IN_GIT) == Some(&false.into()) {
        "it was removed by force, and git did not have these bytes: they are gone".to_owned()
    } else {
        format!(
            "git brings the file back: `git restore {path}` as long as the index has it, else `git checkout COMMIT -- \
             {path}`, where COMMIT is one that has it; history goes on from there"
        )
    };
    Error::refused(message).help(help)
}
