//! A story, epic or retrospective, as its file tells of it.

use std::sync::Arc;

use super::{LedgerKey, LedgerPart, LedgerWords, is_story_spec, ledger_key::is_issue_key, story_key};
use crate::{
    artifact::{Artifact, BodyStatus, Field, ProjectPath},
    lifecycle::Lifecycle,
    tracked_artifact::TrackedArtifact,
};

/// A story, epic or retrospective whose frontmatter says its status.
#[derive(Clone, Debug)]
pub struct Story {
    pub path: ProjectPath,
    pub key: LedgerKey,
    pub status: String,
    pub line: Option<BodyStatus>,
    pub lifecycle: Option<Arc<Lifecycle>>,
    /// True if a ledger that lacks it should list it: its heading says that it is a story. A spec is listed
    /// by the numbers in its name, which may be those of something else, so none is put in for it.
    pub belongs_in_ledger: bool,
}

/// The role of a file for the ledgers.
#[derive(Clone, Debug)]
pub enum StoryState {
    /// It says a status that ledgers follow.
    Told(Box<Story>),
    /// It is a story without a status in its frontmatter: ledgers are left alone until somebody imports it.
    Waiting,
    Other,
}

impl Story {
    /// Reads the role of `artifact`, whose status has the lifecycle `lifecycle`, for the ledgers.
    pub fn read(artifact: &Artifact, lifecycle: impl FnOnce() -> Option<Arc<Lifecycle>>) -> StoryState {
        let key = LedgerKey::of_artifact(artifact).filter(|_| artifact.state().kind.is_none());
        let Some((key, _)) = key else { return StoryState::Other };
        let is_story = key.is_story() && artifact.has_story_heading();
        let state = artifact.state();
        let Some(status) = state.status.as_ref().and_then(Field::filled).filter(|word| is_word(word)) else {
            let is_waiting = is_story && (state.body_status.is_some() || state.status.is_some());
            return if is_waiting { StoryState::Waiting } else { StoryState::Other };
        };
        StoryState::Told(Box::new(Self {
            path: artifact.path().clone(),
            key,
            status: status.to_owned(),
            line: state.body_status.clone(),
            lifecycle: lifecycle(),
            belongs_in_ledger: is_story && key.part != LedgerPart::Named && !is_story_spec(artifact.path()),
        }))
    }

    /// Its name: the key that a ledger has for it, if that lists it by its name.
    pub fn name(&self) -> &str {
        LedgerKey::of(&self.path).map_or_else(|| self.path.file_stem(), |(_, name)| name)
    }

    pub fn words(&self) -> LedgerWords<'_> {
        LedgerWords::new(self.lifecycle.as_deref(), self.key).in_file(&self.path)
    }
}

/// Returns whether a text is a status rather than a template that nobody filled in; and whether it fits on a
/// line.
pub(super) fn is_word(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains(['{', '}', '\n', '\r'])
}

impl Artifact {
    /// Returns whether the file is a story of BMAD, which needs no frontmatter: its name, its heading and its
    /// `Status:` line say so.
    pub(crate) fn is_story(&self) -> bool {
        self.state().body_status.is_some()
            && (story_key(self.path()).is_some() || is_issue_key(self.path().file_stem()))
            && self.has_story_heading()
    }

    pub(super) fn has_story_heading(&self) -> bool {
        self.first_heading().is_some_and(|heading| heading.split_whitespace().next() == Some("Story"))
    }
}

impl TrackedArtifact {
    /// Returns whether it is a story that says its status in its body or its ledger only: nothing follows it
    /// until somebody imports it.
    pub fn waits_for_import(&self) -> bool {
        matches!(Story::read(self.artifact(), || None), StoryState::Waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stories_are_told_apart_from_other_files() {
        for (path, text, expected) in [
            ("1-1-a.md", "---\nstatus: review\n---\n# Story 1.1\n", "told review, belongs"),
            ("1-1-a.md", "---\nstatus: review\n---\n# Notes\n", "told review"),
            ("spec-1-1-a.md", "---\nstatus: in-review\n---\n# Story 1.1\n", "told in-review"),
            ("spec-fix.md", "---\nstatus: in-review\n---\n# Story 1.1\n", "other"),
            ("epic-1.md", "---\nstatus: done\n---\n# Epic 1\n", "told done"),
            ("1-1-a.md", "# Story 1.1\n\nStatus: review\n", "waiting"),
            ("1-1-a.md", "---\nstatus: '{{status}}'\n---\n# Story 1.1\n", "waiting"),
            ("1-1-a.md", "# Notes\n\nStatus: review\n", "other"),
            ("prd.md", "---\nstatus: review\n---\n# Story\n", "other"),
            ("epic-1.md", "# Epic 1\n", "other"),
        ] {
            let artifact = Artifact::read(ProjectPath::new(path).unwrap(), text.as_bytes().to_vec());
            let said = match Story::read(&artifact, || None) {
                StoryState::Told(story) => {
                    format!("told {}{}", story.status, if story.belongs_in_ledger { ", belongs" } else { "" })
                }
                StoryState::Waiting => "waiting".to_owned(),
                StoryState::Other => "other".to_owned(),
            };
            assert_eq!(said, expected, "{path} {text:?}");
        }
    }
}
