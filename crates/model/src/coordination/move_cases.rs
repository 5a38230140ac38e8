//! Moves of tasks, and the tasks that may be claimed.

use serde_json::{Value as Json, json};

use super::task_move;
use super::{
    Record, State, check_dependencies, claimable, decide, dependants_freed, dependency_circle, orphaned,
    sample::{agent, state, task},
};
use crate::records::{Signal, Signals};
use crate::{lifecycle::built_in, packs::MoveCall};

const NOW: &str = "2026-11-24T12:00:00Z";

fn claim(agent: &str) -> MoveCall {
    task_move("claim", Some(agent))
}

fn start(agent: &str) -> MoveCall {
    task_move("start", Some(agent))
}

fn complete(agent: &str) -> MoveCall {
    task_move("done", Some(agent)).with("output", "Did").with("files_modified", vec!["a.rs"])
}

fn fail(agent: &str) -> MoveCall {
    task_move("fail", Some(agent)).with("error", "No")
}

fn release(agent: &str) -> MoveCall {
    task_move("release", Some(agent))
}

fn of_nobody(name: &str) -> MoveCall {
    task_move(name, None)
}

fn after(values: Json, made: &MoveCall, others: Vec<Record>) -> Result<Json, String> {
    let task = task("t", values);
    let mut tasks = others;
    tasks.push(task.clone());
    let state = state(tasks, vec![agent("w", json!({"capabilities": "rust, yaml"}))]);
    let decided = decide(&task, made, (&state, 1), NOW).map_err(|refusal| refusal.to_string())?;
    Ok(Json::Object(decided.values.into()))
}

#[test]
fn a_move_writes_what_it_is_about() {
    let held = json!({"status": "in_progress", "claimed_by": "w", "claimed_at": "c", "started_at": "s"});
    let failed = json!({"status": "failed", "claimed_by": "w", "claimed_at": "c", "completed_at": "d",
                        "result": {"error": "No"}, "retry_delay": 60});
    for (values, made, wanted) in [
        (json!({}), claim("w"), json!({"status": "claimed", "claimed_by": "w", "claimed_at": NOW})),
        (
            json!({"status": "available", "max_attempts": 3, "required_capabilities": ["yaml"]}),
            claim("w"),
            json!({"status": "claimed", "claimed_by": "w", "claimed_at": NOW, "attempts": 1, "max_attempts": 3,
                   "required_capabilities": ["yaml"]}),
        ),
        (
            json!({"status": "claimed", "claimed_by": "w"}),
            start("w"),
            json!({"status": "in_progress", "claimed_by": "w", "started_at": NOW}),
        ),
        (
            json!({"status": "claimed", "claimed_by": "w"}),
            complete("w"),
            json!({"status": "done", "claimed_by": "w", "completed_at": NOW,
                   "result": {"output": "Did", "files_modified": ["a.rs"]}}),
        ),
        (
            json!({"status": "in_progress", "claimed_by": "w"}),
            fail("w"),
            json!({"status": "failed", "claimed_by": "w", "completed_at": NOW, "result": {"error": "No"}}),
        ),
        (held.clone(), release("w"), json!({"status": "available", "claimed_by": null})),
        (held.clone(), of_nobody("orphan"), json!({"status": "available", "claimed_by": null})),
        (
            failed,
            of_nobody("retry"),
            json!({"status": "available", "claimed_by": null, "retry_count": 1, "retry_delay": 60,
                   "next_retry_at": "2026-11-24T12:01:00Z"}),
        ),
        (
            json!({"status": "pending", "dependencies": []}),
            of_nobody("free"),
            json!({"status": "available", "dependencies": []}),
        ),
        (
            json!({"status": "blocked"}),
            of_nobody("cancel"),
            json!({"status": "cancelled", "claimed_by": null}),
        ),
        // Made again by the same agent.
        (held.clone(), start("w"), held),
    ] {
        let shown = format!("{values} {made:?}");
        assert_eq!(after(values, &made, Vec::new()).as_ref(), Ok(&wanted), "{shown}");
    }
}

