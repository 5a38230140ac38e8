//! The second tier of resumption, checkpoints, and what is asked of history about the artifact.

use serde_json::Value as Json;

use crate::history::{History, HistoryError};
use crate::repository::{git_history, git_history::Ancestry};
use crate::resuming::said_by;
use crate::workspace::{ArtifactError, Workspace};
use stepmark_frontmatter::Frontmatter;
use stepmark_model::{
    artifact::{Artifact, ProjectPath, StateDigest},
    journal::{ArtifactKey, Event, EventId},
    projection::checkpoint::{Checkpoint, surviving_keys},
    resume::{ResumeReport, SourceReport, SourceResult, StateSource, Tier},
};

/// The facts that are known of the artifact itself when further tiers are looked at.
pub(crate) struct Subject {
    pub(crate) artifact: Artifact,
    pub(crate) keys: Vec<ArtifactKey>,
    /// Ids that it had in any state that was found: children name one as their parent.
    pub(crate) ids: Vec<String>,
}

impl Subject {
    pub(super) fn of(artifact: Artifact) -> Self {
        let keys = surviving_keys(&artifact);
        let ids = artifact.state_value().map(|state| ids_of(&state)).unwrap_or_default();
        Self { artifact, keys, ids }
    }
}

impl Workspace {
    /// Looks at what `tier` adds to those before.
    pub(super) fn look_further(
        &self,
        tier: Tier,
        subject: &mut Subject,
        report: &mut ResumeReport,
    ) -> Result<(), ArtifactError> {
        match tier {
            Tier::Frontmatter => Ok(()),
            Tier::Checkpoint => self.look_at_checkpoints(subject, report),
            Tier::Everything => self.look_at_everything(subject, report),
        }
    }

    /// Hears the newest checkpoint, and all others where that one is not believed.
    fn look_at_checkpoints(
        &self,
        subject: &mut Subject,
        report: &mut ResumeReport,
    ) -> Result<(), ArtifactError> {
        let places = match self.checkpoints().of(&subject.keys) {
            Ok(places) => places,
            Err(error) => {
                let reason = format!("{error}: {}", error.source);
                let source = StateSource::Checkpoint(None);
                report.sources.push(SourceReport { source, result: SourceResult::Distrusted { reason } });
                return Ok(());
            }
        };
        if places.is_empty() {
            let result = SourceResult::Nothing { reason: "there is none".to_owned() };
            report.sources.push(SourceReport { source: StateSource::Checkpoint(None), result });
        }
        for place in places {
            let result = self.hear_checkpoint(subject, &place)?;
            let is_believed = matches!(result, SourceResult::State { .. });
            report.sources.push(SourceReport { source: StateSource::Checkpoint(Some(place)), result });
            if is_believed {
                break;
            }
        }
        Ok(())
    }

    fn hear_checkpoint(
        &self,
        subject: &mut Subject,
        place: &ProjectPath,
    ) -> Result<SourceResult, ArtifactError> {
        let distrusted = |reason: String| Ok(SourceResult::Distrusted { reason });
        let checkpoint = match self.checkpoints().at(place) {
            Ok(checkpoint) => checkpoint,
            Err(error) => {
                let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
                return distrusted(format!("{error}{}", cause.unwrap_or_default()));
            }
        };
        if checkpoint.path != *subject.artifact.path() && !subject.keys.contains(&checkpoint.key) {
            return distrusted(format!("it is one of `{}`", checkpoint.path));
        }
        if let Some(commit) = &checkpoint.git_commit {
            let short = commit.get(..12).unwrap_or(commit);
            match git_history::ancestry(self.root(), commit) {
                Ancestry::Ancestor => {}
                Ancestry::Stranger => {
                    return distrusted(format!(
                        "it was made at commit {short}, which is not in the history of what is checked out"
                    ));
                }
                Ancestry::Unknown(reason) => {
                    return distrusted(format!("its commit {short} cannot be looked up: {reason}"));
                }
            }
        }
        let read =
            Artifact::read(subject.artifact.path().clone(), checkpoint.with_body(body(&subject.artifact)));
        subject.ids.extend(read.state_value().map(|state| ids_of(&state)).unwrap_or_default());
        match self.history().ask(|history| gone_beyond(history, subject, &checkpoint)) {
            Ok(Some(event)) => {
                return distrusted(format!(
                    "it is outdated: the journal knows a later state, after event {} of {}",
                    event.id, event.at
                ));
            }
            Ok(None) => {}
            Err(error) => {
                return distrusted(format!("it cannot be told whether it is outdated: {error}"));
            }
        }
        Ok(said_by(&self.track(read)?, Some(checkpoint.at)))
    }
}

/// A later event of the artifact with another state than the checkpoint's, if the journal knows one. What
/// cannot be read is no state. Later is what follows in the journal; only where that does not know the
/// checkpoint, the clock decides.
fn gone_beyond(
    history: &History,
    subject: &Subject,
    checkpoint: &Checkpoint,
) -> Result<Option<Event>, HistoryError> {
    let told = known(history, checkpoint.event)?;
    let heads = heads_of(history, subject, &checkpoint.key)?;
    let is_beyond = |head: &Event| {
        let state = head.after.and_then(|after| after.state);
        let is_later = match &told {
            Some(told) => head.n > told.n,
            None => head.at >= checkpoint.at,
        };
        is_later && state.is_some_and(|state: StateDigest| state != checkpoint.state_digest)
    };
    Ok(heads.into_iter().rev().find(is_beyond))
}

/// The event with this id; `None` for one whose segment is missing.
pub(crate) fn known(history: &History, id: EventId) -> Result<Option<Event>, HistoryError> {
    match history.event(&id.to_string()) {
        Ok(event) => Ok(Some(event)),
        Err(HistoryError::UnknownEvent { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The heads of the artifact under the first key that history knows.
pub(crate) fn heads_of(
    history: &History,
    subject: &Subject,
    first: &ArtifactKey,
) -> Result<Vec<Event>, HistoryError> {
    for key in std::iter::once(first).chain(&subject.keys) {
        let heads = history.heads(key, subject.artifact.path())?;
        if !heads.is_empty() {
            return Ok(heads);
        }
    }
    Ok(Vec::new())
}

/// The bytes below the frontmatter, as far as that can be told.
pub(crate) fn body(artifact: &Artifact) -> &[u8] {
    let document = artifact.document();
    match document.frontmatter() {
        Frontmatter::Unclosed { opening } => &artifact.bytes()[opening.end..],
        Frontmatter::Present { .. } | Frontmatter::Absent => &artifact.bytes()[document.body().range()],
    }
}

pub(crate) fn ids_of(state: &Json) -> Vec<String> {
    let places = ["/delegation/id", "/id", "/stepmark_id"];
    let texts = places.iter().filter_map(|place| state.pointer(place));
    texts.filter_map(text_of).collect()
}

fn text_of(value: &Json) -> Option<String> {
    match value {
        Json::String(text) if !text.is_empty() => Some(text.clone()),
        Json::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
