//! `stepmark resume`

use insta::assert_snapshot;
use serde_json::Value as Json;

use crate::harness::{
    Repository, Run, Sandbox,
    demo::{ARCHITECTURE, BRIEF, PRD, STORY},
};

fn json(run: &Run) -> Json {
    assert_eq!(run.code, 0, "{run}");
    run.json("stepmark.resume/2")
}

/// The tier, the source and the next step of an answer.
fn gist(answer: &Json) -> (u64, &str, &str) {
    let next = answer["next"][0]["id"].as_str().unwrap_or_default();
    (answer["tier"].as_u64().unwrap(), answer["from"]["source"].as_str().unwrap(), next)
}

/// What a source said.
fn said<'a>(answer: &'a Json, source: &str) -> (&'a str, &'a str) {
    let all = answer["sources"].as_array().unwrap();
    let one =
        all.iter().find(|one| one["source"] == source).unwrap_or_else(|| panic!("{source} in {answer:#}"));
    (one["verdict"].as_str().unwrap(), one["finding"].as_str().unwrap())
}

/// Opens a list in the frontmatter and never closes it.
fn damage(sandbox: &Sandbox) {
    let text = String::from_utf8(sandbox.read(PRD)).unwrap();
    sandbox.write(PRD, text.replace("owner: Mira", "owner: [Mira"));
}

