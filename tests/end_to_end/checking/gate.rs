//! `stepmark gate`, `stepmark project` and `stepmark hook`: go on, or stop.

use std::path::Path;

use insta::assert_snapshot;

use crate::harness::{Repository, Run, Sandbox, demo::PRD, tool};

const STEP: &str = "step-04-journeys";

/// The demo, with gates switched on.
fn demo_with_gates() -> Sandbox {
    let demo = Sandbox::demo();
    demo.write(".stepmark/config.yaml", "gates: true\n");
    demo
}

fn has_gate(sandbox: &Sandbox, step: &str) -> bool {
    sandbox.place(&format!(".stepmark/gates/{PRD}/{step}.gate")).is_file()
}

#[test]
fn a_completed_step_opens_its_gate() {
    let demo = demo_with_gates();
    assert_snapshot!(demo.reads_only(&["gate", "check", PRD, STEP]), @r"
    exit 1
    ── stdout
    _bmad-output/planning-artifacts/prd.md: no: `step-04-journeys` is not done
    ");
    assert_eq!(demo.stepmark(&["complete", PRD, "4"]).code, 0);
    assert!(has_gate(&demo, STEP));
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
    let answer = demo.reads_only(&["gate", "check", PRD, "4", "--json"]).json("stepmark.gate-check/2");
    assert_eq!((&answer["open"], &answer["reason"]), (&true.into(), &serde_json::Value::Null));
    let list = demo.reads_only(&["gate", "list", PRD, "--json"]).json("stepmark.gates/2");
    let gates = list["gates"].as_array().unwrap();
    assert_eq!(gates.len(), 6, "every listed step has one");
    assert!(gates.iter().all(|gate| gate["open"] == true && gate["file"].is_string()), "{list}");

    assert_eq!(demo.stepmark(&["reopen", PRD, "4"]).code, 0);
    assert_eq!(demo.reads_only(&["gate", "check", PRD, STEP]).code, 1);
    assert!(!has_gate(&demo, STEP));
    assert_eq!(demo.reads_only(&["gate", "check", "docs/none.md", "1"]).code, 2);
    assert_eq!(demo.stepmark(&["remove", PRD, "--force", "--reason", "x"]).code, 0);
    assert!(!demo.place(".stepmark/gates/_bmad-output").exists(), "no empty folders are left");
}

#[test]
fn the_artifact_answers_whatever_gates_there_are() {
    let demo = demo_with_gates();
    assert_snapshot!(demo.stepmark(&["project", "--gates", "--files-manifest", "--catalogues"]), @r"
    exit 0
    ── stdout
    gates: 4 artifacts, 18 written, 0 removed, 0 unchanged
    files-manifest: 7 files, 1 written, 0 removed, 0 unchanged
    catalogues: 4 rows, 1 written, 0 removed, 0 unchanged
    ");
    demo.write(&format!(".stepmark/gates/{PRD}/step-05-domain.gate"), "");
    let text = String::from_utf8(demo.read(PRD)).unwrap();
    demo.write(PRD, text.replace("'step-03-success'", "'step-99-unknown'"));
    for (step, code) in [("1", 0), ("3", 1), ("5", 1), ("step-99-unknown", 0)] {
        assert_eq!(demo.reads_only(&["gate", "check", PRD, step]).code, code, "{step}");
    }
    assert_snapshot!(demo.reads_only(&["gate", "list", PRD]), @r"
    exit 0
    ── stdout
    STEP                        GATE        FILE
    step-01-init                open        step-01-init.gate
    step-02-discovery           open        step-02-discovery.gate
    step-02b-vision             open        step-02b-vision.gate
    step-02c-executive-summary  open        step-02c-executive-summary.gate
    step-99-unknown             open        -
    -                           not listed  step-03-success.gate
    -                           not listed  step-05-domain.gate
    ");
    let check = demo.reads_only(&["check", PRD, "--json"]).json("stepmark.check/1");
    let findings = check["findings"].as_array().unwrap();
    let of = |rule: &str| findings.iter().filter(|finding| finding["rule"] == rule).count();
    assert_eq!((of("gate-without-step"), of("step-without-gate")), (2, 1), "{check}");
    let rebuilt = demo.stepmark(&["project", "--gates", "--json"]).json("stepmark.project/1");
    assert_eq!(
        (&rebuilt["projections"][0]["written"], &rebuilt["projections"][0]["removed"]),
        (&1.into(), &2.into())
    );

    demo.write(PRD, "---\nstepsCompleted: [step-01-init\n---\n");
    assert_eq!(demo.reads_only(&["gate", "check", PRD, "1"]).code, 1);
    assert_eq!(demo.stepmark(&["project", "--gates"]).code, 0);
    assert!(!has_gate(&demo, "step-01-init"), "what cannot be read opens nothing");
}

#[test]
fn gates_are_made_where_they_are_switched_on() {
    let demo = Sandbox::demo();
    assert_eq!(demo.stepmark(&["complete", PRD, "4"]).code, 0);
    assert_eq!(demo.stepmark(&["project", "--files-manifest"]).code, 0);
    assert!(!demo.place(".stepmark/gates").exists());
    assert_eq!(demo.reads_only(&["gate", "check", PRD, "4"]).code, 0);
    // As an earlier version wrote it.
    demo.write(".stepmark/config.yaml", "gates: {days: 14}\n");
    assert_eq!(demo.stepmark(&["project", "--gates"]).code, 0);
    assert!(has_gate(&demo, STEP));
    demo.write(".stepmark/config.yaml", "gates: false\n");
    assert_snapshot!(demo.stepmark(&["project", "--gates"]), @r"
    exit 0
    ── stdout
    gates are off; `gates: true` in `.stepmark/config.yaml` switches them on
    gates: 0 artifacts, 0 written, 19 removed, 0 unchanged
    ");
    assert!(!has_gate(&demo, STEP));
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
    assert_eq!(open.json("stepmark.gate-check/2")["fence"], 2);
    assert_eq!(run("one", &["gate", "check", PRD, "3", "--exclusive"]).code, 3);
    assert_eq!(run("one", &["complete", PRD, "4"]).code, 3);
    assert_eq!(run("two", &["complete", PRD, "4"]).code, 0);
}

/// A repository with two branches: in `later` one more step is done.
fn repository(test: &str) -> Option<Repository> {
    let repository = Repository::of_demo(test)?;
    repository.sandbox.write(".stepmark/config.yaml", "gates: true\n");
    repository.sandbox.write(".gitignore", ".stepmark/\n");
    repository.commit("main");
    repository.git(&["checkout", "--quiet", "-b", "later"]);
    assert_eq!(repository.sandbox.stepmark(&["complete", PRD, "4"]).code, 0);
    repository.commit("later");
    Some(repository)
}

/// Git, where its hooks find `stepmark`.
fn git(repository: &Repository, arguments: &[&str]) {
    let run = repository.try_git_with_stepmark(arguments);
    assert_eq!(run.code, 0, "git {arguments:?}: {run}");
}

fn stepmark_in(repository: &Repository, folder: &Path, arguments: &[&str]) -> Run {
    repository.sandbox.run(repository.command(arguments).current_dir(folder))
}

fn gates(sandbox: &Sandbox) -> (bool, bool) {
    (has_gate(sandbox, "step-03-success"), has_gate(sandbox, STEP))
}

#[test]
fn the_hook_makes_gates_anew_after_a_checkout() {
    let Some(repository) = repository("gates after a checkout") else { return };
    let demo = &repository.sandbox;
    assert_eq!(demo.stepmark(&["project", "--gates"]).code, 0);
    git(&repository, &["checkout", "--quiet", "main"]);
    assert_eq!(gates(demo), (true, true), "git knows nothing of gates");

    demo.write(".git/hooks/post-checkout", "#!/bin/sh\necho \"$1\" >> ran.log\nexit 0\n");
    demo.write(".git/hooks/post-merge", "#!/usr/bin/env perl\nopen(F, '>>', 'merged.log'); print F 'x';\n");
    for name in ["post-checkout", "post-merge"] {
        let place = demo.place(&format!(".git/hooks/{name}"));
        std::fs::set_permissions(place, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let before = demo.read(".git/hooks/post-checkout");
    let gate_hooks = ["hook", "install", "post-checkout", "post-merge", "post-rewrite", "--json"];
    let installed = repository.stepmark(&gate_hooks[..5]);
    assert_snapshot!(installed, @r"
    exit 0
    ── stdout
    [ROOT]/.git/hooks/post-checkout: added; rebuilds gates
    [ROOT]/.git/hooks/post-merge: chained; rebuilds gates, and keeps the history that a merge got in the work tree
    [ROOT]/.git/hooks/post-rewrite: created; rebuilds gates
    ");
    let again = repository.stepmark(&gate_hooks).json("stepmark.hook/1");
    assert!(again["hooks"].as_array().unwrap().iter().all(|hook| hook["change"] == "unchanged"), "{again}");

    git(&repository, &["checkout", "--quiet", "later"]);
    assert_eq!(gates(demo), (true, true));
    git(&repository, &["checkout", "--quiet", "main"]);
    assert_eq!(gates(demo), (true, false));
    assert_eq!(
        String::from_utf8(demo.read("ran.log")).unwrap().lines().count(),
        2,
        "the hook that was there runs"
    );
    git(&repository, &["merge", "--quiet", "later"]);
    assert_eq!(gates(demo), (true, true));
    if tool("perl", "a chained hook").is_some() {
        assert_eq!(demo.read("merged.log"), b"x", "and the program that was set aside");
    }
    git(&repository, &["commit", "--quiet", "--amend", "-m", "again"]);

    let removed = repository.stepmark(&["hook", "uninstall", "--json"]).json("stepmark.hook/1");
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
    let Some(repository) = repository("hooks of worktrees") else { return };
    let demo = &repository.sandbox;
    git(&repository, &["checkout", "--quiet", "main"]);
    let tree = demo.outside().join("tree");
    git(&repository, &["worktree", "add", "--quiet", tree.to_str().unwrap(), "later"]);
    let installed = stepmark_in(&repository, &tree, &["hook", "install", "--all"]);
    assert_eq!(installed.code, 0, "{installed}");
    assert!(demo.place(".git/hooks/post-checkout").is_file(), "{installed}");
    git(&repository, &["-C", tree.to_str().unwrap(), "checkout", "--quiet", "--detach", "main"]);
    git(&repository, &["-C", tree.to_str().unwrap(), "checkout", "--quiet", "later"]);
    let check = stepmark_in(&repository, &tree, &["gate", "check", PRD, "4"]);
    assert_eq!(check.code, 0, "{check}");

    git(&repository, &["config", "core.hooksPath", ".husky"]);
    assert_eq!(repository.stepmark(&["hook", "install", "--all"]).code, 0);
    assert!(demo.place(".husky/post-rewrite").is_file());
    let foreign = demo.outside().join("hooks");
    std::fs::create_dir(&foreign).unwrap();
    git(&repository, &["config", "core.hooksPath", foreign.to_str().unwrap()]);
    let refused = repository.stepmark(&["hook", "install"]);
    assert!(refused.code == 1 && refused.stderr.contains("outside of this repository"), "{refused}");
    assert_eq!(std::fs::read_dir(foreign).unwrap().count(), 0);
    let nowhere = Sandbox::demo();
    let none = nowhere.run(nowhere.command(&["hook", "install"]).env("PATH", repository.search_path()));
    assert!(none.code == 1 && none.stderr.contains("in no git repository"), "{none}");
}

#[test]
fn some_gates_and_some_fields() {
    let demo = Sandbox::demo();
    demo.stepmark(&["complete", PRD, "4"]);
    let all = demo.stepmark(&["gate", "list", PRD, "--json"]).json("stepmark.gates/2");
    let count = all["gates"].as_array().unwrap().len();
    assert!(count > 1, "{all}");
    let some = demo.stepmark(&["gate", "list", PRD, "--limit", "1", "--fields", "file,open", "--json"]);
    let some = some.json("stepmark.gates/2");
    assert_eq!((some["gates"].as_array().unwrap().len(), &some["more"]), (1, &(count - 1).into()));
    assert_eq!(some["gates"][0].as_object().unwrap().len(), 2);
}
