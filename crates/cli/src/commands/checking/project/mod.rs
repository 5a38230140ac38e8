//! `stepmark project`

mod projection;
mod some;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use self::{
    projection::{AllArtifacts, Projection},
    some::SomeArtifacts,
};
use super::manifest::Manifest;
use crate::{
    environment::Environment,
    exit::{Exit, Failure},
    output::{Output, with_spinner},
    project::Project as OpenProject,
};

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
