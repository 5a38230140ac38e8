//! Folders in which artifacts may appear, for watching.

use std::ops::Range;

use crate::Error;
use crate::disk::{folder::Folder, walk::Visitor};
use crate::workspace::{Workspace, artifact_files::walk_artifacts};

struct FoldersOnly;

impl Visitor for FoldersOnly {
    fn visit(&mut self, _: &Folder, _: Range<usize>) {}
}

impl Workspace {
    /// Relative to the root (the empty path), with `/`, in order. Skips unreadable folders.
    pub(crate) fn artifact_folders(&self) -> Result<Vec<String>, Error> {
        let mut folders = walk_artifacts(self, &|| FoldersOnly)?.folders;
        folders.sort_unstable();
        Ok(folders)
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test makes a project")]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn lists_where_artifacts_may_be_and_sees_new_workflows() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["docs/deep", ".git/objects", ".stepmark/local", "_bmad/bmm/workflows"] {
            fs::create_dir_all(folder.path().join(path)).unwrap();
        }
        let workspace = Workspace::open(folder.path()).unwrap();
        let folders = workspace.artifact_folders().unwrap();
        assert!(folders.windows(2).all(|pair| pair[0] < pair[1]), "{folders:?}");
        assert!(
            ["", "docs", "docs/deep"].iter().all(|path| folders.iter().any(|own| own == path)),
            "{folders:?}"
        );
        assert!(
            !folders.iter().any(|path| path.starts_with(".git") || path.starts_with(".stepmark/local")),
            "{folders:?}"
        );
        let artifact = "---\nworkflowType: 'research'\nstepsCompleted: [1]\n---\n";
        fs::write(folder.path().join("docs/a.md"), artifact).unwrap();
        let workflow =
            |workspace: &Workspace| workspace.artifacts().unwrap().artifacts[0].progress().is_some();
        assert!(!workflow(&workspace));
        let place = folder.path().join("_bmad/bmm/workflows/research");
        fs::create_dir_all(place.join("steps")).unwrap();
        fs::write(place.join("workflow.md"), "---\nname: research\n---\n").unwrap();
        fs::write(place.join("steps/step-01-init.md"), "# one\n").unwrap();
        assert!(!workflow(&workspace), "what was found once is kept");
        assert!(workflow(&workspace.afresh()));
    }
}
