//! What the journal of this clone says of a change.

use std::cell::{OnceCell, RefCell};

use serde_json::Value as Json;

use crate::git::GitVersion;
use crate::history::{HistoryError, SEALED_FOLDER, packed_segments};
use crate::workspace::Workspace;
use stepmark_frontmatter::{Change, Operation, Segment};
use stepmark_model::tracked_artifact::TrackedArtifact;
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    check::{AcceptedLosses, Loss},
    journal::{ArtifactKey, Event, EventId, Kind, Lineage, SegmentName},
    workflow::StepId,
};

/// What history knows of one artifact. It is read when a rule first asks, since most changes lose nothing.
pub(crate) struct JournalAccount<'w> {
    workspace: &'w Workspace,
    /// The artifact before and now: it may have been moved, or be called something else.
    versions: [&'w Artifact; 2],
    lineages: OnceCell<Vec<Lineage>>,
    failure: RefCell<Option<HistoryError>>,
    /// The newer state, where it is git's: who gets it has only what it holds.
    version: Option<&'w GitVersion>,
    /// The events that accepted something.
    accepted: RefCell<Vec<EventId>>,
}

impl<'w> JournalAccount<'w> {
    pub(crate) fn new(
        workspace: &'w Workspace,
        before: &'w Artifact,
        now: &'w Artifact,
        version: Option<&'w GitVersion>,
    ) -> Self {
        let (lineages, failure, accepted) = (OnceCell::new(), RefCell::new(None), RefCell::new(Vec::new()));
        Self { workspace, versions: [before, now], lineages, failure, version, accepted }
    }

    /// Why history could not be asked, if it was asked and could not.
    pub(crate) fn failure(self) -> Result<(), HistoryError> {
        self.failure.into_inner().map_or(Ok(()), Err)
    }

    fn lineages(&self) -> &[Lineage] {
        self.lineages.get_or_init(|| {
            let mut names: Vec<_> =
                self.versions.iter().map(|artifact| (ArtifactKey::of(artifact), artifact.path())).collect();
            names.dedup();
            let lineages = names
                .iter()
                .map(|(key, path)| self.workspace.with_history(|history| history.lineage(key, path)));
            lineages.collect::<Result<_, _>>().unwrap_or_else(|error| {
                *self.failure.borrow_mut() = Some(error);
                Vec::new()
            })
        })
    }
}

impl Workspace {
    /// Whether the last thing that happened to an artifact is that it was removed through stepmark, as `version` tells whoever gets it.
    pub(crate) fn was_removed(
        &self,
        artifact: &TrackedArtifact,
        version: &GitVersion,
    ) -> Result<bool, HistoryError> {
        let key = ArtifactKey::of(artifact.artifact());
        let lineage = self.with_history(|history| history.lineage(&key, artifact.path()))?;
        let Some(last) = lineage.events().last().filter(|last| last.kind == Kind::DELETE) else {
            return Ok(false);
        };
        let segments = self.with_history(|history| history.segments_of(last.id))?;
        Ok(segments.iter().any(|segment| version.holds_segment(self.root(), segment)))
    }
}

impl GitVersion {
    /// Whether it holds a segment of history: sealed, compressed, or in a pack.
    pub(crate) fn holds_segment(&self, root: &crate::disk::root::Root, segment: &SegmentName) -> bool {
        let alone = ["jsonl", "jsonl.gz"].map(|ending| format!("{SEALED_FOLDER}/{segment}.{ending}"));
        let packs = packed_segments(root).unwrap_or_default().into_iter();
        let packs = packs.filter(|(_, names)| names.contains(segment)).map(|(path, _)| path);
        alone.into_iter().chain(packs).any(|path| {
            // Where git fails here it has failed for the artifacts already, which is an error.
            ProjectPath::new(path).is_ok_and(|path| self.holds(&path).unwrap_or(true))
        })
    }
}