#[test]
fn a_refusal_says_what_would_be_legal() {
    let done = json!({"status": "done", "claimed_by": "w"});
    let held = json!({"status": "claimed", "claimed_by": "w"});
    for (values, made, wanted) in [
        (
            done.clone(),
            claim("x"),
            "the task `t` is `done`, and `claim` is for tasks that are `available`: `done` is final",
        ),
        (
            held.clone(),
            of_nobody("retry"),
            "the task `t` is `claimed`, and `retry` is for tasks that are `failed`: from `claimed` it goes to `available`, \
             `in_progress`, `done`, `failed` and `cancelled`",
        ),
        (
            json!({"status": "frozen"}),
            claim("w"),
            "the task `t` is `frozen`, and `claim` is for tasks that are `available`: `frozen` is no status of a task",
        ),
        (
            done,
            of_nobody("cancel"),
            "the task `t` is `done`, and `cancel` is for tasks that are `pending`, `blocked`, `available`, `claimed` and `in_progress`: `done` is final",
        ),
        (held.clone(), complete("x"), "the task `t` is that of `w`: only `w` moves it, not `x`"),
        (held, release("x"), "the task `t` is that of `w`: only `w` moves it, not `x`"),
        (
            json!({"dependencies": ["a", "b", "c", "n"]}),
            claim("w"),
            "the task `t` waits for `b`, `c` and `n`",
        ),
        (
            json!({"required_capabilities": ["go", "rust"]}),
            claim("w"),
            "the task `t` wants `go`, which `w` does not name among its capabilities",
        ),
        (
            json!({"next_retry_at": "2026-11-24T12:00:01"}),
            claim("w"),
            "the task `t` may be tried again at 2026-11-24T12:00:01Z",
        ),
        (
            json!({"status": "failed", "retry_count": 3}),
            of_nobody("retry"),
            "the task `t` was tried 3 times, and `max_retries` allows 3",
        ),
        (
            json!({"status": "failed", "attempts": 1, "max_attempts": 1}),
            of_nobody("retry"),
            "the task `t` was tried once, and `max_attempts` allows 1",
        ),
        (
            json!({"status": "pending", "dependencies": ["a", "b"]}),
            of_nobody("free"),
            "the task `t` waits for `b`",
        ),
        (json!({}), claim("y"), "`y` has `d`: complete, fail or release one of them before"),
        (
            json!({"dependencies": ["b"], "required_capabilities": ["go"]}),
            claim("y"),
            "the task `t` waits for `b`; the task `t` wants `go`, which `y` does not name among its capabilities; \
             `y` has `d`: complete, fail or release one of them before",
        ),
    ] {
        let others = vec![
            task("a", json!({"status": "complete"})),
            task("b", json!({"status": "failed"})),
            task("c", json!({"status": "cancelled"})),
            task("d", json!({"status": "claimed", "claimed_by": "y"})),
        ];
        let shown = format!("{values} {made:?}");
        assert_eq!(after(values, &made, others), Err(wanted.to_owned()), "{shown}");
    }
    let long = task_move("fail", Some("w")).with("error", "x".repeat(65_537));
    let refused = after(json!({"status": "claimed", "claimed_by": "w"}), &long, Vec::new()).unwrap_err();
    assert!(refused.starts_with("the output has 65537 bytes, and 65536 are kept"), "{refused}");
}

#[test]
fn every_move_is_one_of_the_table() {
    let table = built_in("cc-task").unwrap();
    for made in [
        claim("w"),
        start("w"),
        complete("w"),
        fail("w"),
        release("w"),
        of_nobody("retry"),
        of_nobody("free"),
        of_nobody("cancel"),
        of_nobody("orphan"),
    ] {
        for status in table.states().iter().map(|state| state.name.as_str()) {
            let values = json!({"status": status, "claimed_by": null});
            if let Ok(after) = after(values, &made, Vec::new()) {
                let to = after["status"].as_str().unwrap();
                assert!(table.legal_move(Some(status), to, None).unwrap().is_move(), "{status} {made:?}");
            }
        }
    }
}

fn ids(tasks: &[&Record]) -> Vec<String> {
    tasks.iter().map(|task| task.id.clone()).collect()
}

