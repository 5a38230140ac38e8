//! Tables of decisions.

use super::{
    sample::{acting, after, agent, person, state},
    *,
};
use crate::packs::MoveCall;
use serde_json::json;

fn of(name: &str) -> MoveCall {
    MoveCall::new("flow", name)
}

fn made(state: FlowState, change: impl Fn(&FlowState) -> Result<RecordChange, FlowRefusal>) -> FlowState {
    let change = change(&state).unwrap();
    after(&state, change.record)
}

fn claimed(state: FlowState, task: &str) -> FlowState {
    made(state, |state| claim(state, task, ("w1", None), &agent()))
}

fn ended(state: FlowState, task: &str, exit_status: Option<i64>) -> FlowState {
    let end = AttemptEnd { exit_status, ..AttemptEnd::default() };
    made(state, |state| end_attempt(state, task, &end, &agent()))
}

fn judgement(passed: Option<bool>, decision: Option<Decision>) -> Judgement {
    let check = |passed| CheckResult {
        name: "tests".to_owned(),
        command: String::new(),
        passed,
        required: true,
        exit_status: Some(i64::from(!passed)),
        output_digest: None,
        tail: String::new(),
    };
    Judgement { checks: passed.map(check).into_iter().collect(), decision, ..Judgement::default() }
}

fn refused<T: std::fmt::Debug>(result: Result<T, FlowRefusal>, expected: &str) {
    let refusal = result.unwrap_err().to_string();
    assert!(refusal.contains(expected), "{refusal}");
}

fn ready(state: &FlowState) -> Vec<&str> {
    state.ready().into_iter().map(FlowRecord::task).collect()
}

fn succeeded(state: FlowState, task: &str) -> FlowState {
    let judged =
        if task == "a" { judgement(Some(true), None) } else { judgement(None, Some(Decision::Pass)) };
    made(ended(claimed(state, task), task, Some(0)), |state| verify(state, task, &judged, &agent()))
}

#[test]
fn tasks_are_ready_when_those_before_succeeded_and_nobody_writes_the_same() {
    let flow = state();
    assert_eq!(ready(&flow), ["a"]);
    refused(claim(&flow, "b", ("w", None), &agent()), "waits for `f.a`");
    refused(claim(&flow, "x", ("w", None), &agent()), "no task `x`");
    let flow = succeeded(flow, "a");
    assert_eq!(ready(&flow), ["b", "c"]);
    let flow = claimed(flow, "b");
    assert_eq!(ready(&flow), [""; 0]);
    refused(claim(&flow, "c", ("w", None), &agent()), "`b`, which is running, wants `src`");
    refused(claim(&flow, "b", ("w", None), &agent()), "is `RUNNING`");
    let flow = ended(flow, "b", Some(0));
    assert_eq!(ready(&flow), ["c"]);
}

#[test]
fn checks_decide_and_the_policy_says_whether_it_is_tried_again() {
    let verifying = |task: &str, exit| {
        let mut flow = state();
        for before in ["a", "b", "c"].iter().take_while(|before| **before != task) {
            flow = succeeded(flow, before);
        }
        ended(claimed(flow, task), task, Some(exit))
    };
    for (task, exit, passed, decision, status, then) in [
        ("a", 0, Some(true), None, "SUCCESS", ""),
        ("a", 0, Some(true), Some(Decision::SoftFail), "RETRY", "retry-scheduled"),
        ("a", 0, Some(true), Some(Decision::HardFail), "FAILED", ""),
        ("a", 0, Some(false), Some(Decision::Pass), "RETRY", "retry-scheduled"),
        ("a", 1, None, None, "RETRY", "retry-scheduled"),
        ("b", 0, None, Some(Decision::Pass), "SUCCESS", ""),
        ("b", 0, None, Some(Decision::SoftFail), "FAILED", "retry-limit-reached"),
        ("d", 0, None, Some(Decision::SoftFail), "FAILED", ""),
        ("d", 9, None, None, "RETRY", "retry-scheduled"),
    ] {
        let flow = verifying(task, exit);
        let change = verify(&flow, task, &judgement(passed, decision), &agent()).unwrap();
        let told = change.facts.get("then").and_then(|then| then.as_str()).unwrap_or_default();
        assert_eq!((change.record.status(), told), (status, then), "{task} {exit} {passed:?} {decision:?}");
        assert_eq!(change.record.verifications().len(), 1);
        assert_eq!(change.record.text("blocking_reason").is_empty(), status == "SUCCESS");
    }
    let flow = verifying("a", 0);
    refused(verify(&flow, "a", &judgement(None, None), &agent()), "`tests` of the task `a` has no result");
    refused(verify(&verifying("b", 0), "b", &judgement(None, None), &agent()), "nothing says");
    let (own, worker) = (judgement(Some(true), Some(Decision::Pass)), acting("agent:w1"));
    refused(verify(&flow, "a", &own, &worker), "another one judges it");
    let other = Judgement { attempt_id: Some("f.a.7".to_owned()), ..judgement(Some(true), None) };
    refused(verify(&flow, "a", &other, &agent()), "`f.a.7` is not the one that counts: that is `f.a.1`");
    let by_person = Judgement { is_override: true, ..judgement(Some(false), None) };
    refused(verify(&flow, "a", &by_person, &agent()), "only a person may override a verification");
    let change = verify(&flow, "a", &by_person, &person()).unwrap();
    assert_eq!((change.record.status(), change.is_override), ("SUCCESS", true));
}

