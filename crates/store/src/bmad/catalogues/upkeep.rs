//! Writing the catalogues of a project.

use std::borrow::Cow;

use crate::bmad::catalogues::{Catalogue, CatalogueFiles};
use crate::projection::{OnEdit, ProjectedFile, Projection, ProjectionError, Published, Witness, publish};
use crate::workspace::ArtifactError;
use stepmark_model::{
    artifact::{FileHash, ProjectPath, ProjectPathError},
    bmad::catalogue::{EntryProblem, TableError, write},
    projection::ProjectionFacts,
};

const CATALOGUES_FOLDER: &str = ".stepmark/manifests";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CatalogueRebuild {
    pub entries: usize,
    /// The catalogues that were written, and those that were right.
    pub published: Published,
    /// The problems of what could not be read, and so is missing in them.
    pub problems: Vec<EntryProblem>,
}

#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    #[error(transparent)]
    Place(#[from] ProjectPathError),
    #[error(transparent)]
    Read(#[from] ArtifactError),
    #[error("cannot make `{file_name}`")]
    Table { file_name: &'static str, source: TableError },
    #[error(transparent)]
    Projection(#[from] ProjectionError),
}

impl CatalogueFiles<'_> {
    /// Makes the catalogues in `.stepmark/manifests/` those of what is there now. One that is right is not
    /// touched. One without a row is written only where the installer has it, or where ours is there already.
    pub fn rebuild(&self) -> Result<CatalogueRebuild, CatalogueError> {
        let read = self.read();
        let mut drafts = CatalogueDrafts::default();
        for catalogue in &read.catalogues {
            drafts.add(self, catalogue)?;
        }
        let published = publish(self.workspace.root(), self.workspace.commit_options(), &drafts)?;
        Ok(CatalogueRebuild { entries: drafts.entries, published, problems: read.problems })
    }
}

#[derive(Debug, Default)]
struct CatalogueDrafts {
    files: Vec<ProjectedFile<'static>>,
    entries: usize,
}

impl CatalogueDrafts {
    fn add(&mut self, files: &CatalogueFiles<'_>, catalogue: &Catalogue) -> Result<(), CatalogueError> {
        let path = ProjectPath::new(format!("{CATALOGUES_FOLDER}/{}", catalogue.kind.file_name()))?;
        let found = match files.workspace.read_file(&path) {
            Ok(bytes) => Some(FileHash::of(&bytes)),
            Err(ArtifactError::Missing { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        if catalogue.entries.is_empty() && !catalogue.is_installers && found.is_none() {
            return Ok(());
        }
        let bytes = write(&catalogue.columns, &catalogue.entries)
            .map_err(|source| CatalogueError::Table { file_name: catalogue.kind.file_name(), source })?;
        self.entries += catalogue.entries.len();
        self.files.push(ProjectedFile {
            path: Cow::Owned(path),
            bytes: Cow::Owned(bytes),
            found,
            witness: Witness::Memory,
            on_edit: OnEdit::Replace,
            is_foreign: false,
        });
        Ok(())
    }
}

impl Projection for CatalogueDrafts {
    const FACTS: ProjectionFacts = ProjectionFacts::CATALOGUES;

    fn files(&self) -> Vec<ProjectedFile<'_>> {
        self.files.clone()
    }
}
