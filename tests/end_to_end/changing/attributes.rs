//! The attributes of declared lifecycles: lists that only grow, frozen states, writers, closed keys; and
//! moves that want a file, an approval or a verified attempt.

use insta::assert_snapshot;

use crate::{
    changing::delegate::events,
    harness::{Run, Sandbox},
};

const RUN: &str = "runs/1.md";

const CONFIGURATION: &str = "\
lifecycles:
  - name: run
    states:
      - {name: open, initial: true}
      - {name: closed, frozen: true, terminal: true}
      - {name: accepted, terminal: true}
    moves:
      - {from: open, to: closed, guards: [verified, file-exists(report.path), 'at-least(reviews, 2)']}
      - {from: closed, to: accepted, guards: [approved]}
    append_only: [attempts]
    closed: {attempts: [attempt_id, agent]}
    approvers: tech_lead
    applies_to: [{path: 'runs/'}]
  - name: record
    states: [{name: kept, terminal: true}]
    writers: custodian
    applies_to: [{path: 'records/'}]
roles:
  tech_lead: ['human:Ada']
";

fn with_run(frontmatter: &str) -> Sandbox {
    let sandbox = Sandbox::empty();
    sandbox.write(".stepmark/config.yaml", CONFIGURATION);
    sandbox.write(RUN, format!("---\nid: run-1\n{frontmatter}---\n"));
    sandbox
}

fn last_id(sandbox: &Sandbox) -> String {
    events(sandbox).last().unwrap()["id"].as_str().unwrap().to_owned()
}

/// The cause that a refusal tells.
fn cause(run: &Run) -> String {
    assert_eq!(run.code, 1, "{run}");
    let cause = run.stderr.lines().find_map(|line| line.trim().strip_prefix("cause: "));
    cause.unwrap_or_else(|| panic!("{run}")).to_owned()
}

#[test]
fn a_list_that_only_grows_is_safe_from_every_command() {
    let sandbox = with_run("status: open\nattempts: [{attempt_id: a, agent: w}]\n");
    let lost =
        "`attempts` only grows by the lifecycle `run`: of its 1 entries the 1st was changed or taken away";
    let before = sandbox.read(RUN);
    for arguments in [
        &["set", RUN, "attempts[0].agent=v"][..],
        &["set", RUN, "attempts=[]", "--force", "--reason", "a mistake"],
    ] {
        assert_eq!(cause(&sandbox.stepmark(arguments)), lost, "{arguments:?}");
    }
    assert_eq!(sandbox.read(RUN), before);
    let grown =
        sandbox.stepmark(&["set", RUN, "attempts=[{attempt_id: a, agent: w}, {attempt_id: b, agent: w}]"]);
    assert_eq!(grown.code, 0, "{grown}");
    let undone = sandbox.stepmark(&["undo", &last_id(&sandbox)]);
    assert_eq!(
        cause(&undone),
        "`attempts` only grows by the lifecycle `run`: of its 2 entries the 2nd was changed or taken away"
    );
    let made = sandbox.stepmark(&["checkpoint", RUN, "--json"]).json("stepmark.checkpoint-made/1");
    let place = made["checkpoint"].as_str().unwrap().to_owned();
    sandbox.write(RUN, "---\nid: run-1\nstatus: open\nattempts:\n- {attempt_id: a, agent: w}\n- {attempt_id: b, agent: w}\n- {attempt_id: c, agent: w}\n---\n");
    let restored = sandbox.stepmark(&["restore", RUN, "--from", &place]);
    assert!(cause(&restored).contains("of its 3 entries the 3rd"), "{restored}");
}

