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
      help: name one with `--root [ROOT]/packages/a`, or go into its folder; `--root [ROOT]` takes all for one
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
