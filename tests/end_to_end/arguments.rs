//! The command line itself: help, version, and what makes no sense.

use insta::assert_snapshot;

use crate::harness::{Sandbox, demo::PRD};

/// Every command of the program.
pub(crate) const COMMANDS: &[&str] = &[
    "init",
    "status",
    "list",
    "show",
    "next",
    "complete",
    "reopen",
    "transition",
    "set",
    "scope",
    "track",
    "undo",
    "session",
    "resume",
    "checkpoint",
    "restore",
    "exec",
    "doctor",
    "delegate",
    "tree",
    "gate",
    "lease",
    "project",
    "import",
    "query",
    "hook",
    "check",
    "explain",
    "log",
    "at",
    "diff",
    "replay",
    "journal",
    "lifecycle",
    "sync",
    "report",
    "serve",
    "board",
    "manifest",
    "config",
    "context",
    "instructions",
    "completions",
    "man",
];

#[test]
fn help_lists_every_command_and_each_has_its_own() {
    let demo = Sandbox::demo();
    let help = demo.reads_only(&["--help"]);
    assert_eq!((help.code, help.stderr.as_str()), (0, ""));
    for command in COMMANDS.iter().copied() {
        assert!(help.stdout.contains(&format!("\n  {command} ")), "{command} in {help}");
        let own = demo.reads_only(&[command, "--help"]);
        assert_eq!((own.code, own.stderr.as_str()), (0, ""), "{command}");
        assert!(own.stdout.contains(&format!("Usage: stepmark {command}")), "{own}");
        for option in ["--root", "--json", "--color", "--quiet"] {
            assert!(own.stdout.contains(option), "{option} in {own}");
        }
    }
    let listed = help.stdout.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("  help"));
    assert_eq!(listed.count(), COMMANDS.len(), "{help}");
}

#[test]
fn says_its_version() {
    let run = Sandbox::empty().reads_only(&["--version"]);
    assert_eq!(run.to_string(), format!("exit 0\n── stdout\nstepmark {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn what_makes_no_sense_ends_with_2() {
    let demo = Sandbox::demo();
    for arguments in [
        &["stauts"][..],
        &[],
        &["show"],
        &["complete", PRD],
        &["set", PRD],
        &["track"],
        &["status", "--color", "pink"],
        &["status", "--nonsense"],
        &["status", "extra"],
        &["completions", "tcsh"],
        &["man", "stauts"],
        &["--root"],
    ] {
        let run = demo.reads_only(arguments);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{arguments:?}: {run}");
        assert!(!run.stderr.is_empty());
    }
    assert_snapshot!(demo.reads_only(&["stauts"]), @r"
    exit 2
    ── stderr
    error: unrecognized subcommand 'stauts'

      tip: a similar subcommand exists: 'status'

    Usage: stepmark [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ");
    assert_snapshot!(demo.reads_only(&["complete", PRD]), @r"
    exit 2
    ── stderr
    error: the following required arguments were not provided:
      <STEPS>...

    Usage: stepmark complete <ARTIFACT> <STEPS>...

    For more information, try '--help'.
    ");
}
