//! What all three places say of every story.

use std::sync::Arc;

use super::{
    projecting::BrokenSprintStatus,
    shelf::{Ledger, Shelf},
};
use crate::{
    artifact::ProjectPath,
    check::rules::status::sprint_status_not_yaml,
    project::story_ledger::StorySides,
    workspace::{ArtifactError, TrackedArtifact, WalkError, Workspace},
};

/// The stories of a project and what is said of them.
#[derive(Debug, Default)]
pub struct StorySurvey {
    /// Each story of which anything is said, in the order of the paths.
    pub stories: Vec<StorySides>,
    /// Ledgers that are no YAML: what they say is not known.
    pub broken: Vec<BrokenSprintStatus>,
    /// Files that could not be read.
    pub unreadable: Vec<ArtifactError>,
}

impl Workspace {
    /// What the frontmatter, the line `Status:` and `sprint-status.yaml` say of each story below one of `paths`; of all stories
    /// where none is given.
    ///
    /// # Errors
    /// When the artifacts cannot be listed.
    pub fn survey_stories(&self, paths: &[ProjectPath]) -> Result<StorySurvey, WalkError> {
        let found = self.artifacts()?;
        let is_asked = |path: &ProjectPath| {
            paths.is_empty() || paths.iter().any(|asked| path == asked || path.starts_with(asked))
        };
        let (mut survey, mut shelf) = (StorySurvey::default(), Shelf::default());
        for artifact in found.artifacts.iter().filter(|artifact| is_asked(artifact.path())) {
            survey.stories.extend(self.sides_of(artifact, &mut shelf));
        }
        survey.unreadable.extend(found.unreadable.into_iter().filter(|error| is_asked(error.path())));
        for (path, ledger) in shelf.0 {
            match ledger {
                Ledger::Broken { bytes, error } => {
                    let finding = sprint_status_not_yaml::finding(&path, &error);
                    survey.broken.push(BrokenSprintStatus { bytes, finding });
                }
                Ledger::Unreadable(error) => survey.unreadable.push(error),
                Ledger::Absent | Ledger::Read(_) => {}
            }
        }
        Ok(survey)
    }

    fn sides_of(&self, artifact: &TrackedArtifact, shelf: &mut Shelf) -> Option<StorySides> {
        let (path, name) = (artifact.path(), artifact.path().file_stem());
        let ledger = shelf.ledger_of(self, path, name);
        let said = ledger.and_then(|ledger| match shelf.ledger(self, &ledger) {
            Ledger::Read(states) => states.status(name).map(str::to_owned),
            _ => None,
        });
        let lifecycle = artifact.lifecycle().map(|choice| Arc::clone(&choice.lifecycle));
        StorySides::read(artifact.artifact(), lifecycle, said.as_deref())
    }
}
