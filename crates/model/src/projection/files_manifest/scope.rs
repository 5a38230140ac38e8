//! The files under a root that a manifest covers.

use std::fmt;

use crate::bmad::installation::{installer_never_compares, installer_skips_file, installer_skips_folder};

/// The files under a root that a manifest covers. All paths are relative to the root, with `/`.
///
/// A scope decides about files that are on disk and *not* listed: whether `verify` tells of them and `write`
/// lists them. A listed file is looked for wherever it is, so no scope can make one look missing.
#[derive(Clone, Copy)]
pub enum ManifestScope<'a> {
    /// Every file, except those of git and of stepmark itself.
    Everything,
    /// The files that the official installer counts as a user's own in a `_bmad` folder. Files that it skips
    /// are listed again only where the earlier manifest lists them.
    BmadFolder,
    Artifacts(&'a dyn ArtifactFilter),
}

pub trait ArtifactFilter: Sync {
    fn is_artifact(&self, path: &str) -> bool;

    /// Returns whether no file in `folder`, however deep, is one.
    fn skips_folder(&self, folder: &str) -> bool;
}

impl fmt::Debug for ManifestScope<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Everything => "Everything",
            Self::BmadFolder => "BmadFolder",
            Self::Artifacts(_) => "Artifacts",
        })
    }
}

impl ManifestScope<'_> {
    /// Returns whether files of this folder, or of folders below it, can belong to the manifest.
    pub fn enters(&self, folder: &str) -> bool {
        let name = folder.rsplit('/').next().unwrap_or(folder);
        match (name, self) {
            (".git" | ".stepmark", _) => false,
            (_, Self::Everything) => true,
            (_, Self::BmadFolder) => name != "node_modules" && !installer_skips_folder(folder),
            (_, Self::Artifacts(filter)) => !filter.skips_folder(folder),
        }
    }

    /// Returns whether the file, which no manifest lists yet, belongs to the manifest.
    pub fn holds(&self, path: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::BmadFolder => !installer_skips_file(path),
            Self::Artifacts(filter) => filter.is_artifact(path),
        }
    }

    /// Returns whether a file that [`ManifestScope::holds`] excludes stays in a rewritten manifest because
    /// the earlier one lists it. The installer lists files (its configuration, `_config/manifest.yaml`) that
    /// it later skips when it looks for a user's files.
    pub fn keeps_listed(&self) -> bool {
        matches!(self, Self::BmadFolder)
    }

    /// Returns whether the listed file may differ from its row without anybody having edited it.
    ///
    /// In a `_bmad` folder these are the files that the installer writes anew on every run and never compares
    /// (`config.yaml`, `_config/`, `render/`, agents' memory), and `config.toml` with `config.user.toml` in
    /// its root: `--set` changes those after the manifest has been written (seen with 6.12.0: a fresh install
    /// with `--set` has two such rows).
    pub fn regenerates(&self, path: &str) -> bool {
        matches!(self, Self::BmadFolder)
            && (installer_never_compares(path) || matches!(path, "config.toml" | "config.user.toml"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bmad_folder_is_searched_as_the_installer_searches_it() {
        let scope = ManifestScope::BmadFolder;
        for (path, held, regenerated) in [
            ("custom/config.toml", true, false),
            ("bmm/module-help.csv", true, false),
            ("bmm/x/render/a.md", true, false),
            ("memory.md", true, false),
            ("bmm/config.yaml", false, true),
            ("config.yaml", false, true),
            ("bmm/old-config.yaml", true, false),
            ("config.toml", true, true),
            ("bmm/config.toml", true, false),
            ("_config/manifest.yaml", false, true),
            ("_config/agents/x.customize.yaml", false, true),
            ("_memory/tech-writer-sidecar/a.md", false, true),
            ("memory/a.md", false, true),
            ("render/.gitignore", false, true),
            ("bmm/agents/pm.md", false, false),
            ("bmm/agents/pm.csv", true, false),
        ] {
            assert_eq!((scope.holds(path), scope.regenerates(path)), (held, regenerated), "{path}");
        }
        for (folder, entered) in [
            ("render", false),
            ("bmm/render", true),
            ("bmm/node_modules", false),
            (".git", false),
            ("_config", false),
            ("bmm", true),
        ] {
            assert_eq!(scope.enters(folder), entered, "{folder}");
        }
    }

    struct Markdown;

    impl ArtifactFilter for Markdown {
        fn is_artifact(&self, path: &str) -> bool {
            path.ends_with(".md")
        }

        fn skips_folder(&self, folder: &str) -> bool {
            folder.ends_with("node_modules")
        }
    }

    #[test]
    fn other_scopes_leave_out_git_and_stepmark_only() {
        let artifacts = ManifestScope::Artifacts(&Markdown);
        assert!(
            artifacts.holds("_config/a.md")
                && !artifacts.holds("a.txt")
                && !artifacts.regenerates("config.toml")
        );
        assert!(ManifestScope::Everything.enters("a/node_modules") && !artifacts.enters("a/node_modules"));
        for scope in [artifacts, ManifestScope::Everything] {
            assert!(scope.enters("render") && !scope.enters("a/.git") && !scope.enters(".stepmark"));
        }
    }
}
