//! Artifacts in a workflow, and those with only a status.

use std::collections::HashSet;

use crate::workspace::{Artifacts, Workspace};
use stepmark_model::delegation::Member;
use stepmark_model::tracked_artifact::{Membership, TrackedArtifact};

/// BMAD's default output folder: whatever has a status there belongs to a workflow.
const OUTPUT_FOLDER: &str = "_bmad-output";

impl Artifacts {
    /// For each artifact (these must be all of `workspace`): is it part of a workflow, by itself or through
    /// delegated work?
    pub fn have_workflow_state(&self, workspace: &Workspace) -> Vec<bool> {
        let members: Vec<Member> = self.artifacts.iter().map(TrackedArtifact::member).collect();
        let parents: HashSet<&str> = members.iter().filter_map(Member::parent_id).collect();
        let is_parent = |member: &Member| member.id().is_some_and(|id| parents.contains(id));
        let both = self.artifacts.iter().zip(&members);
        both.map(|(artifact, member)| workspace.has_workflow_state(artifact) || is_parent(member)).collect()
    }
}

impl Workspace {
    /// True for part of a workflow. A status alone is not enough, or every blog post would count: it needs a
    /// workflow, a lifecycle, the output folder, or `artifacts.include`. Of records, those that are work.
    pub(crate) fn has_workflow_state(&self, artifact: &TrackedArtifact) -> bool {
        if let Some(kind) = artifact.state().kind {
            return kind.is_work;
        }
        !artifact.artifact().has_status_alone()
            || !matches!(artifact.membership(), Membership::None)
            || artifact.path().as_str().split('/').any(|folder| folder == OUTPUT_FOLDER)
            || self.configuration().artifacts.include.is_some()
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
            ("posts/b.md", "---\nid: SEVEN\nstatus: draft\ndate: 2026-01-01\n---\n", false),
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
        write(
            "posts/child.md",
            "---\nid: C\nstatus: todo\ndelegation: {id: C, parent_id: SEVEN, root_id: SEVEN, depth: 1}\n---\n",
        );
        let workspace = Workspace::open(folder.path()).unwrap();
        let found = workspace.artifacts().unwrap();
        let have = found.have_workflow_state(&workspace);
        let without = found
            .artifacts
            .iter()
            .zip(have)
            .filter(|(_, has)| !has)
            .map(|(artifact, _)| artifact.path().as_str());
        assert_eq!(without.collect::<Vec<_>>(), ["posts/a.md"], "work was delegated from b");
        write(".stepmark/config.yaml", "artifacts: {include: ['posts/**']}\n");
        let workspace = Workspace::open(folder.path()).unwrap();
        let artifact = workspace.artifact(&"posts/a.md".parse().unwrap()).unwrap();
        assert!(workspace.has_workflow_state(&artifact), "somebody said that posts are artifacts");
    }
}
