//! Streams that take nothing: a full disk behind `>`, a reader that has seen enough.
#![cfg(target_os = "linux")]

use std::{fs, process::Stdio};

use insta::assert_snapshot;

use crate::harness::{Sandbox, demo::PRD};

/// Runs `stepmark ARGUMENTS…` with stdout on a device that is full.
fn onto_full_device(sandbox: &Sandbox, arguments: &[&str]) -> (Option<i32>, String) {
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = sandbox.command(arguments).stdout(full).stderr(Stdio::piped()).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn an_answer_that_cannot_be_written_is_an_error() {
    let demo = Sandbox::demo();
    for arguments in [
        &["status"][..],
        &["status", "--json"],
        &["show", PRD],
        &["next", PRD],
        &["check"],
        &["completions", "bash"],
        &["man"],
        &["init"],
    ] {
        let (code, stderr) = onto_full_device(&demo, arguments);
        assert_eq!(code, Some(4), "{arguments:?}: {stderr}");
        assert!(
            stderr.contains("cannot write the result: No space left on device"),
            "{arguments:?}: {stderr}"
        );
    }
    assert_eq!(onto_full_device(&Sandbox::empty(), &["status", "-q"]).0, Some(0), "nothing to say");
}

#[test]
fn a_change_stands_though_its_answer_is_lost() {
    let demo = Sandbox::demo();
    let (code, stderr) = onto_full_device(&demo, &["complete", PRD, "4"]);
    assert_snapshot!(stderr, @r"
    error: cannot write the result: No space left on device (os error 28)
      help: only the answer is lost: what the command did stands
    ");
    assert_eq!(code, Some(4));
    assert!(String::from_utf8(demo.read(PRD)).unwrap().contains("step-04-journeys"));
}

#[test]
fn an_error_that_cannot_be_written_still_has_its_code() {
    let demo = Sandbox::demo();
    let full = || fs::File::options().write(true).open("/dev/full").unwrap();
    for (arguments, code) in
        [(&["show", "absent.md"][..], 2), (&["next", "README.md"], 2), (&["set", PRD, "x"], 2)]
    {
        let status = demo.command(arguments).stdout(Stdio::null()).stderr(full()).status().unwrap();
        assert_eq!(status.code(), Some(code), "{arguments:?}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let demo = Sandbox::demo();
    for arguments in [
        &["status"][..],
        &["status", "--json"],
        &["check"],
        &["completions", "bash"],
        &["--help"],
        &["--version"],
        &["check", "--help"],
        &["help", "--all"],
        &["man"],
        &["schema"],
        &["explain"],
        &["log"],
        &["query", "SELECT path FROM artifacts"],
        &["show", PRD],
    ] {
        let mut child =
            demo.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(matches!(output.status.code(), Some(0 | 1)), "{arguments:?}: {:?} {stderr}", output.status);
        assert_eq!(stderr, "", "{arguments:?}");
    }
}
