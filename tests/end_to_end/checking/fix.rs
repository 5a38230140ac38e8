//! `stepmark check --fix`

use std::{
    fs,
    process::{Command, Stdio},
};

use insta::assert_snapshot;

use crate::harness::{Repository, Sandbox, changed_lines, demo::PRD, tool};

/// Comments, CRLF, a number that YAML misreads, a repetition, an empty item; no line end at the end.
const ODD: &str = "---\r\n# kept\r\nstepsCompleted: [step-01-a, ~, step-02-b, step-01-a, 1.10, step-03-c] # too\r\nstatus: draft\r\n---\r\n# Body 1.10\r\nStatus: underway";

fn odd() -> Sandbox {
    let sandbox = Sandbox::empty();
    sandbox.write("docs/odd one.md", ODD);
    sandbox
}

fn text(sandbox: &Sandbox, path: &str) -> String {
    fs::read_to_string(sandbox.root().join(path)).unwrap()
}

#[test]
fn safe_fixes_are_made_and_nothing_else_changes() {
    let sandbox = odd();
    let run = sandbox.stepmark(&["check", "--fix", "docs"]);
    assert_snapshot!(run, @r"
    exit 1
    ── stdout
    warning[SM302]: the body says `Status: underway`, the frontmatter says `status: draft`
     --> docs/odd one.md:7:9
      |
    7 | Status: underway
      |         ^^^^^^^^
      |
      = help: the frontmatter counts; make the line say the same
      = fix: make the line say `draft` (`stepmark check --fix --unsafe-fixes`)

    fixed docs/odd one.md: SM202 remove the empty item
    fixed docs/odd one.md: SM204 remove the repetition
    fixed docs/odd one.md: SM207 quote `1.10`
    1 artifact: 0 errors, 1 warning, 0 notes
    `--fix --unsafe-fixes` fixes 1 of them
    ");
    assert_snapshot!(changed_lines(ODD.as_bytes(), text(&sandbox, "docs/odd one.md").as_bytes()), @r"
    -stepsCompleted: [step-01-a, ~, step-02-b, step-01-a, 1.10, step-03-c] # too␍
    +stepsCompleted: [step-01-a, step-02-b, '1.10', step-03-c] # too␍
    ");

    let again = sandbox.reads_only(&["check", "--fix", "docs"]);
    assert!(!again.stdout.contains("fixed"), "{again}");
    assert_eq!(again.code, 1, "the unsafe ones are left");
}

#[test]
fn unsafe_fixes_are_made_where_that_is_said() {
    let sandbox = odd();
    let run = sandbox.stepmark(&["check", "--fix", "--unsafe-fixes", "docs"]);
    assert_eq!(run.code, 0, "{run}");
    assert!(text(&sandbox, "docs/odd one.md").ends_with("\r\nStatus: draft"), "{run}");
    sandbox.reads_only(&["check", "--fix", "--unsafe-fixes", "docs"]);
    // Alone it makes nothing.
    odd().reads_only(&["check", "--unsafe-fixes"]);
}

#[test]
fn history_tells_which_fixes_were_made() {
    let sandbox = odd();
    sandbox.stepmark(&["check", "--fix", "docs"]);
    let log = sandbox.stepmark(&["log", "docs/odd one.md", "--json"]).json("stepmark.log/1");
    let event = &log["events"][0];
    assert_eq!((&event["kind"], &event["command"]), (&"change".into(), &"check --fix".into()), "{log}");
    assert_eq!(event["data"]["fixes"][0], "SM202: remove the empty item", "{log}");
    let replay = sandbox.stepmark(&["replay", "--verify"]);
    assert_eq!(replay.code, 0, "{replay}");
}

#[test]
fn programs_are_told_what_was_done() {
    let answer = odd().stepmark(&["check", "--fix", "--json"]).json("stepmark.check/1");
    let fixed = answer["fixed"].as_array().unwrap();
    assert!(fixed.iter().all(|fix| fix["path"] == "docs/odd one.md" && fix["safety"] == "safe"), "{answer}");
    let ids: Vec<_> = fixed.iter().map(|fix| fix["id"].as_str().unwrap()).collect();
    assert!(ids.contains(&"SM204") && ids.contains(&"SM202"), "{ids:?}");
    assert_eq!(answer["declined"], serde_json::json!([]));
    assert_eq!(answer["fixable"]["safe"], 0);
}

#[test]
fn the_patch_of_diff_is_what_fix_writes() {
    let Some(git) = tool("git", "a patch") else { return };
    let sandbox = odd();
    sandbox.write("docs/b.md", "---\nstepsCompleted: [a, a, b]\n---");
    let run = sandbox.reads_only(&["check", "--diff", "--unsafe-fixes"]);
    assert_eq!(run.code, 1, "what is wrong is still wrong: {run}");
    sandbox.write("../fixes.patch", &run.stdout);
    let mut apply = Command::new(git);
    apply.args(["apply", "--whitespace=nowarn", "../fixes.patch"]);
    sandbox.isolate(&mut apply);
    let applied = sandbox.run(&mut apply);
    assert_eq!(applied.code, 0, "{applied}\n{}", run.stdout);

    let fixed = odd();
    fixed.write("docs/b.md", "---\nstepsCompleted: [a, a, b]\n---");
    fixed.stepmark(&["check", "--fix", "--unsafe-fixes"]);
    for path in ["docs/b.md", "docs/odd one.md"] {
        assert_eq!(text(&sandbox, path), text(&fixed, path));
    }
    for format in ["--json", "--format=sarif"] {
        assert_eq!(sandbox.reads_only(&["check", "--diff", format]).code, 2);
    }
}

#[test]
fn a_lease_of_somebody_else_is_respected_and_the_others_are_fixed() {
    let sandbox = odd();
    sandbox.write("docs/b.md", "---\nstepsCompleted: [a, a, b]\n---\n");
    let taken = sandbox.stepmark(&["lease", "take", "docs/odd one.md", "--actor", "agent:other"]);
    assert_eq!(taken.code, 0, "{taken}");
    let run = sandbox.stepmark(&["check", "--fix", "--actor", "human:ada"]);
    assert_eq!(run.code, 3, "{run}");
    assert_eq!(text(&sandbox, "docs/odd one.md"), ODD);
    assert_eq!(text(&sandbox, "docs/b.md"), "---\nstepsCompleted: [a, b]\n---\n");
}

/// Completes a step that the workflow does not have.
fn insisting(step: &str) -> Vec<String> {
    ["complete", PRD, step, "--force", "--reason", "ours"].map(str::to_owned).to_vec()
}

#[test]
fn other_writers_lose_nothing() {
    let demo = Sandbox::demo();
    let odd = fs::read_to_string(demo.root().join(PRD)).unwrap();
    let odd = odd.replacen("stepsCompleted:\n", "stepsCompleted:\n  - step-01-init\n", 1);
    demo.write(PRD, &odd);
    let mut commands: Vec<Vec<String>> = (0..12).map(|number| insisting(&format!("edit-{number}"))).collect();
    commands.extend((0..4).map(|_| vec!["check".to_owned(), "--fix".to_owned(), PRD.to_owned()]));
    let children: Vec<_> = commands
        .iter()
        .map(|arguments| {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            demo.command(&arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
        })
        .collect();
    for child in children {
        let code = child.unwrap().wait().unwrap().code();
        assert!(matches!(code, Some(0 | 1)), "{code:?}");
    }
    let text = text(&demo, PRD);
    assert_eq!(text.matches("step-01-init").count(), 1, "{text}");
    for number in 0..12 {
        assert!(text.contains(&format!("edit-{number}")), "{text}");
    }
}

/// `docs/prd.md` with a repetition, staged in a repository with one commit.
fn staged(test: &str) -> Option<Repository> {
    let repository = Repository::empty(test)?;
    repository.sandbox.write("docs/prd.md", "---\r\nstepsCompleted: [a, b] # kept\r\n---\r\n");
    repository.commit("one");
    repository.sandbox.write("docs/prd.md", "---\r\nstepsCompleted: [a, a, b] # kept\r\n---\r\nTwo\r\n");
    repository.git(&["add", "--all"]);
    Some(repository)
}

const MENDED: &str = "---\r\nstepsCompleted: [a, b] # kept\r\n---\r\nTwo\r\n";

#[test]
fn what_is_staged_is_fixed_in_index_and_work_tree() {
    let Some(repository) = staged("check --fix --staged") else { return };
    repository.git(&["config", "core.autocrlf", "false"]);
    let run = repository.stepmark(&["check", "--fix", "--staged"]);
    assert_eq!(
        run.to_string(),
        "exit 0\n── stdout\nfixed docs/prd.md: SM204 remove the repetition\n1 artifact: 0 errors, 0 warnings, 0 notes\n"
    );
    assert_eq!(text(&repository.sandbox, "docs/prd.md"), MENDED);
    assert_eq!(repository.git(&["show", ":docs/prd.md"]), MENDED.trim_end());
    assert_eq!(repository.git(&["diff", "--name-only"]), "", "both hold the same");
    let again = repository.stepmark(&["check", "--fix", "--staged"]);
    assert!(again.code == 0 && !again.stdout.contains("fixed"), "{again}");
}

#[test]
fn where_the_work_tree_differs_the_patch_is_printed_and_nothing_is_written() {
    let Some(repository) = staged("check --fix --staged") else { return };
    repository.sandbox.write("docs/prd.md", "---\r\nstepsCompleted: [a, a, b] # mine\r\n---\r\n");
    let run = repository.sandbox.changes_nothing(&mut repository.command(&["check", "--fix", "--staged"]));
    assert_eq!(run.code, 1, "{run}");
    assert!(
        run.stdout.contains("\n-stepsCompleted: [a, a, b] # kept\r\n+stepsCompleted: [a, b] # kept\r\n"),
        "{run}"
    );
    assert!(run.stderr.contains("docs/prd.md: not fixed"), "{run}");

    let patch = repository.sandbox.changes_nothing(&mut repository.command(&["check", "--staged", "--diff"]));
    repository.sandbox.write("../index.patch", &patch.stdout);
    repository.git(&["apply", "--cached", "../index.patch"]);
    assert_eq!(repository.git(&["show", ":docs/prd.md"]), MENDED.trim_end());
    assert!(text(&repository.sandbox, "docs/prd.md").contains("# mine"));
}

/// `git commit FILE` and `git commit --all` give hooks an index of their own.
#[test]
fn the_index_that_git_names_is_the_one_that_is_fixed() {
    let Some(repository) = staged("check --fix --staged") else { return };
    repository.git(&["read-tree", "--index-output=.git/other", "HEAD"]);
    let before = repository.git(&["ls-files", "--stage"]);
    let mut command = repository.command(&["check", "--fix", "--staged"]);
    fs::copy(repository.sandbox.place(".git/index"), repository.sandbox.place(".git/other")).unwrap();
    let run = repository.sandbox.run(command.env("GIT_DIR", ".git").env("GIT_INDEX_FILE", ".git/other"));
    assert_eq!(run.code, 0, "{run}");
    assert_eq!(repository.git(&["ls-files", "--stage"]), before, "the index of the repository is as it was");
    assert_eq!(text(&repository.sandbox, "docs/prd.md"), MENDED);
}

#[test]
fn a_project_below_the_top_of_its_repository_is_fixed_there() {
    let Some(repository) = Repository::empty("check --fix --staged") else { return };
    repository.sandbox.write("part/.stepmark/config.yaml", "project_id: x\n");
    repository.sandbox.write("part/docs/prd.md", "---\nstepsCompleted: [a, a, b]\n---\n");
    repository.sandbox.write("docs/prd.md", "---\nstepsCompleted: [a, a, b]\n---\n");
    repository.git(&["add", "--all"]);
    let run = repository.stepmark(&["check", "--fix", "--staged", "--root", "part"]);
    assert_eq!(run.code, 0, "{run}");
    assert!(repository.git(&["show", ":part/docs/prd.md"]).contains("[a, b]"));
    assert!(repository.git(&["show", ":docs/prd.md"]).contains("[a, a, b]"));
}