#[test]
fn tier_1_is_the_frontmatter_and_writes_nothing() {
    let demo = Sandbox::demo();
    assert_snapshot!(demo.reads_only(&["resume", PRD]), @r"
    exit 0
    ── stdout
    _bmad-output/planning-artifacts/prd.md  5/14
    step-04-journeys  _bmad/bmm/workflows/2-plan-workflows/create-prd/steps-c/step-04-journeys.md
    because: tier 1: the frontmatter can be read, and it is the truth
    ");
    assert_eq!(
        gist(&json(&demo.reads_only(&["resume", PRD, "--json"]))),
        (1, "frontmatter", "step-04-journeys")
    );
    let finished = json(&demo.reads_only(&["resume", BRIEF, "--json"]));
    assert_eq!((&finished["finished"], &finished["next"]), (&true.into(), &Json::Array(Vec::new())));
    assert_snapshot!(demo.reads_only(&["resume", STORY]), @r"
    exit 0
    ── stdout
    _bmad-output/implementation-artifacts/1-1-borrow-a-tool.md  in-progress
    status → review
      stepmark transition _bmad-output/implementation-artifacts/1-1-borrow-a-tool.md review
    because: tier 1: the frontmatter can be read, and it is the truth
    ");
    assert_eq!(demo.reads_only(&["resume", PRD, "--tier", "4"]).code, 2);
}

#[test]
fn tier_2_is_the_last_checkpoint() {
    let demo = Sandbox::demo();
    demo.stepmark(&["complete", PRD, "4"]);
    demo.stepmark(&["checkpoint", PRD]);
    damage(&demo);
    let answer = json(&demo.stepmark(&["resume", PRD, "--json"]));
    assert_eq!(gist(&answer), (2, "checkpoint", "step-05-domain"));
    assert_eq!(answer["distrusted"][0]["source"], "frontmatter");
    assert!(answer["why"].as_str().unwrap().contains("line 14"), "{answer:#}");
}

#[test]
fn an_outdated_or_changed_checkpoint_falls_to_the_journal() {
    let demo = Sandbox::demo();
    demo.stepmark(&["checkpoint", PRD]);
    demo.stepmark(&["complete", PRD, "4"]);
    damage(&demo);
    let answer = json(&demo.stepmark(&["resume", PRD, "--json"]));
    assert_eq!(gist(&answer), (3, "journal", "step-05-domain"));
    let (verdict, reason) = said(&answer, "checkpoint");
    assert!(verdict == "distrusted" && reason.contains("outdated"), "{reason}");
    assert_eq!(said(&answer, "git").0, "nothing");
}

#[test]
fn without_any_checkpoint_everything_is_asked() {
    let demo = Sandbox::demo();
    demo.stepmark(&["complete", PRD, "4"]);
    damage(&demo);
    let answer = json(&demo.stepmark(&["resume", PRD, "--json"]));
    assert_eq!(gist(&answer), (3, "journal", "step-05-domain"));
    assert_eq!(said(&answer, "checkpoint").0, "nothing");
}

#[test]
fn it_never_guesses() {
    let demo = Sandbox::demo();
    damage(&demo);
    let run = demo.reads_only(&["resume", PRD]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{run}");
    for word in ["line 13", "checkpoints: there is none", "the journal:", "git:", "help:"] {
        assert!(run.stderr.contains(word), "{word} in {run}");
    }
    let missing = demo.reads_only(&["resume", "none.md"]);
    assert_eq!(missing.code, 2, "{missing}");
    assert!(missing.stderr.contains("there is no file `none.md`"), "{missing}");
}

#[test]
fn a_checkpoint_of_another_history_is_not_believed() {
    let Some(project) = Repository::of_demo("checkpoints and git") else { return };
    project.git(&["switch", "--quiet", "--create", "side"]);
    project.stepmark(&["complete", PRD, "4"]);
    project.commit("side work");
    let made = project.stepmark(&["checkpoint", PRD, "--json"]).json("stepmark.checkpoint-made/1");
    assert_eq!(made["git_commit"].as_str(), Some(project.git(&["rev-parse", "HEAD"]).as_str()));
    damage(&project.sandbox);
    assert_eq!(
        gist(&json(&project.stepmark(&["resume", PRD, "--json"]))),
        (2, "checkpoint", "step-05-domain")
    );
    // The checkpoint is not committed: it stays when the branch is left.
    project.git(&["switch", "--quiet", "--force", "main"]);
    damage(&project.sandbox);
    let answer = json(&project.stepmark(&["resume", PRD, "--json"]));
    let (verdict, reason) = said(&answer, "checkpoint");
    assert!(verdict == "distrusted" && reason.contains("not in the history"), "{reason}");
    assert_eq!(answer["tier"], 3);
    let cautions = answer["cautions"].to_string();
    assert!(cautions.contains("branch") && cautions.contains("step-04-journeys"), "{cautions}");
}

#[test]
fn git_history_helps_where_there_is_no_journal() {
    let Some(project) = Repository::of_demo("git history") else { return };
    project.stepmark(&["complete", PRD, "4"]);
    for folder in [".stepmark", ".git/stepmark"] {
        let _absent = std::fs::remove_dir_all(project.sandbox.place(folder));
    }
    let good = project.commit("four");
    damage(&project.sandbox);
    project.commit("broken");
    project.commit("nothing");
    let answer = json(&project.stepmark(&["resume", PRD, "--json"]));
    assert_eq!(gist(&answer), (3, "git", "step-05-domain"));
    assert_eq!(answer["from"]["name"].as_str(), Some(good.as_str()));
    project.sandbox.write(".stepmark/config.yaml", "git_history: {limit_ms: 0}\n");
    let off = project.stepmark(&["resume", PRD]);
    assert!(off.code == 1 && off.stderr.contains("limit_ms"), "{off}");
}

#[test]
fn everything_tells_of_delegations_and_interrupted_sessions() {
    let demo = Sandbox::demo();
    let text = String::from_utf8(demo.read(PRD)).unwrap();
    demo.write(PRD, text.replacen("---\n", "---\nid: PRD-1\n", 1));
    let child = "---\nstatus: in-progress\ndelegation:\n  id: D-2\n  parent_id: PRD-1\n---\n";
    demo.write("docs/child.md", child);
    demo.write("docs/done.md", child.replace("in-progress", "done"));
    let mut command = demo.command(&["complete", PRD, "4"]);
    demo.run(command.env("STEPMARK_SESSION", "s-lost"));
    let answer = json(&demo.stepmark(&["resume", PRD, "--tier", "3", "--json"]));
    assert_eq!(gist(&answer), (3, "frontmatter", "step-05-domain"));
    let children = answer["delegations"].as_array().unwrap();
    assert_eq!((children.len(), children[0]["path"].as_str()), (1, Some("docs/child.md")));
    assert!(answer["cautions"].to_string().contains("docs/child.md"));
    let lost = &answer["interrupted_sessions"][0];
    assert_eq!((lost["session"].as_str(), lost["artifact"].as_str()), (Some("s-lost"), Some(PRD)));
    // The id is found in the journal when the file cannot tell it.
    damage(&demo);
    let answer = json(&demo.stepmark(&["resume", PRD, "--json"]));
    assert_eq!(gist(&answer), (3, "journal", "step-05-domain"));
    assert_eq!(answer["delegations"].as_array().unwrap().len(), 1);
}

#[test]
fn without_a_name_the_last_work_is_meant() {
    let demo = Sandbox::demo();
    let several = demo.stepmark(&["resume"]);
    assert_eq!(several.code, 1, "{several}");
    assert!(several.stderr.contains("`prd`") && several.stderr.contains("`architecture`"), "{several}");
    assert!(!several.stderr.contains("brief"), "finished: {several}");
    demo.stepmark(&["complete", PRD, "4"]);
    demo.stepmark(&["complete", ARCHITECTURE, "6"]);
    assert_eq!(json(&demo.stepmark(&["resume", "--json"]))["artifact"], ARCHITECTURE);
    demo.stepmark(&["complete", ARCHITECTURE, "7", "8"]);
    assert_eq!(json(&demo.stepmark(&["resume", "--json"]))["artifact"], PRD, "the other one is finished");
    demo.write(".stepmark/config.yaml", format!("active: {BRIEF}\n"));
    assert_eq!(json(&demo.stepmark(&["resume", "--json"]))["artifact"], BRIEF);
    let empty = Sandbox::empty().stepmark(&["resume"]);
    assert_eq!((empty.code, empty.stdout.trim()), (0, "nothing is unfinished"), "{empty}");
}

#[test]
fn a_clock_that_goes_back_makes_no_outdated_checkpoint_new() {
    let demo = Sandbox::demo();
    for (time, arguments) in [("12:00", &["checkpoint", PRD][..]), ("11:00", &["complete", PRD, "4"])] {
        let mut command = demo.command(arguments);
        assert_eq!(demo.run(command.env("STEPMARK_TEST_TIME", format!("2026-11-22T{time}:00Z"))).code, 0);
    }
    damage(&demo);
    let answer = json(&demo.stepmark(&["resume", PRD, "--json"]));
    assert_eq!(gist(&answer), (3, "journal", "step-05-domain"));
    assert!(said(&answer, "checkpoint").1.contains("outdated"), "{answer:#}");
}
