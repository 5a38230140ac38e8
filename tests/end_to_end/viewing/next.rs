//! `stepmark next`

use insta::assert_snapshot;

use crate::harness::{
    Sandbox,
    demo::{ARCHITECTURE, BRAINSTORMING, BRIEF, EPICS, PRD},
    sprint::{path, story},
};

/// A spec of BMAD 6.12, of which a status is all that tells how far it is.
fn spec(status: &str) -> String {
    format!("---\ntitle: A lamp\ntype: feature\nstatus: {status}\ncontext: []\n---\n\n# A lamp\n")
}

#[test]
fn work_that_has_a_status_only_goes_on_with_a_move() {
    let sandbox = Sandbox::empty();
    let lamp = path("spec-1-1-lamp");
    sandbox.write(&lamp, spec("draft"));
    assert_snapshot!(sandbox.reads_only(&["next"]), @r"
    exit 0
    ── stdout
    status → ready-for-dev
      stepmark transition _bmad-output/implementation-artifacts/spec-1-1-lamp.md ready-for-dev
      or to in-progress, blocked
    ");
    let answer = sandbox.reads_only(&["next", "--json"]).json("stepmark.next/3");
    assert_eq!(answer["moves"], serde_json::json!(["ready-for-dev", "in-progress", "blocked"]));
    assert_eq!((&answer["status"], &answer["next"]), (&"draft".into(), &serde_json::json!([])));
    let shown = sandbox.reads_only(&["show"]).stdout;
    assert!(shown.contains("next       status → ready-for-dev"), "{shown}");
    let shown = sandbox.reads_only(&["show", "--json"]).json("stepmark.show/2");
    assert_eq!(shown["lifecycle"]["moves"], answer["moves"]);
    assert_snapshot!(sandbox.reads_only(&["resume"]), @r"
    exit 0
    ── stdout
    _bmad-output/implementation-artifacts/spec-1-1-lamp.md  draft
    status → ready-for-dev
      stepmark transition _bmad-output/implementation-artifacts/spec-1-1-lamp.md ready-for-dev
    because: tier 1: the frontmatter can be read, and it is the truth
    ");
    let resumed = sandbox.reads_only(&["resume", "--json"]).json("stepmark.resume/2");
    assert_eq!(
        (&resumed["moves"], &resumed["finished"], &resumed["total"]),
        (&answer["moves"], &false.into(), &serde_json::Value::Null)
    );
    sandbox.write(&lamp, spec("done"));
    assert_eq!(sandbox.reads_only(&["next"]).code, 6, "nothing is left");
    assert!(sandbox.reads_only(&["next", &lamp]).stdout.contains("is finished"));
    let resumed = sandbox.reads_only(&["resume", &lamp, "--json"]).json("stepmark.resume/2");
    assert_eq!(resumed["finished"], true);
    sandbox.write(&lamp, spec("dun"));
    assert_snapshot!(sandbox.reads_only(&["next"]), @r"
    exit 1
    ── stderr
    error: cannot tell the next step of `_bmad-output/implementation-artifacts/spec-1-1-lamp.md`: its status `dun` is no state of the lifecycle `bmad-spec`
      help: `stepmark transition ARTIFACT STATE --force --reason TEXT` corrects it
    ");
}

#[test]
fn stories_that_wait_for_their_import_count_beside_others() {
    let sandbox = Sandbox::empty();
    sandbox.write(&path("1-10-dim"), story("1.10", Some("backlog"), None));
    sandbox.write(&path("1-2-lamp"), story("1.2", None, Some("review")));
    assert_snapshot!(sandbox.reads_only(&["next"]), @r"
    exit 0
    ── stdout
    ARTIFACT                                           STATUS   NEXT
    _bmad-output/implementation-artifacts/1-10-dim.md  backlog  status → ready-for-dev
    _bmad-output/implementation-artifacts/1-2-lamp.md  review   -
    `stepmark next ARTIFACT` names the command
    ");
    assert_snapshot!(sandbox.reads_only(&["next", "1.2"]), @r"
    exit 1
    ── stderr
    error: cannot tell the next step of `_bmad-output/implementation-artifacts/1-2-lamp.md`: it is a story that is not imported yet: its frontmatter has no status
      help: `stepmark import stories` takes it in
    ");
    assert!(sandbox.reads_only(&["show", "1.2"]).stdout.contains("next       `stepmark import stories`"));
    let told = sandbox.reads_only(&["resume", "1.2"]).stderr;
    assert!(told.contains("help: `stepmark import stories`"), "{told}");
    for number in 3..9 {
        sandbox.write(&path(&format!("2-{number}-part")), story("2", Some("backlog"), None));
    }
    let several = sandbox.reads_only(&["resume"]);
    assert!(several.code == 1 && several.stderr.contains("`2-5-part` and 3 more"), "{several}");
    assert!(several.stderr.len() < 300, "{several}");
    let several = sandbox.reads_only(&["resume", "--json"]).json("stepmark.resume/2");
    assert_eq!((&several["answer"], &several["total_unfinished"]), (&false.into(), &8.into()));
}

#[test]
fn names_the_step_and_its_file() {
    let demo = Sandbox::demo();
    assert_snapshot!(demo.reads_only(&["next", PRD]), @r"
    exit 0
    ── stdout
    step-04-journeys  _bmad/bmm/workflows/2-plan-workflows/create-prd/steps-c/step-04-journeys.md
    ");
    assert_snapshot!(demo.reads_only(&["next", ARCHITECTURE]), @r"
    exit 0
    ── stdout
    step-06-structure  _bmad/bmm/workflows/3-solutioning/create-architecture/steps/step-06-structure.md
    ");
    assert_eq!(demo.stepmark(&["next", "-q", PRD]), demo.stepmark(&["next", PRD]));
}

#[test]
fn the_named_file_is_there() {
    let demo = Sandbox::demo();
    let answer = demo.reads_only(&["next", "--json", ARCHITECTURE]).json("stepmark.next/3");
    let [next] = answer["next"].as_array().unwrap().as_slice() else { panic!("{answer}") };
    assert_eq!(next["id"], "step-06-structure");
    let text = demo.read(next["file"].as_str().unwrap());
    assert!(String::from_utf8(text).unwrap().contains("Step 6"));
}

#[test]
fn says_when_a_workflow_is_finished() {
    let demo = Sandbox::demo();
    assert_snapshot!(demo.reads_only(&["next", BRIEF]), @r"
    exit 0
    ── stdout
    `_bmad-output/planning-artifacts/product-brief-toolshed-2026-01-14.md` is finished
    ");
    assert_eq!(demo.reads_only(&["next", "-q", BRIEF]).to_string(), "exit 0\n");
    let answer = demo.reads_only(&["next", "--json", BRIEF]).json("stepmark.next/3");
    assert_eq!((&answer["work_state"], answer["next"].as_array().unwrap().len()), (&"finished".into(), 0));
}

#[test]
fn offers_alternatives() {
    let demo = Sandbox::demo();
    demo.stepmark(&["reopen", BRAINSTORMING, "2b"]);
    assert_snapshot!(demo.reads_only(&["next", BRAINSTORMING]), @r"
    exit 0
    ── stdout
    step-02a-user-selected  _bmad/core/workflows/brainstorming/steps/step-02a-user-selected.md
    step-02b-ai-recommended  _bmad/core/workflows/brainstorming/steps/step-02b-ai-recommended.md
    step-02c-random-selection  _bmad/core/workflows/brainstorming/steps/step-02c-random-selection.md
    step-02d-progressive-flow  _bmad/core/workflows/brainstorming/steps/step-02d-progressive-flow.md
    ");
    let answer = demo.reads_only(&["next", "--json", BRAINSTORMING]).json("stepmark.next/3");
    assert_eq!(answer["next"].as_array().unwrap().len(), 4, "{answer}");
}

#[test]
fn warns_of_an_interrupted_workflow() {
    let demo = Sandbox::demo();
    demo.write("_bmad-output/prd-2.md", "---\nstepsCompleted: []\nworkflowType: prd\n---\n# Half a PRD\n");
    assert_snapshot!(demo.reads_only(&["next", "_bmad-output/prd-2.md"]), @r"
    exit 0
    ── stdout
    step-01-init  _bmad/bmm/workflows/2-plan-workflows/create-prd/steps-c/step-01-init.md
    ── stderr
    warning: `_bmad-output/prd-2.md` has content but no completed step: the workflow was interrupted; look at it before its first step runs again
    ");
    demo.write("_bmad-output/prd-2.md", "---\nstepsCompleted: []\nworkflowType: prd\n---\n");
    let fresh = demo.reads_only(&["next", "_bmad-output/prd-2.md"]);
    assert_eq!((fresh.code, fresh.stderr.as_str()), (0, ""), "{fresh}");
    let template = "_bmad/bmm/workflows/2-plan-workflows/create-prd/templates/prd-template.md";
    demo.write("_bmad-output/prd-2.md", demo.read(template));
    let copied = demo.reads_only(&["next", "_bmad-output/prd-2.md"]);
    assert_eq!((copied.code, copied.stderr.as_str()), (0, ""), "{copied}");
    assert!(copied.stdout.starts_with("step-01-init"), "{copied}");
}

#[test]
fn says_why_there_is_no_answer() {
    let demo = Sandbox::demo();
    assert_snapshot!(demo.reads_only(&["next", EPICS]), @r"
    exit 1
    ── stderr
    error: cannot tell the next step of `_bmad-output/planning-artifacts/epics.md`: no workflow of the project fits
      help: install the workflow, or declare one in `.stepmark/config.yaml` under `workflows`
    ");
    demo.write("_bmad-output/prd-2.md", "---\nstepsCompleted: [step-77-else]\nworkflowType: prd\n---\n");
    assert_snapshot!(demo.reads_only(&["next", "_bmad-output/prd-2.md"]), @r"
    exit 1
    ── stderr
    error: cannot tell the next step of `_bmad-output/prd-2.md`: no listed step is one of the workflow
      help: `stepmark show` lists the steps of its workflow
    ");
    let error = demo.reads_only(&["next", "--json", EPICS]).json_error();
    assert_eq!(error["exit"], 1);
}

#[test]
fn of_several_those_that_were_begun_come_first() {
    let sandbox = Sandbox::empty();
    for (name, status) in [("spec-1-1-a", "draft"), ("spec-1-2-b", "in-progress"), ("spec-1-3-c", "done")] {
        let text = format!("---\ntype: feature\nstatus: {status}\ncontext: []\n---\n# {name}\n");
        sandbox.write(&path(name), text);
    }
    let answer = sandbox.reads_only(&["next", "--json"]).json("stepmark.next-list/1");
    let rows = answer["artifacts"].as_array().unwrap();
    let paths: Vec<&str> = rows.iter().filter_map(|row| row["path"].as_str()).collect();
    assert_eq!(paths, [path("spec-1-2-b"), path("spec-1-1-a")]);
    assert_eq!(rows[0]["command"], format!("stepmark transition {} in-review", path("spec-1-2-b")));
}

/// bmad-loop parks a story whose last step is a person's.
#[test]
fn a_story_that_waits_for_a_person_says_what_for_and_has_a_way_on() {
    let sandbox = Sandbox::empty();
    let spec = path("spec-1-3-dns");
    sandbox.write(
        &spec,
        "---\ntitle: DNS\ntype: feature\nstatus: awaiting-operator\noperator_actions:\n  - >-\n    Publish the TXT record\ncontext: []\n---\n",
    );
    assert_eq!(sandbox.reads_only(&["check"]).code, 0);
    assert!(
        sandbox.reads_only(&["next", &spec]).stdout.contains("a person has to: Publish the TXT record\n")
    );
    assert!(sandbox.reads_only(&["show", &spec]).stdout.contains("waits for  Publish the TXT record\n"));
    assert_eq!(sandbox.reads_only(&["list", "--where", "status=awaiting-operator"]).code, 0);
    assert!(sandbox.reads_only(&["status"]).stdout.contains("a person decides"));
    for other in ["spec-1-1-a", "spec-1-2-b"] {
        sandbox.write(&path(other), "---\ntitle: A\ntype: feature\nstatus: in-progress\ncontext: []\n---\n");
    }
    let list = sandbox.reads_only(&["next"]).stdout;
    assert!(list.contains("spec-1-2-b") && !list.contains("spec-1-3-dns"), "it is not next: {list}");
    for other in ["spec-1-1-a", "spec-1-2-b"] {
        sandbox.write(&path(other), "---\ntitle: A\ntype: feature\nstatus: blocked\ncontext: []\n---\n");
    }
    let list = sandbox.reads_only(&["next"]);
    assert_eq!(
        list.stdout, "every open artifact waits for a person: `stepmark status` shows them\n",
        "{list}"
    );
    assert_eq!(list.code, 8);
    let waiting = sandbox.reads_only(&["list", "--waiting", "--columns", "path"]).stdout;
    assert!(waiting.contains("spec-1-3-dns") && !waiting.contains("spec-1-1-a"), "{waiting}");
    let done = sandbox.stepmark(&["transition", &spec, "done"]);
    assert_eq!(done.code, 0, "{done}");
    assert!(!sandbox.reads_only(&["show", &spec]).stdout.contains("waits for"));
}

/// Who acts is no question of a command that reads.
#[cfg(unix)]
#[test]
fn a_command_that_reads_starts_no_program() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::empty();
    sandbox.write("docs/a.md", "---\nstatus: draft\n---\n");
    sandbox.write(".stepmark/config.yaml", "artifacts:\n  include: ['docs/**/*.md']\n");
    sandbox.write("bin/git", "#!/bin/sh\necho started > \"$0.started\"\n");
    std::fs::set_permissions(sandbox.place("bin/git"), PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::create_dir(sandbox.place(".git")).unwrap();
    for arguments in [&["next"][..], &["next", "a"], &["status"], &["list"], &["show", "a"], &["--version"]] {
        let mut command = sandbox.command(arguments);
        sandbox.run(command.env("PATH", sandbox.place("bin")).env_remove("STEPMARK_ACTOR"));
        assert!(!sandbox.place("bin/git.started").exists(), "{arguments:?}");
    }
}

/// The order of `stories.yaml` is the order of execution; its stories need no spec to be next.
#[test]
fn the_next_story_of_a_list_is_named_before_it_has_a_spec() {
    let sandbox = Sandbox::empty();
    let list = "- id: \"1\"\n  title: Lend\n- id: \"2\"\n  title: Give back\n- id: \"3\"\n  title: Remind\n";
    sandbox.write("_bmad-output/specs/spec-library/stories.yaml", list);
    let spec = |name: &str, status: &str| {
        let path = format!("_bmad-output/specs/spec-library/stories/{name}.md");
        sandbox.write(&path, format!("---\ntype: feature\ncontext: []\nstatus: {status}\n---\n# {name}\n"));
        path
    };
    let next = || sandbox.stepmark(&["next"]);
    assert!(
        next().code == 0 && next().stdout.contains("story 1 of _bmad-output/specs/spec-library/stories.yaml")
    );
    spec("1-lend", "done");
    let third = spec("3-remind", "ready-for-dev");
    let told = sandbox.stepmark(&["next", "--json"]);
    assert!(told.stdout.contains("ready-for-dev"), "one open artifact is what is worked on: {told}");
    let second = spec("2-give-back", "ready-for-dev");
    let rows = sandbox.stepmark(&["next", "--json"]).json("stepmark.next-list/1")["artifacts"].clone();
    let paths: Vec<&str> = rows.as_array().unwrap().iter().map(|row| row["path"].as_str().unwrap()).collect();
    assert_eq!(paths, [second.as_str()], "{third} comes after it");
}
