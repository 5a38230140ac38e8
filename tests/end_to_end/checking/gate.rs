//! `stepmark gate`, `stepmark project` and `stepmark hook`: go on, or stop.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use insta::assert_snapshot;

use crate::harness::{Sandbox, demo::PRD, tool};

const STEP: &str = "step-04-journeys";

#[test]
fn a_completed_step_opens_its_gate() {
    let demo = Sandbox::demo();
    assert_snapshot!(demo.reads_only(&["gate", "check", PRD, STEP]), @r"
    exit 1
    ── stdout
    _bmad-output/planning-artifacts/prd.md: no: `step-04-journeys` is not done
    ");
    assert_eq!(demo.reads_only(&["gate", "list", PRD]).code, 0);
    assert_eq!(demo.stepmark(&["complete", PRD, "4"]).code, 0);
    assert!(demo.place(&format!(".stepmark/gates/{PRD}/{STEP}.gate")).is_file());
    for step in [STEP, "4", "04", "step-04-journeys.md"] {
        for tier in [&[][..], &["--verify"]] {
            let run = demo.reads_only(&[&["gate", "check", PRD, step], tier].concat());
            assert_eq!(run.code, 0, "{step} {tier:?}: {run}");
        }
    }
    assert_snapshot!(demo.reads_only(&["gate", "check", PRD, "5"]), @r"
    exit 1
    ── stdout
    _bmad-output/planning-artifacts/prd.md: no: `step-05-domain` is not done
    ");
    assert_snapshot!(demo.reads_only(&["gate", "check", PRD, "5", "--verify"]), @r"
    exit 1
    ── stdout
    _bmad-output/planning-artifacts/prd.md: no: `step-05-domain` is not done
    ");
    let answer = demo.reads_only(&["gate", "check", PRD, "4", "--json"]).json("stepmark.gate-check/1");
    assert_eq!((answer["open"].as_bool(), answer["tier"].as_u64()), (Some(true), Some(1)));
    assert_eq!(answer["gate"]["event"].as_str().unwrap().len(), 32);
    let list = demo.reads_only(&["gate", "list", PRD, "--json"]).json("stepmark.gates/1");
    assert_eq!(list["gates"].as_array().unwrap().len(), 6, "every listed step has one");
    assert!(list["gates"].as_array().unwrap().iter().all(|gate| gate["open"] == true));

    assert_eq!(demo.stepmark(&["reopen", PRD, "4"]).code, 0);
    assert_eq!(demo.reads_only(&["gate", "check", PRD, STEP]).code, 1);
    assert!(!demo.place(&format!(".stepmark/gates/{PRD}/{STEP}.gate")).exists());
    assert_eq!(demo.reads_only(&["gate", "check", "docs/none.md", "1"]).code, 2);
    assert_eq!(demo.reads_only(&["gate", "check", "docs/none.md", "1", "--verify"]).code, 2);
}

#[test]
fn a_copy_of_a_gate_opens_no_other_step() {
    let demo = Sandbox::demo();
    assert_eq!(demo.stepmark(&["complete", PRD, "4"]).code, 0);
    let gate = |step: &str| format!(".stepmark/gates/{PRD}/{step}.gate");
    let bytes = std::fs::read(demo.place(&gate(STEP))).unwrap();
    for step in ["step-05-domain", "5"] {
        std::fs::write(demo.place(&gate(step)), &bytes).unwrap();
        let run = demo.reads_only(&["gate", "check", PRD, step]);
        assert_eq!(run.code, 1, "{run}");
    }
    assert_eq!(demo.reads_only(&["gate", "check", PRD, "4"]).code, 0);
    assert_eq!(demo.stepmark(&["project", "--gates"]).code, 0);
    assert!(!demo.place(&gate("step-05-domain")).exists());
}

#[test]
fn an_edit_closes_all_gates_until_they_are_rebuilt() {
    let demo = Sandbox::demo();
    assert_snapshot!(demo.stepmark(&["project", "--gates", "--files-manifest", "--catalogues"]), @r"
    exit 0
    ── stdout
    gates: 3 artifacts, 12 written, 0 removed, 0 unchanged
    files-manifest: 7 files, 1 written, 0 removed, 0 unchanged
    catalogues: 4 rows, 1 written, 0 removed, 0 unchanged
    ");
    assert_eq!(demo.reads_only(&["gate", "check", PRD, "1"]).code, 0);
    let text = String::from_utf8(demo.read(PRD)).unwrap();
    demo.write(PRD, text.replace("'step-03-success'", "'step-99-unknown'"));
    assert_snapshot!(demo.reads_only(&["gate", "check", PRD, "1"]), @r"
    exit 1
    ── stdout
    _bmad-output/planning-artifacts/prd.md: no: `1`: the artifact was changed after the gate was written: `--verify` looks into it, `stepmark project` rebuilds the gates
    ");
    assert_eq!(demo.reads_only(&["gate", "check", PRD, "1", "--verify"]).code, 0);
    assert_eq!(demo.reads_only(&["gate", "check", PRD, "3", "--verify"]).code, 1);
    let check = demo.reads_only(&["check", PRD, "--json"]).json("stepmark.check/1");
    let rules: Vec<_> = check["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["rule"].as_str().unwrap())
        .collect();
    assert!(rules.contains(&"gate-without-step") && rules.contains(&"step-without-gate"), "{rules:?}");
    let rebuilt = demo.stepmark(&["project", "--gates", "--json"]).json("stepmark.project/1");
    assert_eq!(rebuilt["projections"][0]["removed"], 1);
    assert_eq!(demo.reads_only(&["gate", "check", PRD, "1"]).code, 0);
    assert_eq!(demo.reads_only(&["gate", "check", PRD, "3"]).code, 1);
}

#[test]
fn without_a_session_completing_gives_the_lease_of_its_step_back() {
    let demo = Sandbox::demo();
    let run = |arguments: &[&str]| demo.run(demo.command(arguments).env("STEPMARK_ACTOR", "agent:writer"));
    for step in ["3", "4"] {
        let asked = run(&["gate", "check", PRD, step, "--exclusive"]);
        assert_eq!(asked.code, 0, "{asked}");
        let next = (step.parse::<u32>().unwrap() + 1).to_string();
        assert_eq!(run(&["complete", PRD, &next]).code, 0);
    }
    // Two processes of one name exclude each other.
    assert_eq!(run(&["gate", "check", PRD, "5", "--exclusive"]).code, 0);
    let again = run(&["gate", "check", PRD, "5", "--exclusive"]);
    assert!(again.code == 3 && again.stderr.contains("gate lease release"), "{again}");
    assert_eq!(run(&["gate", "lease", "release", PRD]).code, 0);
    // A lease that was taken for more than a step stays.
    assert_eq!(run(&["gate", "lease", "take", PRD]).code, 0);
    assert_eq!(run(&["complete", PRD, "6"]).code, 0);
    assert_eq!(run(&["gate", "lease", "take", PRD]).code, 3);
}

#[test]
fn an_exclusive_answer_takes_the_lease() {
    let demo = Sandbox::demo();
    let run = |name: &str, arguments: &[&str]| {
        demo.run(
            demo.command(arguments)
                .env("STEPMARK_SESSION", name)
                .env("STEPMARK_ACTOR", format!("agent:{name}")),
        )
    };
    let closed = run("one", &["gate", "check", PRD, "9", "--exclusive"]);
    assert_eq!(closed.code, 1, "{closed}");
    let open = run("two", &["gate", "check", PRD, "3", "--exclusive", "--json"]);
    assert_eq!(open.code, 0, "a closed gate keeps no lease: {open}");
    let answer = open.json("stepmark.gate-check/1");
    assert_eq!((answer["tier"].as_u64(), answer["fence"].as_u64()), (Some(3), Some(2)));
    assert_eq!(run("one", &["gate", "check", PRD, "3", "--exclusive"]).code, 3);
    assert_eq!(run("one", &["complete", PRD, "4"]).code, 3);
    assert_eq!(run("two", &["complete", PRD, "4"]).code, 0);
}

/// Git in a sandbox, with the program on its search path.
struct Git {
    program: PathBuf,
    path: String,
}

impl Git {
    fn find(test: &str) -> Option<Self> {
        let program = tool("git", test)?;
        let own = Path::new(env!("CARGO_BIN_EXE_stepmark")).parent().unwrap();
        let system = std::env::var("PATH").unwrap_or_default();
        Some(Self { program, path: format!("{}:{system}", own.display()) })
    }

    fn run_in(&self, sandbox: &Sandbox, folder: &Path, arguments: &[&str]) -> String {
        let mut command = Command::new(&self.program);
        sandbox.isolate(&mut command);
        command
            .current_dir(folder)
            .env("PATH", &self.path)
            .args([
                "-c",
                "user.name=Ada",
                "-c",
                "user.email=ada@example.org",
                "-c",
                "init.defaultBranch=main",
            ])
            .args(arguments);
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(
            output.status.success(),
            "git {arguments:?}: {}{}",
            text(&output.stdout),
            text(&output.stderr)
        );
        text(&output.stdout)
    }

    fn run(&self, sandbox: &Sandbox, arguments: &[&str]) -> String {
        self.run_in(sandbox, sandbox.root(), arguments)
    }

    /// `stepmark ARGUMENTS…` where git can be found.
    fn stepmark(&self, sandbox: &Sandbox, folder: &Path, arguments: &[&str]) -> crate::harness::Run {
        sandbox.run(sandbox.command(arguments).current_dir(folder).env("PATH", &self.path))
    }

    /// A repository with two branches: in `later` one more step is done.
    fn repository(&self) -> Sandbox {
        let demo = Sandbox::demo();
        demo.write(".gitignore", ".stepmark/\n");
        self.run(&demo, &["init", "--quiet"]);
        for (branch, step) in [("main", None), ("later", Some("4"))] {
            if let Some(step) = step {
                self.run(&demo, &["checkout", "--quiet", "-b", branch]);
                assert_eq!(demo.stepmark(&["complete", PRD, step]).code, 0);
            }
            self.run(&demo, &["add", "--all"]);
            self.run(&demo, &["commit", "--quiet", "-m", branch]);
        }
        demo
    }
}

fn code(sandbox: &Sandbox, step: &str) -> i32 {
    sandbox.reads_only(&["gate", "check", PRD, step]).code
}

#[test]
fn a_checkout_closes_gates_and_the_hook_opens_those_that_are_true() {
    let Some(git) = Git::find("gates after a checkout") else { return };
    let demo = git.repository();
    assert_eq!((code(&demo, "3"), code(&demo, "4")), (0, 0));
    git.run(&demo, &["checkout", "--quiet", "main"]);
    assert_eq!((code(&demo, "3"), code(&demo, "4")), (1, 1), "closed, though step 3 is done here too");

    demo.write(".git/hooks/post-checkout", "#!/bin/sh\necho \"$1\" >> ran.log\nexit 0\n");
    demo.write(".git/hooks/post-merge", "#!/usr/bin/env perl\nopen(F, '>>', 'merged.log'); print F 'x';\n");
    for name in ["post-checkout", "post-merge"] {
        let place = demo.place(&format!(".git/hooks/{name}"));
        std::fs::set_permissions(place, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let before = demo.read(".git/hooks/post-checkout");
    let gate_hooks = ["hook", "install", "post-checkout", "post-merge", "post-rewrite", "--json"];
    let installed = git.stepmark(&demo, demo.root(), &gate_hooks[..5]);
    assert_snapshot!(installed, @r"
    exit 0
    ── stdout
    [ROOT]/.git/hooks/post-checkout: added; rebuilds gates
    [ROOT]/.git/hooks/post-merge: chained; rebuilds gates, and keeps the history that a merge got in the work tree
    [ROOT]/.git/hooks/post-rewrite: created; rebuilds gates
    ");
    let again = git.stepmark(&demo, demo.root(), &gate_hooks).json("stepmark.hook/1");
    assert!(again["hooks"].as_array().unwrap().iter().all(|hook| hook["change"] == "unchanged"), "{again}");

    git.run(&demo, &["checkout", "--quiet", "later"]);
    assert_eq!((code(&demo, "3"), code(&demo, "4")), (0, 0));
    git.run(&demo, &["checkout", "--quiet", "main"]);
    assert_eq!((code(&demo, "3"), code(&demo, "4")), (0, 1));
    assert_eq!(
        String::from_utf8(demo.read("ran.log")).unwrap().lines().count(),
        2,
        "the hook that was there runs"
    );
    git.run(&demo, &["merge", "--quiet", "later"]);
    assert_eq!((code(&demo, "3"), code(&demo, "4")), (0, 0));
    if tool("perl", "a chained hook").is_some() {
        assert_eq!(demo.read("merged.log"), b"x", "and the program that was set aside");
    }
    git.run(&demo, &["commit", "--quiet", "--amend", "-m", "again"]);

    let removed = git.stepmark(&demo, demo.root(), &["hook", "uninstall", "--json"]).json("stepmark.hook/1");
    let changes = removed["hooks"].as_array().unwrap().iter().map(|hook| hook["change"].as_str().unwrap());
    let expected =
        ["unchanged", "unchanged", "unchanged", "unchanged", "removed", "removed", "removed", "unchanged"];
    assert!(changes.eq(expected), "{removed}");
    assert_eq!(demo.read(".git/hooks/post-checkout"), before);
    assert!(String::from_utf8(demo.read(".git/hooks/post-merge")).unwrap().contains("perl"));
    assert!(!demo.place(".git/hooks/post-rewrite").exists());
}

#[test]
fn hooks_are_found_from_a_worktree_and_by_core_hooks_path() {
    let Some(git) = Git::find("hooks of worktrees") else { return };
    let demo = git.repository();
    git.run(&demo, &["checkout", "--quiet", "main"]);
    let tree = demo.outside().join("tree");
    git.run(&demo, &["worktree", "add", "--quiet", tree.to_str().unwrap(), "later"]);
    let installed = git.stepmark(&demo, &tree, &["hook", "install", "--all"]);
    assert_eq!(installed.code, 0, "{installed}");
    assert!(demo.place(".git/hooks/post-checkout").is_file(), "{installed}");
    git.run_in(&demo, &tree, &["checkout", "--quiet", "--detach", "main"]);
    git.run_in(&demo, &tree, &["checkout", "--quiet", "later"]);
    let check = git.stepmark(&demo, &tree, &["gate", "check", PRD, "4"]);
    assert_eq!(check.code, 0, "{check}");

    git.run(&demo, &["config", "core.hooksPath", ".husky"]);
    assert_eq!(git.stepmark(&demo, demo.root(), &["hook", "install", "--all"]).code, 0);
    assert!(demo.place(".husky/post-rewrite").is_file());
    let foreign = demo.outside().join("hooks");
    std::fs::create_dir(&foreign).unwrap();
    git.run(&demo, &["config", "core.hooksPath", foreign.to_str().unwrap()]);
    let refused = git.stepmark(&demo, demo.root(), &["hook", "install"]);
    assert!(refused.code == 1 && refused.stderr.contains("outside of this repository"), "{refused}");
    assert_eq!(std::fs::read_dir(foreign).unwrap().count(), 0);
    let nowhere = Sandbox::demo();
    let none = git.stepmark(&nowhere, nowhere.root(), &["hook", "install"]);
    assert!(none.code == 1 && none.stderr.contains("in no git repository"), "{none}");
}

#[test]
fn some_gates_and_some_fields() {
    let demo = Sandbox::demo();
    demo.stepmark(&["complete", PRD, "4"]);
    let all = demo.stepmark(&["gate", "list", PRD, "--json"]).json("stepmark.gates/1");
    let count = all["gates"].as_array().unwrap().len();
    assert!(count > 1, "{all}");
    let some = demo.stepmark(&["gate", "list", PRD, "--limit", "1", "--fields", "file,open", "--json"]);
    let some = some.json("stepmark.gates/1");
    assert_eq!((some["gates"].as_array().unwrap().len(), &some["more"]), (1, &(count - 1).into()));
    assert_eq!(some["gates"][0].as_object().unwrap().len(), 2);
}
