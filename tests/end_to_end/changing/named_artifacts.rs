//! Names of artifacts on the command line: what is short and clear is understood, what names nothing ends
//! every command in the same way.

use std::fs;

use insta::assert_snapshot;

use crate::harness::{
    Sandbox,
    demo::{ARCHITECTURE, PRD, STORY},
};

/// Every command that takes an artifact, which `@` stands for, and the others that take the path of a file.
const ON_PATHS: &[&[&str]] = &[
    &["show", "@"],
    &["show", "context", "@"],
    &["next", "@"],
    &["check", "@"],
    &["reopen", "@", "1"],
    &["transition", "@"],
    &["transition", "@", "done"],
    &["set", "@", "a=b"],
    &["scope", "@", "small"],
    &["track", "@"],
    &["remove", "@"],
    &["resume", "@"],
    &["checkpoint", "@"],
    &["checkpoint", "list", "@"],
    &["restore", "@", "--from", "checkpoint.json"],
    &["restore", PRD, "--from", "@"],
    &["delegate", "@", "--to", "writer"],
    &["tree", "@"],
    &["tree", "--up", "@"],
    &["gate", "list", "@"],
    &["gate", "lease", "show", "@"],
    &["gate", "lease", "take", "@"],
    &["gate", "lease", "release", "@"],
    &["gate", "lease", "renew", "@"],
    &["project", "@"],
    &["project", "--ledgers", "@"],
    &["project", "--files-manifest", "@"],
    &["project", "manifest", "verify", "--file", "@"],
    &["import", "stories", "@"],
    &["import", "stories", "--dry-run", "@"],
    &["log", "@"],
    &["log", "at", "2036-01-31", "@"],
    &["log", "replay", "--verify", "@"],
    &["query", "--named", "history", "--param", "artifact=@"],
    &["sync", "retry", "@"],
    &["sync", "apply", "@"],
    &["sync", "adopt", "@"],
];

/// Those where a word that names no file may be a step.
const BESIDE_STEPS: &[&[&str]] =
    &[&["complete", "@", "1"], &["gate", "check", "@", "1"], &["gate", "check", "--verify", "@", "1"]];

fn arguments(command: &[&'static str], name: &str) -> Vec<String> {
    command.iter().map(|word| word.replace('@', name)).collect()
}

#[test]
fn what_names_no_file_ends_every_command_with_2_and_is_named() {
    let demo = Sandbox::demo();
    demo.write(".stepmark/config.yaml", "project_id: demo\ntrackers: {file: {path: out/tickets.jsonl}}\n");
    let path = "docs/absent.md";
    for command in ON_PATHS.iter().chain(BESIDE_STEPS) {
        let arguments = arguments(command, path);
        let run = demo.stepmark(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{arguments:?}: {run}");
        let names_it = run.stderr.starts_with("error: ") && run.stderr.contains(path);
        assert!(names_it || arguments.contains(&"checkpoint.json".to_owned()), "{arguments:?}: {run}");
    }
    assert!(!demo.place("docs").exists());
}

#[test]
fn what_is_gone_but_was_an_artifact_can_be_asked_for() {
    let demo = Sandbox::demo();
    demo.write("docs/gone.md", "---\nstepsCompleted: [1]\n---\n");
    assert_eq!(demo.stepmark(&["complete", "docs/gone.md", "2"]).code, 0);
    fs::remove_file(demo.place("docs/gone.md")).unwrap();
    for (command, code) in [
        (&["log", "@"][..], 0),
        (&["log", "at", "2036-01-31", "@"], 0),
        (&["log", "replay", "--verify", "@"], 1),
        (&["query", "--named", "history", "--param", "artifact=@"], 0),
        (&["project", "@"], 0),
        // Its state is known; no workflow is.
        (&["resume", "@"], 1),
        (&["checkpoint", "list", "@"], 0),
        (&["show", "@"], 2),
        (&["complete", "@", "3"], 2),
        (&["gate", "check", "@", "2"], 2),
    ] {
        let arguments = arguments(command, "docs/gone.md");
        let run = demo.stepmark(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(run.code, code, "{arguments:?}: {run}");
    }
}

#[test]
fn a_short_name_is_enough_everywhere() {
    let demo = Sandbox::demo();
    for (name, path) in
        [("prd", PRD), ("planning-artifacts/prd", PRD), ("1-1", STORY), ("1.1", STORY), ("1-1-b", STORY)]
    {
        assert_eq!(demo.reads_only(&["show", name]), demo.reads_only(&["show", path]));
    }
    let is_on_artifact = |command: &&&[&'static str]| {
        !["hook", "sync", "restore", "remove"].contains(&command[0]) && !command.contains(&"manifest")
    };
    for command in ON_PATHS.iter().filter(is_on_artifact).chain(BESIDE_STEPS) {
        let run = |name: &str| {
            let arguments = arguments(command, name);
            Sandbox::demo().stepmark(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let (short, whole) = (run("arch"), run(ARCHITECTURE));
        // Times and ids of events differ from run to run.
        assert_eq!(short.code, whole.code, "{command:?}: {short}");
        assert_eq!(short.stdout.lines().count(), whole.stdout.lines().count(), "{short}{whole}");
        assert!(!short.stderr.contains("there is no file"), "{command:?}: {short}");
    }
}

#[test]
fn what_may_be_several_is_refused_and_they_are_named() {
    let demo = Sandbox::demo();
    for name in ["prd-shop", "prd-home"] {
        demo.write(&format!("docs/{name}.md"), "---\nstepsCompleted: [1]\n---\n");
    }
    assert_eq!(demo.reads_only(&["show", "prd"]).code, 0, "the whole name comes first");
    assert_eq!(demo.reads_only(&["show", "prd-s"]).code, 0);
    assert_snapshot!(demo.reads_only(&["show", "pr"]), @r"
    exit 2
    ── stderr
    error: `pr` may be any of 4 artifacts
      help: say more of its path: `_bmad-output/planning-artifacts/prd.md`, `_bmad-output/planning-artifacts/product-brief-toolshed-2026-01-14.md`, `docs/prd-home.md`, `docs/prd-shop.md`
    ");
    assert_eq!(demo.reads_only(&["complete", "pr", "4"]).code, 2);
}