impl AcceptedLosses for JournalAccount<'_> {
    fn accepts(&self, loss: &Loss<'_>) -> bool {
        let event = self.lineages().iter().find_map(|lineage| accepting(lineage, loss));
        self.accepted.borrow_mut().extend(event);
        event.is_some()
    }

    fn is_missing(&self) -> bool {
        let Some(version) = self.version else { return false };
        self.accepted.borrow().iter().any(|event| {
            match self.workspace.with_history(|history| history.segments_of(*event)) {
                Ok(segments) => {
                    !segments.iter().any(|segment| version.holds_segment(self.workspace.root(), segment))
                }
                Err(error) => {
                    *self.failure.borrow_mut() = Some(error);
                    false
                }
            }
        })
    }
}

/// The last event that touched what is lost, if it took it away and was made through stepmark.
fn accepting(lineage: &Lineage, loss: &Loss<'_>) -> Option<EventId> {
    let last = lineage.events().iter().rev().find_map(|event| Some((event, effect(event, loss)?)));
    let is_accepted =
        |(event, effect): &(&Event, Effect)| *effect == Effect::Lost && is_deliberate(lineage, event, loss);
    last.filter(is_accepted).map(|(event, _)| event.id)
}

/// What an event did to something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// It was there, and is not any more.
    Lost,
    /// It came, or stayed while its neighbours changed.
    There,
}

/// `None`: the event did not touch it.
fn effect(event: &Event, loss: &Loss<'_>) -> Option<Effect> {
    match loss {
        Loss::Value { key } => {
            let touches = event.changes.iter().any(|change| is_under(change, key));
            // For a value it is who changed it last that counts.
            touches.then_some(Effect::Lost)
        }
        Loss::Step { list, spelling } => {
            let step = StepId::parse(spelling);
            let changes = event.changes.iter().filter(|change| is_under(change, list));
            let (mut was, mut is) = (false, false);
            for change in changes {
                let (old, new) = match &change.op {
                    Operation::Set { old, new } => (Some(old), Some(new)),
                    Operation::Insert { new } => (None, Some(new)),
                    Operation::Remove { old } => (Some(old), None),
                };
                was |= old.is_some_and(|old| names(old, &step));
                is |= new.is_some_and(|new| names(new, &step));
            }
            match (was, is) {
                (_, true) => Some(Effect::There),
                (true, false) => Some(Effect::Lost),
                (false, false) => None,
            }
        }
    }
}

fn is_under(change: &Change, key: &str) -> bool {
    matches!(change.path.0.first(), Some(Segment::Key(first)) if first == key)
}

/// Whether a list, or an item of one, names the step.
fn names(value: &Json, step: &StepId) -> bool {
    let is_step = |spelling: &str| {
        let id = StepId::parse(spelling);
        id.spelling() == step.spelling() || id.number().is_some() && id.form() == step.form()
    };
    match value {
        Json::Array(items) => items.iter().any(|item| names(item, step)),
        Json::Object(entries) => ["step", "id", "name"]
            .iter()
            .find_map(|key| entries.get(*key))
            .is_some_and(|item| names(item, step)),
        Json::String(text) => is_step(text),
        Json::Number(number) => is_step(&number.to_string()),
        Json::Null | Json::Bool(_) => false,
    }
}

/// Whether whoever made the event said what was to happen. A step goes by `reopen`, or with an earlier state that is put
/// back, or against what was refused; a value by any command.
fn is_deliberate(lineage: &Lineage, event: &Event, loss: &Loss<'_>) -> bool {
    let is_override = |event: &Event| event.kind == Kind::OVERRIDE;
    if [Kind::UNDO, Kind::RESTORE, Kind::IMPORT].contains(&event.kind) || is_override(event) {
        return true;
    }
    let is_own_change = event.kind == Kind::CHANGE;
    match loss {
        Loss::Value { .. } => is_own_change,
        Loss::Step { .. } => {
            let is_reopen = event.command.as_deref().is_some_and(|command| command.starts_with("reopen "));
            let mut parents = event.parents.iter().filter_map(|parent| lineage.get(*parent));
            is_own_change && (is_reopen || parents.any(is_override))
        }
    }
}
