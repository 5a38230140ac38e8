//! Changes of `.stepmark/config.yaml` by commands: comments and order stay.

use crate::commit::{self, CommitError, Expected};
use crate::disk::CONFIGURATION_PATH;
use crate::workspace::{OpenError, Workspace};
use stepmark_frontmatter::{Edit, EditError, KeyPath, Region, Value, apply};
use stepmark_model::artifact::{ProjectPath, ProjectPathError};

/// A reason why the configuration was not changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigureError {
    /// The path of the configuration is no path of the project.
    #[error(transparent)]
    Path(#[from] ProjectPathError),
    /// The value cannot be written into the file.
    #[error("cannot change `{CONFIGURATION_PATH}`")]
    Edit(#[from] EditError),
    /// The file cannot be written.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// The configuration cannot be used as it is now.
    #[error(transparent)]
    Open(#[from] OpenError),
}

impl Workspace {
    /// Gives a key of the project's configuration a value, and returns the project as it is then.
    ///
    /// # Errors
    /// When the file cannot be edited or written, or cannot be used afterwards.
    pub fn configure(&self, key: KeyPath, value: Value) -> Result<Self, ConfigureError> {
        let path = ProjectPath::new(CONFIGURATION_PATH)?;
        let found = commit::read_whole(self.root(), &path)?;
        let edits = [Edit::Set { path: key, value }];
        let edited = apply(found.as_deref().unwrap_or_default(), &Region::WholeFile, &edits)?;
        let expected = Expected::of(found.as_deref());
        commit::replace_whole(self.root(), &path, expected, &edited.bytes, self.commit_options())?;
        let changed = Self::open_with(self.root().clone(), self.configuration().given())?;
        Ok(changed
            .with_attribution(self.attribution().clone())
            .with_clock(self.clock())
            .with_commit_options(*self.commit_options()))
    }
}
