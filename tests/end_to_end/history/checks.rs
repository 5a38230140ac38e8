//! `stepmark check --staged` and what became of artifacts since HEAD.

use insta::assert_snapshot;

use crate::harness::{Repository, Run};

const PRD: &str = "docs/prd.md";

fn prd(steps: &str) -> String {
    format!("---\nid: PRD-1\nstepsCompleted: [{steps}]\nstatus: draft\n---\n\n# PRD\n")
}

/// A project with history, whose artifact has three completed steps in the only commit.
fn repository(test: &str) -> Option<Repository> {
    let repository = Repository::empty(test)?;
    repository.sandbox.write(".stepmark/config.yaml", "# A project.\n");
    repository.sandbox.write(".gitignore", ".stepmark/local/\n.stepmark/local/cache/\n.stepmark/gates/\n");
    repository.sandbox.write(PRD, prd("step-01-init, step-02-discovery, step-03-success"));
    repository.commit("one");
    Some(repository)
}

fn staged(repository: &Repository) -> Run {
    repository.git(&["add", "--all"]);
    succeed(repository, &["journal", "seal", "--stage"]);
    repository.stepmark(&["check", "--staged"])
}

fn succeed(repository: &Repository, arguments: &[&str]) {
    let run = repository.stepmark(arguments);
    assert_eq!(run.code, 0, "{arguments:?}: {run}");
}

