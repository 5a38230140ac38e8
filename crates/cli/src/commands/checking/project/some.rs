//! The projections of a few artifacts, without looking at the others.

use std::path::PathBuf;

use stepmark_model::{artifact::ProjectPath, tracked_artifact::TrackedArtifact};
use stepmark_store::{gates::GateRebuild, workspace::ArtifactError};

use super::{
    Projection,
    projection::Done,
    projection::{manifest_place, of_gates, of_ledgers, of_manifest},
};
use crate::{exit::Failure, output::Output, project::Project as OpenProject};

pub(super) struct SomeArtifacts {
    paths: Vec<ProjectPath>,
    present: Vec<TrackedArtifact>,
}

impl SomeArtifacts {
    /// `None` where none is named: then all are meant.
    pub(super) fn read(
        project: &OpenProject,
        given: &[PathBuf],
        output: &Output,
    ) -> Result<Option<Self>, Failure> {
        if given.is_empty() {
            return Ok(None);
        }
        let (mut paths, mut present) = (Vec::new(), Vec::new());
        for given in given {
            let path = project.known_path(given)?;
            match project.workspace.artifact(&path) {
                Ok(artifact) => present.push(artifact),
                Err(ArtifactError::Missing { .. }) => {
                    output.warning(format_args!("`{path}` is not there: what was made of it goes"));
                }
                Err(error) => return Err(error.into()),
            }
            paths.push(path);
        }
        Ok(Some(Self { paths, present }))
    }

    /// Makes what `projection` makes of them; `None` where it is not made of single artifacts: catalogues
    /// come from definitions, and the database follows when it is asked.
    pub(super) fn project(
        &self,
        projection: Projection,
        project: &OpenProject,
    ) -> Result<Option<Done>, Failure> {
        Ok(match projection {
            Projection::Ledgers => {
                Some(of_ledgers(&project.workspace.ledgers().project(&self.present, false)))
            }
            Projection::Gates => Some(self.gates(project)?),
            Projection::FilesManifest => {
                let place = manifest_place(project)?;
                let draft = project.workspace.manifests().draft_rows(&place, &self.paths)?;
                Some(of_manifest(project, &place, &draft)?)
            }
            Projection::Catalogues
            | Projection::AutodevSummary
            | Projection::PackFiles
            | Projection::Index => None,
        })
    }

    fn gates(&self, project: &OpenProject) -> Result<Done, Failure> {
        let mut total = GateRebuild::default();
        for path in &self.paths {
            total += project.workspace.gates().renew(path)?;
        }
        Ok(of_gates(total))
    }
}
