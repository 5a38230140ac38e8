//! `stepmark report`

use std::{fs, os::unix::fs::PermissionsExt as _};

use crate::harness::Sandbox;

/// `stepmark report ARGUMENTS…`, at a time of its own.
fn report(sandbox: &Sandbox, arguments: &[&str]) -> crate::harness::Run {
    let mut command = sandbox.command(&[&["report"], arguments].concat());
    sandbox.run(command.env("STEPMARK_TEST_TIME", "2026-11-22T10:00:00Z"))
}

#[test]
fn writes_one_page_with_the_answer_at_its_top() {
    let demo = Sandbox::demo();
    let before = demo.tree();
    let run = report(&demo, &["state.html"]);
    assert_eq!(
        (run.code, run.stdout.as_str(), run.stderr.as_str()),
        (0, "state.html: 1 of 7 artifacts done, 5 to go on with, 2 errors, 1 warning\n", "")
    );
    let page = demo.read("state.html");
    let text = String::from_utf8(page.clone()).unwrap();
    for part in
        ["Done", "Next", "Wrong", "step-04-journeys", "create-prd", "SM106", "2026-11-22 10:00", "Epic 1"]
    {
        assert!(text.contains(part), "{part}");
    }
    let json = report(&demo, &["state.html", "--json"]).json("stepmark.report/1");
    assert_eq!((json["done"].as_u64(), json["bytes"].as_u64()), (Some(1), Some(page.len() as u64)));
    assert_eq!(demo.read("state.html"), page, "the same state gives the same bytes");
    fs::remove_file(demo.place("state.html")).unwrap();
    before.assert_same(&demo.tree(), &run);
}

#[test]
fn a_page_replaces_another_whole_or_not_at_all() {
    let demo = Sandbox::demo();
    demo.write("old.html", "old");
    std::os::unix::fs::symlink("old.html", demo.place("link.html")).unwrap();
    assert_eq!(report(&demo, &["link.html"]).code, 0);
    assert!(demo.read("old.html").starts_with(b"<!DOCTYPE html>"), "the file behind a link is written");
    assert!(fs::symlink_metadata(demo.place("link.html")).unwrap().is_symlink());
    let mode = fs::metadata(demo.place("old.html")).unwrap().permissions().mode();
    assert_eq!(mode & 0o400, 0o400);
    for (file, code) in [("_bmad", 2), ("missing/state.html", 4)] {
        let run = report(&demo, &[file]);
        assert_eq!((run.code, run.stdout.as_str()), (code, ""), "{run}");
        assert!(run.stderr.contains(file), "{run}");
    }
}
