//! A repository with several projects: hook, command and configuration agree about whose an artifact is.

use insta::assert_snapshot;

use crate::harness::Repository;

const A: &str = "packages/a/_bmad-output/planning-artifacts/prd.md";
const B: &str = "packages/b/_bmad-output/planning-artifacts/prd.md";

fn prd(steps: &str) -> String {
    format!("---\nid: PRD-1\nstepsCompleted: [{steps}]\n---\n\n# PRD\n")
}

fn repository(test: &str) -> Option<Repository> {
    let repository = Repository::empty(test)?;
    for (package, path) in [("a", A), ("b", B)] {
        repository.sandbox.write(&format!("packages/{package}/_bmad/bmm/config.yaml"), "user_name: Ada\n");
        repository.sandbox.write(path, prd("1, 2"));
    }
    repository.sandbox.write("packages/b/.stepmark/config.yaml", "check: {rules: {SM901: off}}\n");
    repository.commit("one");
    Some(repository)
}

#[test]
fn every_project_is_shown_from_the_top() {
    let Some(repository) = repository("monorepo status") else { return };
    assert_snapshot!(repository.stepmark(&["list"]), @r"
    exit 0
    ── stdout
    packages/a:
    PATH                                    WORKFLOW  STATUS  SCOPE  PROGRESS  NEXT
    _bmad-output/planning-artifacts/prd.md  -         -       -      -         -

    packages/b:
    PATH                                    WORKFLOW  STATUS  SCOPE  PROGRESS  NEXT
    _bmad-output/planning-artifacts/prd.md  -         -       -      -         -
    ");
    assert_snapshot!(repository.stepmark(&["sync", "status"]), @r"
    exit 2
    ── stderr
    error: `[ROOT]` is no project but holds 2 projects: `packages/a`, `packages/b`
      help: name one with `--root [ROOT]/packages/a`, or go into its folder; `--root [ROOT]` takes all for one, `--root '*'` each by itself
    ");
    // What names a file of one of them is about that one, with its configuration and history.
    assert_eq!(repository.stepmark(&["set", A, "title=Tide"]).code, 0);
    let log = repository.stepmark(&["log", "--root", "packages/a"]);
    assert!(log.stdout.contains("_bmad-output/planning-artifacts/prd.md"), "{log}");
    assert!(!repository.sandbox.place(".stepmark").exists(), "the top is no project");
    // As if all of it were one.
    let all = repository.stepmark(&["list", "--root", "."]);
    assert!(all.stdout.contains(A) && all.stdout.contains(B), "{all}");
}

#[test]
fn what_is_asked_at_the_top_is_answered_by_each_project_or_the_one_that_is_meant() {
    let Some(repository) = repository("monorepo words") else { return };
    repository.sandbox.write("packages/b/_bmad-output/brief.md", "---\nstepsCompleted: [1]\n---\n# B\n");
    assert_eq!(repository.stepmark(&["set", A, "title=Tide"]).code, 0);
    for (arguments, code) in
        [(&["log"][..], 0), (&["resume"], 0), (&["query", "SELECT path FROM artifacts"], 0)]
    {
        let run = repository.stepmark(arguments);
        assert_eq!(run.code, code, "{run}");
        assert!(run.stdout.contains("packages/a:\n") && run.stdout.contains("packages/b:\n"), "{run}");
    }
    let shown = repository.stepmark(&["show", "brief"]);
    // The paths that follow are those of the project.
    assert!(
        shown.code == 0 && shown.stdout.starts_with("packages/b:\nartifact   _bmad-output/brief.md"),
        "{shown}"
    );
    let report = repository.stepmark(&["report", "r.html", "--root", "*"]);
    assert!(
        report.code == 2 && !repository.sandbox.place("r.html").exists(),
        "one file for several: {report}"
    );
    assert_eq!(repository.stepmark(&["complete", "brief", "2"]).code, 0);
    let answer = repository.stepmark(&["show", "brief", "--json"]).json("stepmark.show/2");
    assert_eq!(answer["steps_completed"], serde_json::json!(["1", "2"]));
    assert_snapshot!(repository.stepmark(&["show", "prd"]), @r"
    exit 2
    ── stderr
    error: several projects have an artifact of that name: `packages/a`, `packages/b`
      help: name one with `--root packages/a`, or go into its folder
    ");
}

#[test]
fn init_at_the_top_is_for_each_project() {
    let Some(repository) = repository("monorepo init") else { return };
    assert_snapshot!(repository.stepmark(&["init"]), @r"
    exit 0
    ── stdout
    packages/a:
    created .stepmark/config.yaml in [ROOT]/packages/a

    packages/b:
    .stepmark/config.yaml is there already in [ROOT]/packages/b
    ");
    assert!(
        !repository.sandbox.place(".stepmark/config.yaml").exists(),
        "the projects below are not swallowed"
    );
    assert_eq!(repository.stepmark(&["log"]).code, 0);
    let json = repository.stepmark(&["init", "--json"]);
    assert!(
        json.code == 2 && json.json_error()["error"].as_str().unwrap().contains("`packages/b`"),
        "{json}"
    );
    assert_eq!(repository.stepmark(&["init", "--root", "."]).code, 0, "who wants one");
    assert!(repository.stepmark(&["list"]).stdout.contains(A));
}

#[test]
fn a_hook_at_the_top_shows_what_each_project_holds_also_one_that_came_later() {
    let Some(repository) = repository("monorepo later") else { return };
    assert_eq!(repository.stepmark(&["hook", "install"]).code, 0);
    const C: &str = "packages/c/_bmad-output/planning-artifacts/prd.md";
    repository.sandbox.write("packages/c/_bmad/bmm/config.yaml", "user_name: Ada\n");
    repository.sandbox.write(C, prd("1, 2"));
    let passed = repository.try_git_with_stepmark(&["add", "--all"]);
    assert_eq!(passed.code, 0, "{passed}");
    let passed = repository.try_git_with_stepmark(&["commit", "--quiet", "-m", "c"]);
    assert_eq!(passed.to_string(), "exit 0\n", "a hook that passes is silent");
    for path in [A, C] {
        repository.sandbox.write(path, prd("1"));
    }
    let run = repository.try_git_with_stepmark(&["commit", "--quiet", "--all", "-m", "less"]);
    assert_eq!(run.code, 1, "{run}");
    let told = format!("{}{}", run.stdout, run.stderr);
    assert!(told.contains("packages/a:\n") && told.contains("packages/c:\n"), "{run}");
    assert!(told.contains(&format!("--> {C}:3")), "as git's top sees it: {run}");
    assert!(!told.contains("packages/b:\n"), "nothing is wrong there: {run}");
}

#[test]
fn hooks_check_each_project_by_its_own_configuration() {
    for from_the_top in [true, false] {
        let Some(repository) = repository("monorepo hook") else { return };
        if from_the_top {
            assert_eq!(repository.stepmark(&["hook", "install"]).code, 0);
        } else {
            for package in ["packages/a", "packages/b"] {
                assert_eq!(repository.stepmark(&["hook", "install", "--root", package]).code, 0);
            }
        }
        // It does not matter in b.
        repository.sandbox.write(B, prd("1"));
        let run = repository.try_git_with_stepmark(&["commit", "--quiet", "--all", "-m", "b"]);
        assert_eq!(run.code, 0, "{run}");
        repository.sandbox.write(A, prd("1"));
        let run = repository.try_git_with_stepmark(&["commit", "--quiet", "--all", "-m", "a"]);
        assert_eq!(run.code, 1, "{run}");
        // What the hook refuses the command refuses, and a reopening explains it to both.
        repository.sandbox.write(A, prd("1, 2"));
        assert_eq!(repository.stepmark(&["reopen", A, "2"]).code, 0);
        let run = repository.try_git_with_stepmark(&["commit", "--quiet", "--all", "-m", "a"]);
        assert_eq!(run.code, 0, "{run}");
        assert_eq!(repository.stepmark(&["check", "--from", "HEAD~1", "--to", "HEAD"]).code, 0);
        // One of them no longer wants to be checked.
        assert_eq!(repository.stepmark(&["hook", "uninstall", "--root", "packages/a"]).code, 0);
        let hook = String::from_utf8(repository.sandbox.read(".git/hooks/pre-commit")).unwrap();
        assert!(hook.contains("'packages/b'") && !hook.contains("'packages/a'"), "{hook}");
    }
}
