//! What a program relies on that only reads, without history.
#![cfg(not(feature = "history"))]
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests make projects directly, and fail by panicking"
)]

use std::fs;

use stepmark_core::{Known, ProjectPath, ResumeTier, Selection, Workspace};
use stepmark_model::resume::{ResumeDecision, SourceResult};

fn project(prd: &str) -> (tempfile::TempDir, Workspace, ProjectPath) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("prd.md"), prd).unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    (folder, workspace, ProjectPath::new("prd.md").unwrap())
}

#[test]
fn artifacts_are_read_listed_and_checked() {
    let (_folder, workspace, path) = project("---\nid: PRD-1\nstatus: draft\nstatus: done\n---\n");
    let found = workspace.artifacts().unwrap().artifacts;
    assert_eq!(found[0].path(), &path);
    let report = workspace.check(&found, Selection::All, Known::LeftOut).unwrap();
    assert!(report.files[0].findings.iter().any(|finding| finding.rule.name == "key-twice"));
    assert_eq!(workspace.checks().summaries().unwrap().rows().count(), 1);
    assert_eq!(workspace.delegations().chain(&path).unwrap().len(), 1);
}

#[test]
fn resuming_believes_the_frontmatter_alone_and_says_what_it_did_not_look_at() {
    let (_folder, workspace, path) =
        project("---\nstatus: draft\nstatus: done\nstepsCompleted: [a]\nstepsCompleted: []\n---\n");
    let resumption = workspace.resume(&path, ResumeTier::Everything).unwrap();
    let ResumeDecision::CannotTell { reason, .. } = &resumption.verdict else {
        panic!("{:?}", resumption.verdict)
    };
    assert!(reason.contains("the feature `history`"), "{reason}");
    let sources = resumption.report.sources;
    assert_eq!(sources.len(), 4);
    assert!(sources.iter().all(|one| matches!(one.result, SourceResult::Distrusted { .. })), "{sources:?}");
    assert!(resumption.report.cautions[0].starts_with("delegations and other sessions are not known"));
}
