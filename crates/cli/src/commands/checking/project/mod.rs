//! `stepmark project`

pub(crate) mod projection;

use std::path::PathBuf;

use super::manifest::Manifest;
use crate::{
    environment::Environment,
    exit::{Exit, Failure},
    output::{Output, with_spinner},
    project::Project as OpenProject,
};
use clap::{Args, Subcommand};
use projection::{AllArtifacts, Projection};
use projection::{Done, manifest_place, of_gates, of_ledgers, of_manifest};
use stepmark_model::{artifact::ProjectPath, tracked_artifact::TrackedArtifact};
use stepmark_store::gates::GateRebuild;

/// Rebuild what is derived: ledgers, gates, manifests, catalogues, the database
///
/// All but the ledgers, which other programs made, can be deleted at any time. Nothing is written that is
/// right already. Without options all of it is rebuilt; each option names a part. With artifacts only what is
/// made of them is looked at: their ledgers, their gates, and their rows of the manifest. Ends with 1 when
/// something could not be read and is missing in what was written.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Project {
    /// Artifacts that changed; without any everything is rebuilt
    #[arg(value_name = "ARTIFACT", conflicts_with_all = ["catalogues", "autodev", "pack_files", "index"])]
    artifacts: Vec<PathBuf>,
    /// `sprint-status.yaml` and the lines `Status:` of stories, as their frontmatter says
    #[arg(long)]
    ledgers: bool,
    /// The gates in `.stepmark/gates/`
    #[arg(long)]
    gates: bool,
    /// `.stepmark/manifests/files-manifest.csv`, as `stepmark project manifest write` makes it
    #[arg(long)]
    files_manifest: bool,
    /// The catalogues of agents, workflows, skills, tasks and tools in `.stepmark/manifests/`
    #[arg(long)]
    catalogues: bool,
    /// The summary of autodev, at the place that `autodev.summary` of the configuration names
    #[arg(long)]
    autodev: bool,
    /// The files in which packs of the project list their artifacts
    #[arg(long)]
    pack_files: bool,
    /// The database `.stepmark/local/cache/index.db`, which `stepmark query` asks
    #[arg(long)]
    index: bool,
    #[command(subcommand)]
    part: Option<Part>,
}

#[derive(Debug, Subcommand)]
enum Part {
    Manifest(Manifest),
}

impl Project {
    pub(crate) fn run(
        &self,
        project: &OpenProject,
        environment: &Environment,
        output: &Output,
    ) -> Result<Exit, Failure> {
        if let Some(Part::Manifest(manifest)) = &self.part {
            return manifest.run(project, output);
        }
        let is_any_named = Projection::ALL.iter().any(|projection| projection.is_named_in(self));
        let chosen = |projection: &Projection| match is_any_named {
            true => projection.is_named_in(self),
            false => projection.is_in(project),
        };
        let mut done = Vec::new();
        let mut all = AllArtifacts::default();
        let some = SomeArtifacts::read(project, &self.artifacts, output)?;
        for projection in Projection::ALL.into_iter().filter(chosen) {
            let rebuilt = match &some {
                Some(some) => some.project(projection, project)?,
                None => Some(with_spinner(
                    projection.name(),
                    output.quiet,
                    project.workspace.files_looked_at(),
                    || projection.rebuild(project, &mut all, environment),
                )?),
            };
            done.extend(rebuilt.map(|rebuilt| (projection, rebuilt)));
        }
        projection::report(output, &done);
        let is_whole = done.iter().all(|(_, done)| done.problems.is_empty());
        Ok(if is_whole { Exit::Fine } else { Exit::Findings })
    }
}

struct SomeArtifacts {
    paths: Vec<ProjectPath>,
    present: Vec<TrackedArtifact>,
}

impl SomeArtifacts {
    /// `None` for all artifacts.
    fn read(project: &OpenProject, given: &[PathBuf], output: &Output) -> Result<Option<Self>, Failure> {
        if given.is_empty() {
            return Ok(None);
        }
        let (mut paths, mut present) = (Vec::new(), Vec::new());
        for given in given {
            let path = project.known_path(given)?;
            match project.workspace.artifact(&path) {
                Ok(artifact) => present.push(artifact),
                Err(error) if error.is_missing() => {
                    output.warning(format_args!("`{path}` is not there: what was made of it goes"));
                }
                Err(error) => return Err(error.into()),
            }
            paths.push(path);
        }
        Ok(Some(Self { paths, present }))
    }

    /// `None` if it is not made of single artifacts: catalogues follow definitions; the database is updated
    /// by queries.
    fn project(&self, projection: Projection, project: &OpenProject) -> Result<Option<Done>, Failure> {
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
