//! Which artifacts belong to a workflow, and which only have a status.

use super::{Membership, TrackedArtifact, Workspace};

/// Where BMAD writes, unless its configuration says otherwise: whatever has a status there belongs to a workflow.
const OUTPUT_FOLDER: &str = "_bmad-output";

impl Workspace {
    /// Returns whether `artifact` takes part in a workflow. A status word alone is not enough, or every post of a blog would: a workflow, a
    /// lifecycle, the folder in which workflows write, or `artifacts.include` in the configuration has to say so.
    pub fn has_workflow_state(&self, artifact: &TrackedArtifact) -> bool {
        !artifact.artifact().has_status_alone()
            || !matches!(artifact.membership(), Membership::None)
            || artifact.path().as_str().split('/').any(|folder| folder == OUTPUT_FOLDER)
            || self.configuration().is_include_configured()
            || artifact.lifecycle().is_some()
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make projects")]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_status_alone_is_no_workflow() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let place = folder.path().join(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, text).unwrap();
        };
        for (path, text, belongs) in [
            ("posts/a.md", "---\ntitle: A\nstatus: published\n---\n", false),
            ("posts/b.md", "---\nid: 7\nstatus: draft\ndate: 2026-01-01\n---\n", false),
            ("posts/c.md", "---\nstatus: draft\nlastStep: 3\n---\n", true),
            ("posts/d.md", "---\nstatus: draft\nstepmark_id: x\n---\n", true),
            ("posts/e.md", "---\nstatus: todo\ndelegation: {id: E}\n---\n", true),
            ("posts/f.md", "---\nstatus: todo\nscope: small\n---\n", true),
            ("posts/g.md", "---\ntype: bugfix\ncontext: []\nstatus: draft\n---\n", true),
            ("_bmad-output/briefs/brief.md", "---\nstatus: draft\n---\n", true),
            ("app/_bmad-output/briefs/brief.md", "---\nstatus: draft\n---\n", true),
            ("1-1-lend.md", "---\nstatus: draft\n---\n# Story 1.1\n", true),
        ] {
            write(path, text);
            let workspace = Workspace::open(folder.path()).unwrap();
            let artifact = workspace.artifact(&path.parse().unwrap()).unwrap();
            assert_eq!(workspace.has_workflow_state(&artifact), belongs, "{path}");
        }
        write(".stepmark/config.yaml", "artifacts: {include: ['posts/**']}\n");
        let workspace = Workspace::open(folder.path()).unwrap();
        let artifact = workspace.artifact(&"posts/a.md".parse().unwrap()).unwrap();
        assert!(workspace.has_workflow_state(&artifact), "somebody said that posts are artifacts");
    }
}
