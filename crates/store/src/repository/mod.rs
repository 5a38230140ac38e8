//! Git's answers about artifacts: versions, branches, changed and checked-out files.

pub(crate) mod changed_artifacts;
#[cfg(feature = "write")]
pub(crate) mod default_branch;
#[cfg(feature = "write")]
pub(crate) mod git;
pub(crate) mod git_history;

use std::path::Path;

use crate::Error;
use crate::configuration::{Configuration, ConfigurationSources, PACKS_FOLDER};
use crate::disk::CONFIGURATION_PATH;
use crate::git::GitVersion;
use crate::workspace::Workspace;
use stepmark_model::artifact::ProjectPath;

pub use changed_artifacts::{ChangedArtifact, ChangedArtifacts, CheckedOut};
#[cfg(feature = "write")]
pub use default_branch::CommittedFiles;

#[derive(Clone, Copy, Debug)]
pub struct Repository<'w> {
    pub(crate) workspace: &'w Workspace,
}

impl Workspace {
    pub const fn repository(&self) -> Repository<'_> {
        Repository { workspace: self }
    }
}

impl GitVersion {
    /// With the configuration in git; files read through the workspace are still the work tree's.
    pub fn workspace(&self, sources: &ConfigurationSources) -> Result<Workspace, Error> {
        let root = self.root().clone();
        let path = ProjectPath::new(CONFIGURATION_PATH).ok();
        let bytes = path.map(|path| self.read(&path)).transpose()?.flatten();
        let packs = Configuration::pack_names(&root).into_iter().filter_map(|name| {
            let path = ProjectPath::new(format!("{PACKS_FOLDER}/{name}")).ok()?;
            let bytes = self.read(&path).transpose()?;
            Some(bytes.map(|bytes| (name, bytes)))
        });
        let packs = packs.collect::<Result<_, _>>()?;
        let configuration = Configuration::of_project_bytes(&root, sources, bytes, packs)?;
        Ok(Workspace::with_configuration(root, configuration))
    }
}

impl Repository<'_> {
    /// Projects below a repository's root that is not one itself (a monorepo), relative to it, in order.
    /// Empty if the root has a configuration or BMAD.
    pub fn projects_below(&self) -> Result<Vec<String>, Error> {
        let root = self.workspace.root();
        if !root.is_repository_alone() {
            return Ok(Vec::new());
        }
        let mut found: Vec<String> = Vec::new();
        for folder in self.workspace.artifact_folders()? {
            let is_inside = found.last().is_some_and(|own| Path::new(&folder).starts_with(own));
            if !is_inside && root.holds_project(&folder) {
                found.push(folder);
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test makes a project")]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_repository_may_hold_several_projects() {
        let folder = tempfile::tempdir().unwrap();
        let make = |path: &str| fs::create_dir_all(folder.path().join(path)).unwrap();
        for path in [
            "packages/b/_bmad",
            "packages/a/_bmad",
            "packages/a/x/_bmad",
            "packages/c",
            "node_modules/d/_bmad",
        ] {
            make(path);
        }
        let below = || Workspace::open(folder.path()).unwrap().repository().projects_below().unwrap();
        assert!(below().is_empty(), "no repository");
        make(".git");
        assert_eq!(below(), ["packages/a", "packages/b"]);
        make("packages/c/.stepmark");
        fs::write(folder.path().join("packages/c/.stepmark/config.yaml"), "").unwrap();
        assert_eq!(below(), ["packages/a", "packages/b", "packages/c"]);
        make("_bmad");
        assert!(below().is_empty(), "it is a project itself");
    }
}
