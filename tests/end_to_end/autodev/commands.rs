//! Every command, its texts and exit codes.

use insta::assert_snapshot;

use super::{BATCH, FAILED, FILE, PLAN, REVIEW, autodev, by_agent, done, empty, text, with};
use crate::{
    changing::delegate::events,
    harness::{Sandbox, changed_lines},
};

#[test]
fn without_the_key_nothing_is_told() {
    assert_snapshot!(autodev(&Sandbox::empty(), &["status"]), @r"
    exit 1
    ── stderr
    error: the project does not use autodev
      help: `stepmark import autodev` switches it on with the state file that the project has; without one `stepmark autodev init` does
    ");
}

#[test]
fn a_project_begins_at_the_step_that_its_files_tell() {
    let sandbox = empty();
    assert_snapshot!(sandbox.reads_only(&["autodev", "status"]), @r"
    exit 1
    ── stdout
    _docs/_autodev_state.md: greenfield, cycle 1
    [>]  1 Problem
    [ ]  2 Research
    [ ]  3 Plan
    [ ]  4 UI Design
    [ ]  5 Decompose
    [ ]  6 Implement
    [ ]  7 Run Tests
    [ ]  8 Security Audit
    [ ]  9 Performance Test
    [ ] 10 Deploy
    [ ] 11 Retrospective
    ── stderr
    warning: _docs/_autodev_state.md: not there; `stepmark autodev start` makes it
    ");
    assert_snapshot!(sandbox.reads_only(&["autodev", "detect", "--explain"]), @r"
    exit 1
    ── stdout
    flow greenfield
     1 Problem: the files say that it is to be done
       _docs/00_problem/problem.md: not there
       _docs/00_problem/restrictions.md: not there
       _docs/00_problem/acceptance_criteria.md: not there
       _docs/00_problem/input_data/**: 0 files
     2 Research: the files say that it is to be done
       _docs/01_solution/solution_draft*.md: 0 files
     3 Plan: the files do not tell; what is noted is believed
     4 UI Design: the files do not tell; what is noted is believed
     5 Decompose: the files do not tell; what is noted is believed
     6 Implement: the files do not tell; what is noted is believed
     7 Run Tests: the files do not tell; what is noted is believed
     8 Security Audit: the files do not tell; what is noted is believed
     9 Performance Test: the files do not tell; what is noted is believed
    10 Deploy: the files do not tell; what is noted is believed
    11 Retrospective: the files do not tell; what is noted is believed
    step 1 `Problem`
    ── stderr
    warning: _docs/_autodev_state.md: not there; `stepmark autodev start` makes it
    ");
    assert_snapshot!(autodev(&sandbox, &["start"]), @r"
    exit 0
    ── stdout
    _docs/_autodev_state.md: step 1 `Problem`, in_progress, phase 0 awaiting-invocation
    ");
    assert_snapshot!(text(&sandbox), @r#"
    # Autodev State

    ## Current Step
    flow: greenfield
    step: 1
    name: Problem
    status: in_progress
    sub_step:
      phase: 0
      name: awaiting-invocation
      detail: ""
    retry_count: 0
    cycle: 1
    "#);
    assert_snapshot!(autodev(&sandbox, &["start"]), @r"
    exit 0
    ── stdout
    _docs/_autodev_state.md: nothing to write
    ");
    let first = events(&sandbox);
    assert_eq!((first.len(), first[0]["command"].as_str()), (2, Some("autodev start")), "{first:?}");
}

#[test]
fn status_is_a_line_a_step() {
    let sandbox = with(PLAN);
    assert_snapshot!(sandbox.reads_only(&["autodev", "status"]), @r"
    exit 0
    ── stdout
    _docs/_autodev_state.md: greenfield, cycle 1
    [x]  1 Problem
    [x]  2 Research
    [>]  3 Plan, in_progress, phase 4 architecture-review-risk-assessment
    [ ]  4 UI Design
    [ ]  5 Decompose
    [ ]  6 Implement
    [ ]  7 Run Tests
    [ ]  8 Security Audit
    [ ]  9 Performance Test
    [ ] 10 Deploy
    [ ] 11 Retrospective
    ");
    assert_snapshot!(sandbox.reads_only(&["autodev", "next"]), @r"
    exit 0
    ── stdout
    step 3 `Plan`, in_progress, phase 4 architecture-review-risk-assessment
    ");
    assert_snapshot!(sandbox.reads_only(&["autodev", "detect"]), @r"
    exit 0
    ── stdout
    step 3 `Plan`
    ");
    let told = sandbox.reads_only(&["autodev", "status", "--json"]).json("stepmark.autodev/1");
    assert_eq!((told["step"].as_u64(), told["consistent"].as_bool()), (Some(3), Some(true)), "{told}");
    assert_eq!(told["noted"]["sub_step"]["phase"], 4);
}

#[test]
fn a_sub_step_changes_its_values_and_no_other_byte() {
    for (example, arguments, replaced) in [
        (
            PLAN,
            &["sub-step", "5", "test-specifications"][..],
            &[("phase: 4", "phase: 5"), ("architecture-review-risk-assessment", "test-specifications")][..],
        ),
        (
            BATCH,
            &["sub-step", "7", "batch-loop", "--detail", "batch 3 of ~4"],
            &[("batch 2 of", "batch 3 of")],
        ),
        (REVIEW, &["fail", "--reason", "nobody answers"], &[("retry_count: 0", "retry_count: 1")]),
        (
            FAILED,
            &["retry", "--reset"],
            &[("status: failed", "status: in_progress"), ("retry_count: 3", "retry_count: 0")],
        ),
    ] {
        let sandbox = with(example);
        done(&sandbox, arguments);
        let expected = replaced.iter().fold(example.to_owned(), |text, (from, to)| text.replace(from, to));
        assert_eq!(text(&sandbox), expected, "{arguments:?}");
    }
}

#[test]
fn a_sub_step_out_of_order_is_refused() {
    let sandbox = with(PLAN);
    assert_snapshot!(autodev(&sandbox, &["sub-step", "6", "x"]), @r"
    exit 1
    ── stderr
    error: phase 6 does not follow phase 4: the next is 5
    ");
    assert_snapshot!(autodev(&sandbox, &["sub-step", "5", "Test Specs"]), @r"
    exit 1
    ── stderr
    error: `Test Specs` is no name of a phase: write it in kebab-case, as `batch-loop`
    ");
    assert_snapshot!(autodev(&sandbox, &["sub-step", "5", "awaiting-invocation"]), @r"
    exit 1
    ── stderr
    error: `awaiting-invocation` is the name of phase 0 alone
    ");
    assert_snapshot!(autodev(&sandbox, &["sub-step", "5", "test-specs"]), @r"
    exit 0
    ── stdout
    _docs/_autodev_state.md: step 3 `Plan`, in_progress, phase 5 test-specs
    ");
    assert_snapshot!(autodev(&sandbox, &["sub-step", "5", "test-specs"]), @r"
    exit 0
    ── stdout
    _docs/_autodev_state.md: nothing to write
    ");
    assert_eq!(autodev(&sandbox, &["sub-step", "4.5", "x"]).code, 2, "no fraction is ever written");
}

#[test]
fn a_step_chains_to_the_next() {
    let sandbox = with(PLAN);
    assert_snapshot!(autodev(&sandbox, &["complete"]), @r"
    exit 0
    ── stdout
    _docs/_autodev_state.md: step 4 `UI Design`, not_started, phase 0 awaiting-invocation
    ");
    assert_snapshot!(changed_lines(PLAN.as_bytes(), &sandbox.read(FILE)), @r"
    -step: 3
    -name: Plan
    -status: in_progress
    +step: 4
    +name: UI Design
    +status: not_started
    -  phase: 4
    -  name: architecture-review-risk-assessment
    +  phase: 0
    +  name: awaiting-invocation
    ");
    assert_snapshot!(autodev(&sandbox, &["complete"]), @r"
    exit 1
    ── stderr
    error: step 4 `UI Design` is `not_started`: `stepmark autodev start` begins it
    ");
    assert_snapshot!(autodev(&sandbox, &["skip", "--reason", "no interface"]), @r"
    exit 0
    ── stdout
    _docs/_autodev_state.md: step 5 `Decompose`, not_started, phase 0 awaiting-invocation
    ");
    assert_snapshot!(autodev(&sandbox, &["skip", "--reason", "too long"]), @r"
    exit 1
    ── stderr
    error: step 5 `Decompose` is not optional: complete it, or `--force` with the reason
    ");
    done(&sandbox, &["skip", "--reason", "too long", "--force"]);
    let told: Vec<_> = events(&sandbox)
        .iter()
        .map(|event| (event["data"]["finished"].clone(), event["reason"].clone()))
        .collect();
    assert_eq!(told[1].0, "3 Plan");
    assert_eq!((told[2].0.as_str(), told[2].1.as_str()), (Some("4 UI Design"), Some("no interface")));
}

#[test]
fn three_failed_retries_stop_until_a_person_begins_again() {
    let sandbox = with(PLAN);
    assert_snapshot!(autodev(&sandbox, &["fail", "--reason", "no draft"]), @r"
    exit 0
    ── stdout
    _docs/_autodev_state.md: step 3 `Plan`, in_progress, phase 4 architecture-review-risk-assessment, 1 failed retry
    ");
    assert_snapshot!(autodev(&sandbox, &["retry"]), @r"
    exit 0
    ── stdout
    _docs/_autodev_state.md: nothing to write
    ");
    done(&sandbox, &["fail", "--reason", "no draft"]);
    assert_snapshot!(autodev(&sandbox, &["fail", "--reason", "no draft"]), @r"
    exit 0
    ── stdout
    _docs/_autodev_state.md: step 3 `Plan`, failed, phase 4 architecture-review-risk-assessment, 3 failed retries
    ");
    assert_snapshot!(sandbox.reads_only(&["autodev", "next"]), @r"
    exit 8
    ── stdout
    step 3 `Plan` failed 3 times: a person looks at it, then `stepmark autodev retry --reset`
    ");
    for refused in
        [&["start"][..], &["retry"], &["fail", "--reason", "x"], &["complete"], &["sub-step", "5", "x"]]
    {
        assert_eq!(autodev(&sandbox, refused).code, 1, "{refused:?}");
    }
    assert_snapshot!(autodev(&sandbox, &["start"]), @r"
    exit 1
    ── stderr
    error: step 3 `Plan` failed 3 times: look at it; a person goes on with `stepmark autodev retry --reset`
    ");
    let reset = ["autodev", "retry", "--reset"];
    assert_snapshot!(sandbox.run(&mut by_agent(&sandbox, &reset)), @r"
    exit 1
    ── stderr
    error: only a person begins a failed step again: run it without `STEPMARK_ACTOR`, or as `human:NAME`
    ");
    for way_round in [&["set", FILE, "status=in_progress"], &["set", FILE, "retry_count=0"]] {
        assert_eq!(sandbox.run(&mut by_agent(&sandbox, way_round)).code, 1);
    }
    assert_snapshot!(autodev(&sandbox, &reset[1..]), @r"
    exit 0
    ── stdout
    _docs/_autodev_state.md: step 3 `Plan`, in_progress, phase 4 architecture-review-risk-assessment
    ");
    assert_eq!(text(&sandbox), PLAN);
}

#[test]
fn a_session_ends_at_a_boundary() {
    let sandbox = with(REVIEW);
    sandbox.write("_docs/_repo-config.yaml", "confirmed_by_user: true\n");
    assert_snapshot!(sandbox.reads_only(&["autodev", "next"]), @r"
    exit 1
    ── stdout
    step 3 `Status`
    ── stderr
    warning: _docs/_autodev_state.md: notes step 2 `Config Review`, in_progress; the files of the project count: `stepmark autodev detect --write`
    ");
    sandbox.write("_docs/_repo-config.yaml", "confirmed_by_user: false\n");
    assert_snapshot!(autodev(&sandbox, &["complete"]), @r"
    exit 0
    ── stdout
    _docs/_autodev_state.md: step 2 `Config Review`, completed, phase 0 awaiting-human-review (awaiting review of _docs/_repo-config.yaml)
    ======================================
     DECISION REQUIRED: Config Review is done — start Status?
    ======================================
     A) Start a new conversation for Status (recommended)
     B) Go on in this conversation (not recommended)
     Warning: where the conversation is full before Status is done, its state is
     noted and a new conversation follows all the same: B only puts it off.
    ======================================
    `stepmark autodev boundary` notes the next step and ends the session
    ── stderr
    warning: _docs/_autodev_state.md: notes step 2 `Config Review`, completed; the files of the project count: `stepmark autodev detect --write`
    ");
    sandbox.write("_docs/_repo-config.yaml", "confirmed_by_user: true\n");
    assert_snapshot!(sandbox.reads_only(&["autodev", "next"]), @r"
    exit 0
    ── stdout
    ======================================
     DECISION REQUIRED: Config Review is done — start Status?
    ======================================
     A) Start a new conversation for Status (recommended)
     B) Go on in this conversation (not recommended)
     Warning: where the conversation is full before Status is done, its state is
     noted and a new conversation follows all the same: B only puts it off.
    ======================================
    `stepmark autodev boundary` notes the next step and ends the session
    ");
    let started = sandbox.stepmark(&["session", "start", "--json"]).json("stepmark.session/1");
    let session = started["session"].as_str().unwrap();
    let run = sandbox.run(sandbox.command(&["autodev", "boundary"]).env("STEPMARK_SESSION", session));
    assert_snapshot!(run.to_string().replace(session, "SESSION"), @r"
    exit 0
    ── stdout
    _docs/_autodev_state.md: step 3 `Status`, not_started, phase 0 awaiting-invocation
    ======================================
     DECISION REQUIRED: Config Review is done — start Status?
    ======================================
     A) Start a new conversation for Status (recommended)
     B) Go on in this conversation (not recommended)
     Warning: where the conversation is full before Status is done, its state is
     noted and a new conversation follows all the same: B only puts it off.
    ======================================
    session SESSION has ended
    ");
    assert_snapshot!(changed_lines(REVIEW.as_bytes(), &sandbox.read(FILE)), @r#"
    -step: 2␍
    -name: Config Review␍
    -status: in_progress␍
    -sub_step: {phase: 0, name: awaiting-human-review, detail: "awaiting review of _docs/_repo-config.yaml"}␍
    +step: 3␍
    +name: Status␍
    +status: not_started␍
    +sub_step: {phase: 0, name: awaiting-invocation, detail: ""}␍
    "#);
    assert_snapshot!(autodev(&sandbox, &["boundary"]), @r"
    exit 1
    ── stderr
    error: step 3 `Status` is `not_started`: a session ends behind a step that is done, and `stepmark autodev start` begins it
    ");
    let ended = sandbox.stepmark(&["session", "show", session]);
    assert!(ended.stdout.contains("ended") && ended.stdout.contains("autodev boundary"), "{ended}");
}

#[test]
fn a_boundary_completes_the_step_in_one_commit() {
    let sandbox = with(REVIEW);
    let run = autodev(&sandbox, &["boundary"]);
    let said =
        "step 3 `Status`, not_started; the files of the project count: `stepmark autodev detect --write`";
    assert_eq!((run.code, run.stderr.contains(said)), (0, true), "{run}");
    let told = events(&sandbox);
    assert_eq!((told.len(), told[1]["data"]["finished"].as_str()), (2, Some("2 Config Review")), "{told:?}");
}

/// The tables of the flow files of the skill count, and their session boundaries.
#[test]
fn the_flow_files_of_the_skill_count() {
    let sandbox = with(PLAN);
    sandbox.write(".stepmark/config.yaml", "autodev: {skill: skills/autodev}\n");
    sandbox.write(
        "skills/autodev/flows/greenfield.md",
        "# Greenfield\n\n## Step Reference Table\n\n| Step | Name | Sub-Skill |\n|---|---|---|\n| 1 | Problem | problem/SKILL.md |\n\
         | 2 | Research | research/SKILL.md |\n| 3 | Plan | plan/SKILL.md |\n| 4 | Build | build/SKILL.md |\n\n\
         ## Auto-Chain Rules\n\n| Completed Step | Next Action |\n|---|---|\n| Plan (3) | **Session boundary** before Build |\n",
    );
    assert_snapshot!(autodev(&sandbox, &["complete"]), @r"
    exit 0
    ── stdout
    _docs/_autodev_state.md: step 3 `Plan`, completed, phase 4 architecture-review-risk-assessment
    ======================================
     DECISION REQUIRED: Plan is done — start Build?
    ======================================
     A) Start a new conversation for Build (recommended)
     B) Go on in this conversation (not recommended)
     Warning: where the conversation is full before Build is done, its state is
     noted and a new conversation follows all the same: B only puts it off.
    ======================================
    `stepmark autodev boundary` notes the next step and ends the session
    ");
    assert_eq!(text(&sandbox), PLAN.replace("in_progress", "completed"));
    let flow = String::from_utf8(sandbox.read("skills/autodev/flows/greenfield.md")).unwrap();
    let own =
        "\n### Step 3: Plan\n\n```text\n DECISION REQUIRED: has somebody read the plan?\n A) Yes\n```\n";
    sandbox.write("skills/autodev/flows/greenfield.md", flow + own);
    assert_snapshot!(autodev(&sandbox, &["boundary"]), @r"
    exit 0
    ── stdout
    _docs/_autodev_state.md: step 4 `Build`, not_started, phase 0 awaiting-invocation
     DECISION REQUIRED: has somebody read the plan?
     A) Yes
    ");
}

#[test]
fn the_last_step_ends_the_flow_and_another_one_follows() {
    let last = PLAN.replace("step: 3\nname: Plan", "step: 11\nname: Retrospective");
    let sandbox = with(&last);
    assert_snapshot!(autodev(&sandbox, &["complete"]), @r"
    exit 0
    ── stdout
    _docs/_autodev_state.md: all steps are done
    `stepmark autodev boundary` notes the next step and ends the session
    ");
    assert_snapshot!(autodev(&sandbox, &["status"]), @r"
    exit 0
    ── stdout
    _docs/_autodev_state.md: greenfield, cycle 1
    [x]  1 Problem
    [x]  2 Research
    [x]  3 Plan
    [x]  4 UI Design
    [x]  5 Decompose
    [x]  6 Implement
    [x]  7 Run Tests
    [x]  8 Security Audit
    [x]  9 Performance Test
    [x] 10 Deploy
    [x] 11 Retrospective
    ");
    assert_snapshot!(autodev(&sandbox, &["start"]), @r"
    exit 1
    ── stderr
    error: the flow `greenfield` is done: `stepmark autodev start --flow NAME` begins another one
    ");
    assert_snapshot!(autodev(&sandbox, &["start", "--flow", "brownfield"]), @r"
    exit 1
    ── stderr
    error: the flow `brownfield` is none of meta-repo, greenfield, existing-code
    ");
    assert_snapshot!(autodev(&sandbox, &["start", "--flow", "existing-code"]), @r"
    exit 0
    ── stdout
    _docs/_autodev_state.md: step 1 `Document`, in_progress, phase 0 awaiting-invocation
    ");
    assert_snapshot!(text(&sandbox), @r#"
    # Autodev State

    ## Current Step
    flow: existing-code
    step: 1
    name: Document
    status: in_progress
    sub_step:
      phase: 0
      name: awaiting-invocation
      detail: ""
    retry_count: 0
    cycle: 1
    "#);
    assert_snapshot!(autodev(&sandbox, &["start", "--flow", "greenfield"]), @r"
    exit 1
    ── stderr
    error: the flow `existing-code` is in step 1 `Document`: another one begins when it is done
    ");
}

#[test]
fn a_flow_that_goes_round_counts_its_cycles() {
    let sandbox = with(&BATCH.replace("step: 10\nname: Implement", "step: 17\nname: Retrospective"));
    done(&sandbox, &["complete"]);
    let now = text(&sandbox);
    assert!(now.contains("step: 9\nname: New Task\n") && now.contains("cycle: 4"), "{now}");
}

#[test]
fn where_the_files_disagree_they_count_and_a_move_corrects_the_state() {
    let sandbox = empty();
    sandbox.write(FILE, PLAN);
    assert_snapshot!(sandbox.reads_only(&["autodev", "next"]), @r"
    exit 1
    ── stdout
    step 1 `Problem`
    ── stderr
    warning: _docs/_autodev_state.md: notes step 3 `Plan`, in_progress; the files of the project count: `stepmark autodev detect --write`
    ");
    assert_snapshot!(autodev(&sandbox, &["sub-step", "5", "test-specs"]), @r"
    exit 1
    ── stdout
    _docs/_autodev_state.md: corrected to step 1, as the files of the project tell; it said 3
    ── stderr
    error: step 1 `Problem` is `not_started`: `stepmark autodev start` begins it
    ");
    assert_snapshot!(autodev(&sandbox, &["start"]), @r"
    exit 0
    ── stdout
    _docs/_autodev_state.md: step 1 `Problem`, in_progress, phase 0 awaiting-invocation
    ");
    assert_snapshot!(changed_lines(PLAN.as_bytes(), &sandbox.read(FILE)), @r"
    -step: 3
    -name: Plan
    +step: 1
    +name: Problem
    -  phase: 4
    -  name: architecture-review-risk-assessment
    +  phase: 0
    +  name: awaiting-invocation
    ");
}

#[test]
fn the_state_of_a_skill_is_held_against_the_sub_step() {
    let document = BATCH.replace("step: 10\nname: Implement", "step: 1\nname: Document");
    let sandbox = with(&document);
    sandbox.write("_docs/02_document/state.json", "{\"current_step\": \"module-analysis\"}\n");
    assert_snapshot!(sandbox.reads_only(&["autodev", "next"]), @r"
    exit 1
    ── stdout
    step 1 `Document`, in_progress, phase 7 batch-loop (batch 2 of ~4)
    ── stderr
    warning: _docs/02_document/state.json: the skill is in phase `module-analysis`, not `batch-loop`
    ");
    sandbox.write("_docs/02_document/state.json", "{\"current_step\": \"Batch loop\"}\n");
    assert_eq!(sandbox.reads_only(&["autodev", "next"]).code, 0);
}

#[test]
fn a_project_without_anything_begins() {
    let sandbox = Sandbox::empty();
    let off = sandbox.reads_only(&["autodev", "status"]);
    assert!(off.code == 1 && off.stderr.contains("`stepmark autodev init`"), "{off}");
    for command in
        [&["autodev", "init"][..], &["autodev", "init"], &["autodev", "start"], &["autodev", "next"]]
    {
        let run = sandbox.stepmark(command);
        assert_eq!(run.code, 0, "{run}");
    }
    assert!(sandbox.place("_docs/_autodev_state.md").is_file());
}
