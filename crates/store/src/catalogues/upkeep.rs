//! Writing the catalogues of a project.

use std::sync::atomic::AtomicUsize;

use crate::catalogues::CatalogueFiles;
use crate::catalogues::{Catalogues, catalogue_path};
use crate::commit::{CommitError, Expected, Outcome, replace_whole};
use crate::workspace::ArtifactError;
use stepmark_model::{
    artifact::ProjectPathError,
    projection::catalogue::{EntryProblem, TableError, write},
};

/// What rebuilding the catalogues did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CatalogueRebuild {
    /// Rows of all catalogues.
    pub entries: usize,
    /// Catalogues that were written.
    pub written: usize,
    /// Catalogues that were right.
    pub unchanged: usize,
    /// What could not be read, and so is missing in them.
    pub problems: Vec<EntryProblem>,
}

/// Why a catalogue was not written.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// Its place is none in a project.
    #[error(transparent)]
    Place(#[from] ProjectPathError),
    /// The one that is there cannot be read.
    #[error(transparent)]
    Read(#[from] ArtifactError),
    /// Its bytes cannot be made.
    #[error("cannot make `{file_name}`")]
    Table {
        /// The catalogue.
        file_name: &'static str,
        /// What the writer says.
        source: TableError,
    },
    /// It cannot be written, or somebody else wrote it meanwhile.
    #[error(transparent)]
    Commit(#[from] CommitError),
}

impl CatalogueFiles<'_> {
    /// Makes the catalogues in `.stepmark/manifests/` those of what is there now. One that is right is not touched. One without
    /// a row is written only where the installer has it, or where ours is there already.
    ///
    /// # Errors
    /// When a catalogue cannot be written; those before it stand. What could not be read is in the answer.
    pub fn rebuild(&self) -> Result<CatalogueRebuild, CatalogueError> {
        self.rebuild_counted(&AtomicUsize::new(0))
    }

    /// The same, with a counter of the files that were read so far, for whoever shows progress.
    ///
    /// # Errors
    /// Those of [`CatalogueFiles::rebuild`].
    pub fn rebuild_counted(&self, count: &AtomicUsize) -> Result<CatalogueRebuild, CatalogueError> {
        let Catalogues { catalogues, problems } = self.read_counted(count);
        let mut rebuild = CatalogueRebuild { problems, ..CatalogueRebuild::default() };
        for catalogue in &catalogues {
            let path = catalogue_path(catalogue.kind)?;
            let found = match self.workspace.read_file(&path) {
                Ok(bytes) => Some(bytes),
                Err(ArtifactError::Missing { .. }) => None,
                Err(error) => return Err(error.into()),
            };
            if catalogue.entries.is_empty() && !catalogue.is_installers && found.is_none() {
                continue;
            }
            let bytes = write(&catalogue.columns, &catalogue.entries)
                .map_err(|source| CatalogueError::Table { file_name: catalogue.kind.file_name(), source })?;
            rebuild.entries += catalogue.entries.len();
            if found.as_deref() == Some(&bytes[..]) {
                rebuild.unchanged += 1;
                continue;
            }
            let expected = Expected::of(found.as_deref());
            let outcome = replace_whole(
                self.workspace.root(),
                &path,
                expected,
                &bytes,
                self.workspace.commit_options(),
            )?;
            match outcome {
                Outcome::Unchanged => rebuild.unchanged += 1,
                Outcome::Written { .. } | Outcome::Deleted { .. } => rebuild.written += 1,
            }
        }
        Ok(rebuild)
    }
}
