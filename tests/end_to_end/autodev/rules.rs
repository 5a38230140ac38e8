//! `stepmark check` on the state file.

use std::fs;

use insta::assert_snapshot;

use super::{FILE, PLAN, add_files, autodev, empty, text, with};
use crate::harness::{Repository, Run};

/// The rules that were broken.
fn ids(run: &Run) -> Vec<String> {
    let answer = run.json("stepmark.check/1");
    let findings = answer["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn each_value_has_its_rule() {
    for (from, to, expected) in [
        ("", "", &[][..]),
        ("## Current Step\n", "", &["SMD01"]),
        ("## Current Step\n", "## Current Step\n## Current Step\n", &["SMD01"]),
        ("flow: greenfield", "flow: brownfield", &["SMD02"]),
        ("step: 3", "step: 12", &["SMD03", "SMD11"]),
        ("name: Plan", "name: Planning", &["SMD04"]),
        ("status: in_progress", "status: doing", &["SMD05"]),
        ("phase: 4", "phase: 4.5", &["SMD06"]),
        ("name: architecture-review-risk-assessment", "name: Risks", &["SMD07"]),
        ("name: architecture-review-risk-assessment", "name: awaiting-invocation", &["SMD08"]),
        ("retry_count: 0", "retry_count: 4", &["SMD09"]),
        ("cycle: 1", "cycle: 2", &["SMD10"]),
        ("step: 3\nname: Plan", "step: 2\nname: Research", &["SMD11"]),
    ] {
        let sandbox = with(&PLAN.replace(from, to));
        for _twice in 0..2 {
            let run = sandbox.stepmark(&["check", FILE, "--json"]);
            assert_eq!(ids(&run), expected, "{to}: {run}");
            assert_eq!(run.code, i32::from(!expected.is_empty()), "{run}");
        }
        let all = sandbox.stepmark(&["check", "--json"]);
        assert_eq!(ids(&all), expected, "{to}: {all}");
    }
}

/// Every move says what is wrong, and what it says to do helps.
#[test]
fn a_value_that_no_step_has_stops_every_move() {
    let moves = [
        &["complete"][..],
        &["fail", "--reason", "x"],
        &["sub-step", "5", "tests"],
        &["retry"],
        &["boundary"],
        &["skip", "--reason", "x"],
        &["next"],
        &["start"],
    ];
    let sandbox = with(&PLAN.replace("status: in_progress", "status: bogus"));
    for made in moves {
        let run = autodev(&sandbox, made);
        let told = "a step is never `bogus`: `stepmark set _docs/_autodev_state.md status=in_progress --force --reason TEXT`";
        assert!(run.code == 1 && run.stderr.contains(told), "{made:?}: {run}");
    }
    let set = sandbox.stepmark(&["set", FILE, "status=in_progress", "--force", "--reason", "a slip"]);
    assert_eq!(set.code, 0, "{set}");
    assert_eq!(text(&sandbox), PLAN);

    let sandbox = with(&PLAN.replace("name: Plan", "name: Planning"));
    for made in moves.into_iter().take(7) {
        let run = autodev(&sandbox, made);
        let told = "step 3 is `Plan`, not `Planning`: `stepmark autodev detect --write`";
        assert!(run.code == 1 && run.stderr.contains(told), "{made:?}: {run}");
    }
    assert_eq!(autodev(&sandbox, &["detect", "--write"]).code, 0);
    assert_eq!(text(&sandbox), PLAN);
    assert_eq!(autodev(&sandbox, &["next"]).code, 0);
}

/// What the files tell decides, where they do.
#[test]
fn an_unknown_status_is_corrected_where_the_files_tell() {
    let research =
        PLAN.replace("step: 3\nname: Plan\nstatus: in_progress", "step: 2\nname: Research\nstatus: bogus");
    let sandbox = with(&research);
    std::fs::remove_file(sandbox.place("_docs/01_solution/solution_draft01.md")).unwrap();
    assert_eq!(autodev(&sandbox, &["detect", "--write"]).code, 0);
    assert_eq!(text(&sandbox), research.replace("bogus", "in_progress"), "it has a phase");
    let sandbox = with(&research);
    assert_eq!(autodev(&sandbox, &["detect", "--write"]).code, 0);
    assert!(text(&sandbox).contains("step: 3\nname: Plan\nstatus: not_started"), "{}", text(&sandbox));
}

/// `autodev check` is `check` of the state file.
#[test]
fn the_state_file_is_checked_alone() {
    let sandbox = with(&PLAN.replace("cycle: 1", "cycle: 2"));
    sandbox.write("docs/broken.md", "---\nstatus: [\n---\n");
    let run = sandbox.stepmark(&["autodev", "check", "--json"]);
    assert_eq!((ids(&run), run.code), (vec!["SMD10".to_owned()], 1), "{run}");
    assert_snapshot!(sandbox.reads_only(&["autodev", "check"]), @r"
    exit 1
    ── stdout
    warning[SMD10]: the flow `greenfield` does not go round: its cycle is 1, not 2
      --> _docs/_autodev_state.md:13:8
       |
    13 | cycle: 2
       |        ^

    1 artifact: 0 errors, 1 warning, 0 notes
    ");
    fs::remove_file(sandbox.place("_docs/00_problem/problem.md")).unwrap();
    let run = sandbox.stepmark(&["autodev", "check", "--json"]);
    assert_eq!((ids(&run), run.code), (vec!["SMD11".to_owned(), "SMD10".to_owned()], 1), "{run}");
    sandbox.write(FILE, PLAN);
    add_files(&sandbox);
    assert_eq!(sandbox.stepmark(&["autodev", "check"]).code, 0);
    fs::remove_file(sandbox.place(FILE)).unwrap();
    assert_snapshot!(sandbox.reads_only(&["autodev", "check"]), @r"
    exit 1
    ── stderr
    error: there is no state file `_docs/_autodev_state.md`: `stepmark autodev start` makes it
    ");
}

/// The facts of other files are asked in every run, whatever was kept of the last one.
#[test]
fn what_becomes_of_other_files_is_seen_in_the_next_check() {
    let sandbox = with(PLAN);
    for number in 0..80 {
        sandbox.write(&format!("docs/{number}.md"), "---\nstatus: draft\n---\n");
    }
    let check = || ids(&sandbox.stepmark(&["check", "--json"]));
    assert_eq!((check(), check()), (Vec::new(), Vec::new()));
    fs::remove_file(sandbox.place("_docs/00_problem/problem.md")).unwrap();
    assert_eq!(check(), ["SMD11"]);
    add_files(&sandbox);
    assert_eq!(check(), Vec::<String>::new());
}

#[test]
fn a_rule_is_explained_suppressed_known_and_turned_off() {
    let sandbox = with(&PLAN.replace("cycle: 1", "cycle: 2"));
    for name in ["SMD10", "smd10", "autodev-cycle-wrong"] {
        let page = sandbox.stepmark(&["explain", name]);
        assert!(page.code == 0 && page.stdout.starts_with("# SMD10: autodev-cycle-wrong"), "{page}");
    }
    assert_eq!(sandbox.stepmark(&["check", "--write-baseline"]).code, 0);
    assert_eq!(sandbox.stepmark(&["check"]).code, 0, "the baseline knows it");
    fs::remove_file(sandbox.place(".stepmark/baseline.json")).unwrap();
    assert_eq!(sandbox.stepmark(&["check"]).code, 1);
    sandbox.write(".stepmark/config.yaml", "autodev: {}\ncheck:\n  rules: {SMD10: note}\n");
    assert_eq!(sandbox.stepmark(&["check"]).code, 0);
    sandbox.write(".stepmark/config.yaml", "autodev: {}\n");
    let accepted = "cycle: 2 # stepmark: allow SMD10 two rounds by hand";
    sandbox.write(FILE, PLAN.replace("cycle: 1", accepted));
    let checked = sandbox.stepmark(&["check", "--json"]);
    assert_eq!((ids(&checked), checked.code), (Vec::new(), 0), "{checked}");
    sandbox.write(FILE, PLAN.replace("cycle: 1", &accepted.replace('2', "1")));
    assert_eq!(ids(&sandbox.stepmark(&["check", "--json"])), ["SM002"], "it accepts nothing");
}

#[test]
fn a_project_that_does_not_use_autodev_is_told_of_its_values_alone() {
    let sandbox = with(&PLAN.replace("flow: greenfield", "flow: x"));
    sandbox.write(".stepmark/config.yaml", "");
    assert_eq!(ids(&sandbox.stepmark(&["check", "--json"])), Vec::<String>::new());
}

#[test]
fn what_is_staged_is_held_against_the_last_commit() {
    let Some(repository) = Repository::empty("staged autodev") else { return };
    let sandbox = &repository.sandbox;
    sandbox.write(".stepmark/config.yaml", "autodev: {}\n");
    add_files(sandbox);
    sandbox.write(FILE, PLAN);
    repository.commit("one");
    let staged = |text: &str| {
        sandbox.write(FILE, text);
        repository.git(&["add", "--all"]);
        ids(&repository.stepmark(&["check", "--staged", "--json"]))
    };
    // The skill writes its file itself: its next steps are legal.
    let next = PLAN
        .replace("step: 3\nname: Plan\nstatus: in_progress", "step: 4\nname: UI Design\nstatus: not_started");
    assert_eq!(staged(&next), Vec::<String>::new());
    assert_eq!(staged(&PLAN.replace("phase: 4", "phase: 9")), Vec::<String>::new());
    assert_eq!(staged(&PLAN.replace("phase: 4", "phase: 3")), ["SMD06"]);
    assert_eq!(staged(&PLAN.replace("status: in_progress", "status: not_started")), ["SM903"]);
    assert_eq!(staged(PLAN), Vec::<String>::new());
    fs::remove_file(sandbox.place("_docs/01_solution/solution_draft01.md")).unwrap();
    assert_eq!(staged(&PLAN.replace("phase: 4", "phase: 5")), ["SMD11"]);
    sandbox.write("_docs/01_solution/solution_draft01.md", "text\n");
    repository.git(&["rm", "--quiet", "--force", FILE]);
    let deleted = repository.stepmark(&["check", "--staged", "--json"]);
    assert_eq!((ids(&deleted), deleted.code), (vec!["SMD13".to_owned()], 1), "{deleted}");
}

#[test]
fn the_hook_stops_a_commit_that_deletes_the_state_file() {
    let Some(repository) = Repository::empty("hook and autodev") else { return };
    let sandbox = &repository.sandbox;
    sandbox.write(".stepmark/config.yaml", "autodev: {}\n");
    sandbox.write(FILE, empty_start());
    repository.commit("one");
    repository.add_hook("pre-commit", "stepmark check --staged");
    repository.git(&["rm", "--quiet", FILE]);
    let refused = repository.try_git_with_stepmark(&["commit", "--message", "two"]);
    assert!(
        refused.code != 0 && refused.stderr.contains("SMD13") | refused.stdout.contains("SMD13"),
        "{refused}"
    );
}

/// The state file that `start` makes.
fn empty_start() -> Vec<u8> {
    let sandbox = empty();
    super::done(&sandbox, &["start"]);
    sandbox.read(FILE)
}

#[test]
fn the_state_of_a_skill_is_held_against_the_sub_step() {
    let document = PLAN
        .replace("flow: greenfield\nstep: 3\nname: Plan", "flow: existing-code\nstep: 1\nname: Document")
        .replace("architecture-review-risk-assessment", "module-analysis");
    let sandbox = with(&document);
    let check = || ids(&sandbox.stepmark(&["check", FILE, "--json"]));
    assert_eq!(check(), Vec::<String>::new(), "the skill keeps none");
    sandbox.write("_docs/02_document/state.json", "{\"current_step\": \"discovery\"}");
    assert_eq!(check(), ["SMD12"]);
    sandbox.write("_docs/02_document/state.json", "{\"current_step\": \"module-analysis\"}");
    assert_eq!(check(), Vec::<String>::new());
}