#[test]
fn no_other_names_stand_under_a_closed_key() {
    let sandbox = with_run("status: open\n");
    assert_snapshot!(sandbox.stepmark(&["set", RUN, "attempts=[{attempt_id: a, transcript: long}]"]), @r"
    exit 1
    ── stderr
    error: `runs/1.md` is left as it is
      cause: under `attempts` the lifecycle `run` has no `transcript`: it has `attempt_id` and `agent`
      help: `stepmark transition runs/1.md` lists the moves; to change it all the same: `--force --reason TEXT`
    ");
    let forced = ["set", RUN, "attempts=[{attempt_id: a, transcript: long}]", "--force", "-m", "asked for"];
    assert_eq!(sandbox.stepmark(&forced).code, 0);
    let told = events(&sandbox);
    let insisted = told.iter().find(|event| event["kind"] == "override").unwrap();
    assert_eq!(insisted["reason"], "asked for");
    assert!(insisted["data"]["refused"].as_str().unwrap().contains("no `transcript`"), "{insisted}");
}

#[test]
fn a_frozen_state_is_left_by_a_move_alone() {
    let sandbox = with_run("status: closed\n");
    assert_snapshot!(sandbox.stepmark(&["set", RUN, "title=Late"]), @r"
    exit 1
    ── stderr
    error: `runs/1.md` is left as it is
      cause: it is `closed`, which the lifecycle `run` leaves as it is: only a move to `accepted` changes it
      help: `stepmark transition runs/1.md` lists the moves; to change it all the same: `--force --reason TEXT`
    ");
    assert_eq!(sandbox.stepmark(&["set", RUN, "title=Late", "--force", "-m", "a typing error"]).code, 0);
    assert!(cause(&sandbox.stepmark(&["undo", &last_id(&sandbox)])).starts_with("it is `closed`"));
    let forced = ["undo", &last_id(&sandbox), "--force", "-m", "it was right before"];
    assert_eq!(sandbox.stepmark(&forced).code, 0);
    let removed = sandbox.stepmark(&["remove", RUN]);
    assert_eq!(removed.code, 1, "{removed}");
}

#[test]
fn only_writers_write_by_generic_commands() {
    let sandbox = with_run("status: open\n");
    sandbox.write("records/a.md", "---\nid: a\nstatus: kept\n---\n");
    assert_snapshot!(sandbox.stepmark(&["--actor", "agent:writer", "set", "records/a.md", "n=1"]), @r"
    exit 1
    ── stderr
    error: `records/a.md` is left as it is
      cause: only the role `custodian` changes it by the lifecycle `record`, and `agent:writer` does not have it; it is that of `agent:knowledge` and `agent:knowledge_agent`
      help: `stepmark transition records/a.md` lists the moves; to change it all the same: `--force --reason TEXT`
    ");
    let own = sandbox.stepmark(&["--actor", "agent:knowledge", "set", "records/a.md", "n=1"]);
    assert_eq!(own.code, 0, "{own}");
    let undone = sandbox.stepmark(&["--actor", "agent:writer", "undo", &last_id(&sandbox)]);
    assert!(cause(&undone).starts_with("only the role `custodian` changes it"), "{undone}");
}

#[test]
fn a_move_wants_a_file_a_number_a_verification_and_an_approval() {
    let sandbox = with_run(
        "status: open\nreviews: [x]\nreport: {path: report.txt}\nattempts: [{attempt_id: a, agent: w}]\n",
    );
    let close = || sandbox.stepmark(&["transition", RUN, "closed"]);
    let all =
        "only with `verified`: the attempt `a` has no verification; and with `file-exists(report.path)`: ";
    assert!(
        cause(&close()).contains(all)
            && cause(&close()).ends_with("; and with `at-least(reviews, 2)`: `reviews` is 1")
    );
    let verified = "verifications=[{attempt_id: a, verifier: {decision: PASS}}]";
    assert_eq!(sandbox.stepmark(&["set", RUN, verified]).code, 0);
    let refused = cause(&close());
    assert!(
        refused.contains("`file-exists(report.path)`: `report.txt` is no file of the project; and with "),
        "{refused}"
    );
    sandbox.write("report.txt", "fine\n");
    assert!(cause(&close()).ends_with("only with `at-least(reviews, 2)`: `reviews` is 1"));
    assert_eq!(sandbox.stepmark(&["set", RUN, "reviews=[x, y]"]).code, 0);
    assert_eq!(close().code, 0);
    let accept = |by: &str| {
        let approval = format!("approval={{to: accepted, by: '{by}', decided_at: 2026-11-25}}");
        sandbox.stepmark(&["set", RUN, "status=accepted", &approval])
    };
    let refused = cause(&accept("human:Bea"));
    assert!(
        refused.ends_with("`human:Bea`, who approved it, does not have the role `tech_lead`"),
        "{refused}"
    );
    assert_eq!(accept("human:Ada").code, 0);
    assert_eq!(sandbox.stepmark(&["replay", "--verify"]).code, 0);
}

#[test]
fn show_names_what_holds_for_every_change() {
    let sandbox = with_run("status: open\n");
    assert_snapshot!(sandbox.reads_only(&["lifecycle", "show", "run"]), @r"
    exit 0
    ── stdout
    STATE     RANK  SYNONYMS  GOES TO                                                            MEANING
    open      -     -         closed (verified, file-exists(report.path), at-least(reviews, 2))  begins here
    closed    -     -         accepted (approved)                                                ends here; only a move changes it
    accepted  -     -         -                                                                  ends here
    `attempts` only grows
    under `attempts` stand only `attempt_id` and `agent`
    the role `tech_lead` approves
    ");
    let answer = sandbox.reads_only(&["lifecycle", "show", "run", "--json"]).json("stepmark.lifecycle/2");
    assert_eq!(answer["append_only"], serde_json::json!(["attempts"]));
    assert_eq!(answer["states"][1]["frozen"], true);
}