#[test]
fn a_step_that_is_dropped_is_shown_at_the_list() {
    let Some(repository) = repository("dropped step") else { return };
    repository.sandbox.write(PRD, prd("step-01-init, step-03-success"));
    assert_snapshot!(staged(&repository), @r"
    exit 1
    ── stdout
    error[SM901]: `step-02-discovery` was completed before this change, and `stepsCompleted` does not list it any more
     --> docs/prd.md:3:17
      |
    3 | stepsCompleted: [step-01-init, step-03-success]
      |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: put back what is missing; if it is to be done again, put it back, then say so: `stepmark complete docs/prd.md step-02-discovery`, `stepmark reopen docs/prd.md step-02-discovery`

    1 artifact: 1 error, 0 warnings, 0 notes
    ");
    repository.sandbox.write(PRD, prd("1, 2, 3, step-04-journeys"));
    assert_eq!(staged(&repository).code, 0, "the same steps in another spelling");
}

#[test]
fn a_branch_is_held_against_where_it_left() {
    let Some(repository) = repository("dropped in a branch") else { return };
    repository.git(&["switch", "--quiet", "-c", "feature"]);
    repository.sandbox.write(PRD, prd("step-01-init"));
    repository.commit("drops two");
    let run = repository.stepmark(&["check", "--from", "main"]);
    assert_eq!(run.code, 1, "{run}");
    assert!(run.stdout.contains("`step-02-discovery`, `step-03-success` were completed"), "{run}");
}

#[test]
fn what_stepmark_took_back_is_accepted() {
    let Some(repository) = repository("reopened") else { return };
    succeed(&repository, &["reopen", PRD, "step-02-discovery"]);
    assert_eq!(staged(&repository).code, 0, "{}", staged(&repository));
    succeed(&repository, &["complete", PRD, "step-02-discovery"]);
    repository.sandbox.write(PRD, prd("step-01-init, step-03-success"));
    let run = staged(&repository);
    assert_eq!(run.code, 1, "completed again, then dropped by hand: {run}");
    succeed(&repository, &["reopen", PRD, "step-03-success"]);
    let run = staged(&repository);
    assert!(run.stdout.contains("`step-02-discovery` was completed"), "only what was reopened counts: {run}");
}

/// What the help says is done, word by word, lets the commit pass.
#[test]
fn what_was_dropped_by_hand_is_accepted_after_the_commands_of_the_help() {
    let Some(repository) = repository("dropped, then told") else { return };
    repository.sandbox.write(PRD, prd("step-01-init, step-03-success"));
    let run = staged(&repository);
    let help = run.stdout.lines().find(|line| line.contains("= help: put back")).unwrap();
    let commands: Vec<&str> = help.split('`').filter(|part| part.starts_with("stepmark ")).collect();
    assert_eq!(commands.len(), 2, "{run}");
    for command in commands {
        succeed(&repository, &command.split(' ').skip(1).collect::<Vec<_>>());
    }
    assert!(!String::from_utf8(repository.sandbox.read(PRD)).unwrap().contains("step-02"));
    assert_eq!(staged(&repository).code, 0, "{}", staged(&repository));
}

#[test]
fn an_undone_step_is_accepted() {
    let Some(repository) = repository("undone") else { return };
    succeed(&repository, &["complete", PRD, "step-04-journeys"]);
    repository.commit("two");
    let log = repository.stepmark(&["log", PRD, "--json"]).json("stepmark.log/1");
    let events = log["events"].as_array().unwrap();
    let change = events.iter().find(|event| event["kind"] == "change").unwrap();
    succeed(&repository, &["undo", change["id"].as_str().unwrap()]);
    let run = staged(&repository);
    assert_eq!(run.code, 0, "{run}");
}

#[test]
fn status_keys_and_ids_are_held_against_head() {
    let Some(repository) = repository("status") else { return };
    let write = |keys: &str| {
        repository.sandbox.write("docs/ux.md", format!("---\nstepsCompleted: []\n{keys}\n---\n# UX\n"));
    };
    write("id: UX-1\nstatus: done\nscope: small\nauthor: Ada");
    repository.commit("two");
    write("id: UX-2\nstatus: in-progress");
    let run = staged(&repository);
    for id in ["error[SM902]", "warning[SM904]", "note[SM905]", "error[SM906]"] {
        assert!(run.stdout.contains(id), "{id} in {run}");
    }
    write("id: UX-1\nstatus: done\nscope: small\nauthor: Ada");
    succeed(&repository, &["set", "docs/ux.md", "status=in-progress"]);
    let run = staged(&repository);
    assert_eq!(run.code, 0, "set by stepmark: {run}");
}

#[test]
fn moves_and_deletions() {
    let Some(repository) = repository("deletion") else { return };
    repository.git(&["mv", PRD, "docs/needs.md"]);
    assert_eq!(staged(&repository).code, 0, "moved");
    repository.sandbox.write("docs/needs.md", prd("step-01-init, step-02-discovery"));
    let run = staged(&repository);
    assert!(
        run.stdout.contains("docs/needs.md:3:17") && run.stdout.contains("`step-03-success` was"),
        "{run}"
    );
    repository.git(&["rm", "--quiet", "--force", "docs/needs.md"]);
    assert_snapshot!(staged(&repository), @r"
    exit 1
    ── stdout
    warning[SM907]: this artifact is deleted, and with it 3 completed steps
     --> docs/prd.md:3:17
      |
    3 | stepsCompleted: [step-01-init, step-02-discovery, step-03-success]
      |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: bring it back: `git restore --source=HEAD --staged --worktree -- docs/prd.md`; if it is to go, bring it back and run `stepmark remove docs/prd.md`

    1 artifact: 0 errors, 1 warning, 0 notes
    ");
}

#[test]
fn another_artifact_of_the_same_template_is_no_move() {
    let Some(repository) = repository("strangers") else { return };
    let text =
        |id: &str| format!("---\nid: {id}\nstepsCompleted: [1]\n---\n{}", "The same text.\n".repeat(50));
    repository.sandbox.write("docs/a.md", text("A"));
    repository.commit("two");
    repository.git(&["rm", "--quiet", "docs/a.md"]);
    repository.sandbox.write("docs/b.md", text("B").replace("[1]", "[]"));
    let run = staged(&repository);
    assert!(run.stdout.contains("SM907") && !run.stdout.contains("SM901"), "{run}");
}

#[test]
fn a_file_that_lost_its_frontmatter_is_looked_at() {
    let Some(repository) = repository("no frontmatter") else { return };
    repository.sandbox.write(PRD, "# PRD\n");
    let run = staged(&repository);
    assert!(run.stdout.contains("SM901") && run.stdout.contains("SM906"), "{run}");
}
