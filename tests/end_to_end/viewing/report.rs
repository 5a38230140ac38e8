//! `stepmark report`

use std::{
    fs,
    os::unix::fs::{FileTypeExt as _, PermissionsExt as _},
    process::{Command, Stdio},
};

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
        (0, "state.html: 1 of 7 artifacts done, 5 to go on with, 1 waiting, 2 errors, 1 warning\n", "")
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
    assert_eq!(report(&demo, &["out/old.html"]).code, 0, "its folder is made");
    let page = demo.read("out/old.html");
    demo.write("docs/empty.html", "");
    std::os::unix::fs::symlink("out/old.html", demo.place("link.html")).unwrap();
    fs::set_permissions(demo.place("out/old.html"), fs::Permissions::from_mode(0o600)).unwrap();
    demo.write("_bmad-output/planning-artifacts/later.md", "---\nstatus: draft\n---\n");
    for file in ["link.html", "docs/empty.html"] {
        assert_eq!(report(&demo, &[file]).code, 0);
    }
    assert_ne!(demo.read("out/old.html"), page, "the file behind a link is written");
    assert!(fs::symlink_metadata(demo.place("link.html")).unwrap().is_symlink());
    let mode = fs::metadata(demo.place("out/old.html")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "whoever could not read it cannot now");
}

#[test]
fn what_is_no_page_is_left_alone() {
    let demo = Sandbox::demo();
    demo.write("notes.html", "<!DOCTYPE html><title>Mine</title>");
    demo.write("settings.yaml", "a: 1\n");
    std::os::unix::fs::symlink("notes.html", demo.place("link.html")).unwrap();
    let before = demo.tree();
    let artifact = "_bmad-output/planning-artifacts/architecture.md";
    for file in [artifact, "settings.yaml", "notes.html", "link.html", "_bmad"] {
        let run = report(&demo, &[file]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run}");
        assert!(run.stderr.contains(file), "{run}");
        before.assert_same(&demo.tree(), &run);
    }
    let run = report(&demo, &["notes.html/state.html"]);
    assert_eq!((run.code, run.stdout.as_str()), (4, ""), "{run}");
}

#[test]
fn a_page_goes_where_bytes_are_taken() {
    let demo = Sandbox::demo();
    let before = demo.tree();
    let page = report(&demo, &["-"]);
    assert!(page.code == 0 && page.stdout.starts_with("<!DOCTYPE html>") && page.stderr.is_empty(), "{page}");
    assert!(page.stdout.ends_with("</html>\n"));
    // Not tried on `/dev/null`: what failed there would take it from the machine.
    let pipe = demo.place("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = Command::new("cat").arg(&pipe).stdout(Stdio::piped()).spawn().unwrap();
    let piped = report(&demo, &["pipe"]);
    assert_eq!((piped.code, piped.stderr.as_str()), (0, ""), "{piped}");
    assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
    assert_eq!(reader.wait_with_output().unwrap().stdout, page.stdout.as_bytes());
    fs::remove_file(&pipe).unwrap();
    before.assert_same(&demo.tree(), &piped);
}