#[test]
fn the_best_task_is_claimed_first() {
    let state = state(
        vec![
            task("usual", json!({"created_at": "2026-11-24T09:00:00Z"})),
            task("older", json!({"priority": 5, "created_at": "2026-11-24T10:30:00+02:00"})),
            task("boosted", json!({"priority": 9, "priority_boost": 7})),
            task("first", json!({"priority": 1, "dependencies": ["finished"]})),
            task("finished", json!({"status": "done"})),
            task("waits", json!({"priority": 1, "dependencies": ["usual"]})),
            task("unknown", json!({"priority": 1, "dependencies": ["nobody"]})),
            task("later", json!({"priority": 1, "next_retry_at": "2026-11-24T13:00:00Z"})),
            task("skilled", json!({"priority": 2, "required_capabilities": ["rust"]})),
            task("odd", json!({"priority": 1, "status": 3})),
            task("nothing", json!({"status": null})),
        ],
        vec![agent("w", json!({"capabilities": ["rust"]}))],
    );
    let now = NOW.parse().unwrap();
    assert_eq!(
        ids(&claimable(&state, "w", now)),
        ["first", "boosted", "skilled", "older", "usual", "nothing"]
    );
    assert_eq!(ids(&claimable(&state, "x", now)), ["first", "boosted", "older", "usual", "nothing"]);
}

#[test]
fn a_task_is_orphaned_when_its_agent_is_silent() {
    let claimed = |at: Json, agent: &str| json!({"status": "claimed", "claimed_by": agent, "claimed_at": at});
    let state = state(
        vec![
            task("fresh", claimed("2026-11-24T11:59:00Z".into(), "silent")),
            task("old", claimed("2026-11-24T10:00:00Z".into(), "silent")),
            task("heard", claimed("2026-11-24T10:00:00Z".into(), "w")),
            task("nobody", json!({"status": "in_progress"})),
            task("free", json!({"claimed_at": "2026-11-24T10:00:00Z"})),
        ],
        Vec::new(),
    );
    let signal = |at: &str| Signal { at: at.to_owned(), ..Signal::default() };
    let signals = Signals::from([
        ("w".to_owned(), signal("2026-11-24T11:50:00")),
        ("silent".to_owned(), signal("2026-11-24T11:44:59Z")),
    ]);
    assert_eq!(ids(&orphaned(&state, &signals, NOW.parse().unwrap(), 900)), ["old", "nobody"]);
}

#[test]
fn a_finished_task_frees_those_that_wait_for_nothing_else() {
    let waits = |status: &str, ids: Json| json!({"status": status, "dependencies": ids});
    let state = state(
        vec![
            task("a", json!({"status": "in_progress"})),
            task("b", json!({"status": "done"})),
            task("pending", waits("pending", json!(["a", "b"]))),
            task("blocked", waits("blocked", json!(["a"]))),
            task("more", waits("pending", json!(["a", "c"]))),
            task("c", json!({"status": "failed"})),
            task("other", waits("pending", json!(["b"]))),
            task("available", waits("available", json!(["a"]))),
        ],
        Vec::new(),
    );
    let freed = dependants_freed("a", &state);
    let freed: Vec<_> = freed.iter().map(|task| (task.id.as_str(), task.status())).collect();
    assert_eq!(freed, [("pending", "available"), ("blocked", "available")]);
}

#[test]
fn dependencies_are_tasks_and_go_in_no_circle() {
    let old = state(vec![task("a", json!({})), task("b", json!({"dependencies": ["a"]}))], Vec::new());
    let checked = |new: &[Record]| check_dependencies(&old, new).map_err(|refusal| refusal.to_string());
    let depends = |id: &str, on: Json| task(id, json!({"dependencies": on}));
    assert_eq!(checked(&[depends("c", json!(["b", "d"])), depends("d", json!(["a"]))]), Ok(()));
    assert_eq!(
        checked(&[depends("c", json!(["b", "e"]))]),
        Err("the task `c` depends on `e`, which is no task".to_owned())
    );
    assert_eq!(
        checked(&[depends("a", json!(["b"]))]),
        Err("tasks would wait for each other: a → b → a".to_owned())
    );
    assert_eq!(
        checked(&[depends("c", json!(["c"]))]),
        Err("tasks would wait for each other: c → c".to_owned())
    );
    // A circle of others is theirs.
    let state = state(
        vec![depends("x", json!(["y"])), depends("y", json!(["z"])), depends("z", json!(["y"]))],
        Vec::new(),
    );
    assert_eq!(dependency_circle("x", &state), None);
    assert_eq!(dependency_circle("z", &state).unwrap(), ["z", "y", "z"]);
}

#[test]
fn five_hundred_tasks_are_looked_through_in_one_pass() {
    let tasks = (0..500).map(|n| task(&format!("t{n}"), json!({"dependencies": ["t0"], "priority": n % 10})));
    let many: State = state(tasks.collect(), Vec::new());
    assert!(claimable(&many, "w", NOW.parse().unwrap()).is_empty());
}