#[test]
fn an_attempt_is_ended_by_its_agent_alone_and_says_no_more_than_a_summary() {
    let flow = claimed(state(), "a");
    let end = |attempt: &str, agent: &str| AttemptEnd {
        attempt_id: Some(attempt.to_owned()),
        agent: Some(agent.to_owned()),
        exit_status: Some(0),
        ..AttemptEnd::default()
    };
    refused(end_attempt(&flow, "a", &end("f.a.0", "w1"), &agent()), "`f.a.0` is not the one that counts");
    refused(
        end_attempt(&flow, "a", &end("f.a.1", "w2"), &agent()),
        "`w2` is not the one that counts: that is `f.a.1`, of `w1`",
    );
    let long = OutputSummary { notes: "x".repeat(20_000), ..OutputSummary::default() };
    refused(
        end_attempt(&flow, "a", &AttemptEnd { summary: long, ..end("f.a.1", "w1") }, &agent()),
        "16384 are kept",
    );
    let change = end_attempt(&flow, "a", &end("f.a.1", "w1"), &agent()).unwrap();
    assert_eq!((change.event, change.record.attempts().len()), ("attempt-completed", 1));
    assert!(change.record.open_attempt().is_none());
    assert!(serde_json::from_str::<OutputSummary>(r#"{"transcript": "hidden"}"#).is_err());
}

#[test]
fn what_only_people_do_is_refused_to_agents() {
    let failed = || {
        let flow = ended(claimed(state(), "a"), "a", Some(0));
        made(flow, |state| verify(state, "a", &judgement(Some(true), Some(Decision::HardFail)), &agent()))
    };
    refused(make(&failed(), Some("a"), &of("retry"), &agent()), "is none: ask one");
    let flow = made(failed(), |state| make(state, Some("a"), &of("escalate"), &agent()));
    let flow = made(flow, |state| make(state, Some("a"), &of("retry"), &person()));
    assert_eq!((flow.task("a").unwrap().status(), ready(&flow)), ("RETRY", vec!["a"]));
    refused(make(&flow, Some("a"), &of("abort-task"), &agent()), "only a person may abort a task");
    let flow = made(claimed(flow, "a"), |state| make(state, Some("a"), &of("abort-task"), &person()));
    let task = flow.task("a").unwrap();
    assert_eq!((task.status(), task.attempts().len(), task.attempts()[1].is_crashed()), ("FAILED", 2, true));
    assert_eq!(ready(&flow), [""; 0], "a failed task frees none");
    for made in ["pause", "abort"] {
        refused(make(&flow, None, &of(made), &agent()), "only a person may");
    }
    let paused = after(&flow, make(&flow, None, &of("pause"), &person()).unwrap().record);
    refused(make(&paused, None, &of("resume"), &agent()), "only a person may resume");
    refused(claim(&paused, "a", ("w", None), &agent()), "`f` is `PAUSED`");
    assert!(why(&paused, "b").unwrap().reasons[1].contains("it waits for `f.a`, which is `FAILED`"));
}

#[test]
fn a_flow_is_complete_when_all_succeeded() {
    let flow = state();
    refused(make(&flow, None, &of("complete"), &agent()), "not complete: `a`, `b`, `c` and `d`");
    let flow = ["a", "b", "c", "d"].into_iter().fold(flow, succeeded);
    let flow = made(flow, |state| make(state, None, &of("complete"), &agent()));
    refused(make(&flow, None, &of("abort"), &person()), "it goes to `FROZEN_FOR_MERGE`");
    let mut changed = flow;
    changed.graph.tasks.pop();
    refused(claim(&changed, "a", ("w", None), &agent()), "is `COMPLETED`");
    assert!(changed.check_graph().is_err());
}

#[test]
fn an_approval_is_for_one_plan() {
    let mut state = state();
    state.flow.set("status", "COMPLETED");
    let plan = MergePlan { target_branch: "main".to_owned(), base: "b".to_owned(), ..MergePlan::default() };
    let mut state =
        made(state, |state| make(state, None, &of("merge-prepare").with("plan", json!(plan)), &person()));
    refused(make(&state, None, &of("merge-apply"), &person()), "was not approved");
    state = made(state, |state| make(state, None, &of("merge-approve"), &person()));
    assert!(make(&state, None, &of("merge-apply"), &agent()).is_ok());
    let other = MergePlan { commits: vec!["c".to_owned()], ..plan };
    state.flow.set("merge", serde_json::to_value(other).unwrap());
    refused(make(&state, None, &of("merge-apply"), &agent()), "is another one than a person approved");
}

#[test]
fn the_failed_check_is_told() {
    let flow = ended(claimed(state(), "a"), "a", Some(0));
    let flow = made(flow, |state| verify(state, "a", &judgement(Some(false), None), &agent()));
    let told = why(&flow, "a").unwrap();
    assert_eq!(told.reasons[1], "the check `tests` failed, exit status 1", "{told:?}");
    assert!(told.reasons[0].contains("`f.a.1` failed"), "{told:?}");
}
