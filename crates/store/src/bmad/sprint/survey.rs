//! A survey of what all three places say of every story.

use std::sync::Arc;

use super::{BrokenSprintStatus, Ledgers, StoryLedgers, following::Listing};
use crate::disk::WalkError;
use crate::workspace::ArtifactError;
use stepmark_model::{
    artifact::ProjectPath, bmad::sprint::StorySides, check::Severity, tracked_artifact::TrackedArtifact,
};

/// The stories of a project and what is said of them.
#[derive(Debug, Default)]
pub struct StorySurvey {
    /// Each story of which anything is said, in the order of the paths.
    pub stories: Vec<StorySides>,
    /// Stories of which something is said and whose ledger cannot be read: what all sides say is not known,
    /// so nobody can choose.
    pub waiting: Vec<WaitingStory>,
    /// Ledgers that are no YAML.
    pub broken: Vec<BrokenSprintStatus>,
    /// Ledgers with an entry that cannot be joined to a story.
    pub unmatched: Vec<BrokenSprintStatus>,
    /// Files that could not be read.
    pub unreadable: Vec<ArtifactError>,
}

/// A story that waits until its ledger can be read.
#[derive(Clone, Debug)]
pub struct WaitingStory {
    /// The story.
    pub story: ProjectPath,
    /// The ledger.
    pub ledger: ProjectPath,
}

impl StoryLedgers<'_> {
    /// Collects what the frontmatter, the line `Status:` and `sprint-status.yaml` say of each story below one
    /// of `paths`; of all stories where none is given.
    ///
    /// # Errors
    /// When the artifacts cannot be listed.
    pub fn survey(&self, paths: &[ProjectPath]) -> Result<StorySurvey, WalkError> {
        let found = self.workspace.artifacts()?;
        let is_asked = |path: &ProjectPath| {
            paths.is_empty() || paths.iter().any(|asked| path == asked || path.starts_with(asked))
        };
        let (mut survey, ledgers) = (StorySurvey::default(), Ledgers::default());
        for artifact in found.artifacts.iter().filter(|artifact| is_asked(artifact.path())) {
            self.look_at(artifact, &ledgers, &mut survey);
        }
        survey.unreadable.extend(found.unreadable.into_iter().filter(|error| is_asked(error.path())));
        let (broken, unreadable) = ledgers.into_unusable();
        survey.broken = broken;
        let is_whole = paths.is_empty();
        let all = found.artifacts.iter().map(TrackedArtifact::path).filter(|_| is_whole);
        let is_new = |unmatched: &BrokenSprintStatus| {
            unmatched.finding.severity != Severity::Note
                && survey.broken.iter().all(|broken| broken.finding.path != unmatched.finding.path)
        };
        survey.unmatched = self.unmatched(&Self::stories(all)).into_iter().filter(is_new).collect();
        survey.unreadable.extend(unreadable);
        Ok(survey)
    }

    fn look_at(&self, artifact: &TrackedArtifact, ledgers: &Ledgers, survey: &mut StorySurvey) {
        let path = artifact.path();
        let lifecycle = || artifact.lifecycle().map(|choice| Arc::clone(&choice.lifecycle));
        let sides = |word: Option<&str>| {
            let mut sides = StorySides::read(artifact.artifact(), lifecycle(), word)?;
            if let Some(status) = sides.frontmatter.as_deref().filter(|_| sides.may_be_sent_back()) {
                // Where history cannot be read, nothing is known to be later.
                sides.is_moved_by_command = self.is_moved_by_command(path, status).unwrap_or_default();
            }
            Some(sides)
        };
        match ledgers.listing_of(self.workspace, path) {
            Listing::Unknown(ledger) => {
                if sides(None).is_some() {
                    survey.waiting.push(WaitingStory { story: path.clone(), ledger });
                }
            }
            Listing::Listed(_, word) => survey.stories.extend(sides(word.as_deref())),
            Listing::Unlisted(_) | Listing::Nowhere => survey.stories.extend(sides(None)),
        }
    }
}
