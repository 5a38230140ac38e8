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
    "remove",
    "undo",
    "session",
    "asdd",
    "autodev",
    "task",
    "coordination",
    "flow",
    "memory",
    "mcp",
    "resume",
    "checkpoint",
    "restore",
    "exec",
    "doctor",
    "delegate",
    "tree",
    "gate",
    "project",
    "import",
    "query",
    "hook",
    "check",
    "explain",
    "log",
    "lifecycle",
    "sync",
    "report",
    "serve",
    "board",
    "config",
    "instructions",
    "completions",
    "man",
    "schema",
    "help",
];

/// Old names of parts of other commands, as arguments, with what they are called now.
const OLD_NAMES: &[(&[&str], &[&str])] = &[
    (&["at", "2026-01-31", PRD], &["log", "at", "2026-01-31", PRD]),
    (&["diff", "one", "two"], &["log", "diff", "one", "two"]),
    (&["replay", "--verify"], &["log", "replay", "--verify"]),
    (&["journal", "status"], &["log", "journal", "status"]),
    (&["lease", "show", PRD], &["gate", "lease", "show", PRD]),
    (&["manifest", "verify"], &["project", "manifest", "verify"]),
    (&["context", PRD], &["show", "context", PRD]),
    (&["context"], &["show", "context"]),
];

#[test]
fn help_lists_ten_commands_by_task_and_with_all_every_command() {
    let demo = Sandbox::demo();
    let first = demo.reads_only(&["--help"]);
    assert_eq!((first.code, first.stderr.as_str()), (0, ""));
    assert_snapshot!(first.stdout, @r"
    Reads, checks and changes the frontmatter state of agentic workflows:
    losslessly, atomically, provably

    Usage: stepmark [OPTIONS] <COMMAND>

    See where the work stands:
      status        Show what is done, what comes next and what is wrong
      next          Print the next step of an artifact and the file to read for it
      show          Show one artifact: its state, its workflow and its steps
      log           Show what happened, the latest first

    Record work:
      complete      Add steps to the completed ones of an artifact
      transition    Move an artifact's status; without STATE, list the legal moves
      import        Bring what other files say into frontmatter, after asking

    Keep it right:
      check         Find what is unreadable, what is odd, and what disagrees
      hook          Let git check commits and pushes, and rebuild gates

    Share it:
      sync          Keep tickets in step with artifacts, one way

    Options:
          --root <DIR>          Folder of the project; without it the nearest folder
                                above with `.stepmark/config.yaml`, `_bmad/` or
                                `.git`
          --config <KEY=VALUE>  Give a key of the configuration a value for this
                                run: `lease.seconds=60`, `settings.user_name=Ada`
          --actor <KIND:NAME>   Who acts: `agent:NAME`, `human:NAME` or `tool:NAME`;
                                without it `STEPMARK_ACTOR`, else the user
          --session <ID>        The session that the command belongs to; without it
                                `STEPMARK_SESSION`
          --json                Print JSON with a versioned schema
          --color <WHEN>        When to use colours [default: auto] [possible
                                values: auto, always, never]
      -q, --quiet               Print findings and errors only
      -h, --help                Print help
      -V, --version             Print version

    All commands with examples: `stepmark help --all`; one: `stepmark help COMMAND`
    ");
    assert_eq!(demo.reads_only(&["help"]), first);
    let all = demo.reads_only(&["help", "--all"]);
    assert_eq!((all.code, all.stderr.as_str()), (0, ""));
    for command in COMMANDS.iter().copied() {
        assert!(all.stdout.contains(&format!("\n  {command} ")), "{command} in {all}");
        let is_example = |line: &&str| {
            let mut words = line.split_whitespace();
            line.starts_with(&" ".repeat(16))
                && words.next() == Some("stepmark")
                && words.next() == Some(command)
        };
        assert_eq!(all.stdout.lines().filter(is_example).count(), 2, "{command} in {all}");
        let own = demo.reads_only(&[command, "--help"]);
        assert_eq!((own.code, own.stderr.as_str()), (0, ""), "{command}");
        assert!(own.stdout.contains(&format!("Usage: stepmark {command}")), "{own}");
        assert!(own.stdout.contains("\nExamples:\n  stepmark "), "{own}");
        for option in ["--root", "--json", "--color", "--quiet"] {
            assert!(own.stdout.contains(option), "{option} in {own}");
        }
        assert_eq!(demo.reads_only(&["help", command]), own);
    }
    for line in first.stdout.lines().chain(all.stdout.lines()) {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn old_names_are_hidden_and_go_on_working() {
    let demo = Sandbox::demo();
    demo.stepmark(&["complete", PRD, "4"]);
    let all = demo.reads_only(&["help", "--all"]).stdout;
    for (old, new) in OLD_NAMES {
        assert!(!all.contains(&format!("\n  {} ", old[0])), "{} in {all}", old[0]);
        let (old, new) = (demo.stepmark(old), demo.stepmark(new));
        assert_eq!(old, new);
        assert!(!old.stderr.contains("unexpected argument"), "{old}");
    }
    // A part and what stands for itself are not mixed up.
    assert_eq!(demo.stepmark(&["log", PRD, "at"]).code, 2);
    assert_eq!(demo.stepmark(&["log", "--json", "at", "2026-01-31", PRD]).code, 2);
    assert_eq!(demo.stepmark(&["log", "at", "--json", "2036-01-31", PRD]).code, 0);
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
        &["help", "stauts"],
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
    error: name a step of `_bmad-output/planning-artifacts/prd.md`
      help: the next one is `step-04-journeys`
    ");
}
