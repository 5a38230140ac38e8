//! Specs of BMAD 6.11 and later, from draft to done.

use crate::harness::Repository;

const FOLDER: &str = "_bmad-output/implementation-artifacts";

const SPEC: &str = "---\ntitle: 'Lend' # what it is\ntype: 'feature' # feature | bugfix\nstatus: 'draft' # draft | done\n\
                    review_loop_iteration: 0\ncontext: []\n---\n# Lend\n";

/// A project with the skill `bmad-build` and a spec of the story 1.1.
fn project(test: &str) -> Option<(Repository, String)> {
    let repository = Repository::empty(test)?;
    let spec = format!("{FOLDER}/spec-1-1-lend.md");
    for step in ["step-02-plan", "step-03-implement", "step-04-review"] {
        repository.sandbox.write(&format!(".claude/skills/bmad-build/{step}.md"), "# A step\n");
    }
    repository.sandbox.write(&spec, SPEC);
    let ledger = "# ours\nlast_updated: 01-02-2026 10:00 # by hand\ndevelopment_status:\n  epic-1: backlog\n  1-1-lend: backlog # first\n";
    repository.sandbox.write(&format!("{FOLDER}/sprint-status.yaml"), ledger);
    repository.commit("begin");
    Some((repository, spec))
}

#[test]
fn a_spec_goes_from_draft_to_done_by_way_of_a_review_loop_a_deferred_finding_and_a_person() {
    let Some((repository, spec)) = project("specs") else { return };
    let run = |words: &[&str]| {
        let run = repository.stepmark(words);
        assert!(run.code == 0 || words[0] == "next", "{run}");
        run
    };
    let text = |path: &str| String::from_utf8(repository.sandbox.read(path)).unwrap();
    let ledger = || text(&format!("{FOLDER}/sprint-status.yaml"));
    for (state, step) in [
        ("ready-for-dev", "step-03-implement"),
        ("in-progress", "step-03-implement"),
        ("in-review", "step-04-review"),
        ("in-progress", "step-03-implement"),
        ("in-review", "step-04-review"),
    ] {
        run(&["transition", &spec, state]);
        let next = run(&["next", &spec]);
        assert!(next.stdout.contains(&format!("read .claude/skills/bmad-build/{step}.md")), "{next}");
    }
    let head = repository.git(&["rev-parse", "HEAD"]);
    assert!(text(&spec).contains(&format!("baseline_commit: '{}'", head.trim())), "{}", text(&spec));
    assert!(text(&spec).contains("review_loop_iteration: 1\n"), "{}", text(&spec));
    let finding = ["--summary", "Slow: # why", "--evidence", "`x` takes 900 ms", "--severity", "low"];
    run(&[&["defer", &*spec], &finding[..]].concat());
    assert!(
        text(&spec)
            .contains("  - summary: >-\n      Slow: # why\n    evidence: |-\n      `x` takes 900 ms\n")
    );
    assert!(ledger().contains("epic-1: in-progress\n  1-1-lend: in-progress # first\n"), "{}", ledger());
    assert!(!ledger().contains("01-02-2026") && ledger().contains("# by hand"), "{}", ledger());
    run(&["transition", &spec, "awaiting-operator"]);
    assert_eq!(repository.stepmark(&["next", &spec]).code, 0);
    assert!(run(&["list", "--waiting"]).stdout.contains("spec-1-1-lend"));
    run(&["transition", &spec, "done"]);
    assert!(ledger().contains("1-1-lend: review # first\n"), "{}", ledger());
    assert!(text(&spec).contains("status: 'done' # draft | done\n") && text(&spec).starts_with(&SPEC[..40]));
    let check = run(&["check"]);
    assert!(check.stdout.contains("0 errors, 0 warnings"), "{check}");
}

#[test]
fn the_baseline_is_written_once_and_the_sixth_loop_is_refused() {
    let Some((repository, spec)) = project("loops") else { return };
    let auto = SPEC
        .replace("context: []", "context: []\nbaseline_revision: abc\nfollowup_review_recommended: false");
    repository.sandbox.write(&spec, auto);
    let transition = |state: &str| repository.stepmark(&["transition", &spec, state]);
    for _ in 0..6 {
        assert_eq!(transition("in-progress").code, 0);
        assert_eq!(transition("in-review").code, 0);
    }
    let text = String::from_utf8(repository.sandbox.read(&spec)).unwrap();
    assert!(text.contains("baseline_revision: abc\n") && !text.contains("baseline_commit"), "{text}");
    let refused = transition("in-progress");
    assert!(refused.code == 1 && refused.stderr.contains("review_loop_iteration"), "{refused}");
    // Finished work that is looked at again begins to count anew.
    assert_eq!(transition("done").code, 0);
    assert_eq!(transition("in-review").code, 0);
    assert_eq!(transition("in-progress").code, 0);
    let text = String::from_utf8(repository.sandbox.read(&spec)).unwrap();
    assert!(text.contains("review_loop_iteration: 1\n"), "{text}");
}

#[test]
fn an_open_spec_whose_baseline_git_does_not_know_is_found() {
    let Some(repository) = Repository::empty("a baseline") else { return };
    let sandbox = &repository.sandbox;
    let path = "_bmad-output/implementation-artifacts/spec-fix.md";
    let write = |status: &str, baseline: &str| {
        let text = format!("---\nstatus: {status}\nbaseline_revision: {baseline}\n---\n# Fix\n");
        sandbox.write(path, text);
    };
    let head = repository.commit("start");
    let gone = "0123456789012345678901234567890123456789";
    for (status, baseline, is_found) in [
        ("in-progress", gone, true),
        ("in-review", "main; true", true),
        ("in-progress", &head, false),
        ("in-progress", "NO_VCS", false),
        ("done", gone, false),
    ] {
        write(status, baseline);
        // Twice, since what is clean is not looked at again.
        for _ in 0..2 {
            let run = repository.stepmark(&["check"]);
            assert_eq!(run.stdout.contains("SMB08"), is_found, "{status} {baseline}: {run}");
        }
    }
}
