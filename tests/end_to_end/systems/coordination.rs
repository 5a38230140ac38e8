//! `stepmark task` and `stepmark coordination`: agents share tasks.

use serde_json::Value;

use crate::harness::{Run, Sandbox};

/// A project in which coordination has begun, with two tasks, the second of which waits for the first.
pub(super) fn project() -> Sandbox {
    let sandbox = Sandbox::empty();
    succeeds(&sandbox, &["coordination", "init", "--goal", "Ship 1.0"]);
    succeeds(&sandbox, &["task", "add", "Write the parser", "--id", "t1", "--priority", "2"]);
    succeeds(&sandbox, &["task", "add", "Test it", "--id", "t2", "--after", "t1", "--priority", "1"]);
    sandbox
}

pub(super) fn succeeds(sandbox: &Sandbox, arguments: &[&str]) -> Run {
    let run = sandbox.stepmark(arguments);
    assert_eq!(run.code, 0, "{arguments:?}: {run}");
    run
}

pub(super) fn fails(sandbox: &Sandbox, arguments: &[&str], reason: &str) {
    ends(sandbox, arguments, 1, reason);
}

pub(super) fn ends(sandbox: &Sandbox, arguments: &[&str], code: i32, reason: &str) {
    let run = sandbox.stepmark(arguments);
    assert_eq!(run.code, code, "{arguments:?}: {run}");
    assert!(run.stderr.contains(reason), "{arguments:?}: {run}");
}

/// The tasks in `tasks.json`.
pub(super) fn tasks(sandbox: &Sandbox) -> Vec<Value> {
    let file: Value = serde_json::from_slice(&sandbox.read(".coordination/tasks.json")).unwrap();
    file["tasks"].as_array().unwrap().clone()
}

#[test]
fn a_task_goes_from_added_to_done() {
    let sandbox = project();
    let claimed = succeeds(&sandbox, &["task", "claim", "--agent", "w1", "--json"]).json("stepmark.task/1");
    assert_eq!(claimed["task"]["id"], "t1", "the second has a higher priority and waits");
    fails(&sandbox, &["task", "claim", "--agent", "w1"], "`w1` has `t1`: complete, fail or release");
    ends(&sandbox, &["task", "claim", "--agent", "w2"], 7, "no task can be claimed: 0 available, 1 waiting");
    fails(&sandbox, &["task", "start", "t1", "--agent", "w2"], "is that of `w1`");
    fails(&sandbox, &["task", "start", "t9", "--agent", "w1"], "there is no task `t9`");
    fails(&sandbox, &["task", "show", "t"], "`t` begins the id of several of the kind task: `t1` and `t2`");
    fails(&sandbox, &["task", "retry", "t1"], "is `claimed`");
    succeeds(&sandbox, &["task", "start", "t1", "--agent", "w1"]);
    succeeds(
        &sandbox,
        &["task", "done", "t1", "--agent", "w1", "--output", "It parses", "--modified", "a.rs"],
    );
    let told = tasks(&sandbox);
    assert_eq!((&told[0]["status"], &told[0]["result"]["output"]), (&"done".into(), &"It parses".into()));
    let page = String::from_utf8(sandbox.read(".coordination/results/t1.md")).unwrap();
    assert!(page.contains("## Output\nIt parses\n") && page.ends_with("## Status\nSUCCESS\n"), "{page}");

    succeeds(&sandbox, &["--actor", "agent:w2", "task", "claim"]);
    succeeds(&sandbox, &["--actor", "agent:w2", "task", "fail", "t2", "--error", "no tests"]);
    assert!(sandbox.read(".coordination/results/t2.md").ends_with(b"no tests\n\n## Status\nFAILED\n"));
    succeeds(&sandbox, &["task", "retry", "t2"]);
    let told = tasks(&sandbox);
    assert_eq!((&told[1]["status"], &told[1]["retry_count"]), (&"available".into(), &1.into()));
    let status = sandbox.reads_only(&["coordination", "status", "--json"]).json("stepmark.coordination/1");
    assert_eq!(
        (&status["progress_percent"], &status["agents"]["total"]),
        (&50.0.into(), &2.into()),
        "{status}"
    );
    let check = sandbox.stepmark(&["check"]);
    assert_eq!(check.code, 0, "{check}");
}

#[test]
fn what_is_said_again_changes_nothing() {
    let sandbox = project();
    let agent = |sandbox: &Sandbox| String::from_utf8(sandbox.read(".coordination/agents/w1.md")).unwrap();
    succeeds(&sandbox, &["task", "claim", "t1", "--agent", "w1"]);
    succeeds(&sandbox, &["task", "claim", "t1", "--agent", "w1"]);
    succeeds(&sandbox, &["task", "start", "t1", "--agent", "w1"]);
    assert!(agent(&sandbox).contains("current_task: t1\n"), "{}", agent(&sandbox));
    succeeds(&sandbox, &["task", "done", "t1", "--agent", "w1", "--output", "yes"]);
    succeeds(&sandbox, &["task", "done", "t1", "--agent", "w1", "--output", "yes"]);
    assert!(agent(&sandbox).contains("tasks_completed: 1\n"), "{}", agent(&sandbox));
    fails(&sandbox, &["task", "done", "t1", "--agent", "w1", "--output", "no"], "is `done`");
    fails(&sandbox, &["task", "add", "x", "--id", ""], "the id of the task is empty");
}

#[test]
fn a_file_that_is_no_record_is_told_from_one_that_is_damaged() {
    let sandbox = project();
    sandbox.write(".coordination/tasks/note.md", "junk\n");
    succeeds(&sandbox, &["task", "list"]);
    sandbox.write(".coordination/tasks/copy.md", sandbox.read(".coordination/tasks/t1.md"));
    ends(&sandbox, &["task", "list"], 0, "`.coordination/tasks/copy.md` has the id `t1`");
    sandbox.write(".coordination/tasks/copy.md", "---\nstatus: [\n---\n");
    ends(&sandbox, &["task", "list"], 0, "`.coordination/tasks/copy.md` is no record of coordination");
}

#[test]
fn a_wrong_move_is_undone() {
    let sandbox = project();
    succeeds(&sandbox, &["task", "cancel", "t1"]);
    fails(&sandbox, &["task", "claim", "t1", "--agent", "w1"], "is `cancelled`");
    let log = sandbox.stepmark(&["log", ".coordination/tasks/t1.md", "--json"]).json("stepmark.log/1");
    let event = log["events"][0]["id"].as_str().unwrap().to_owned();
    succeeds(&sandbox, &["undo", &event]);
    assert_eq!(tasks(&sandbox)[0]["status"], "available");
    succeeds(&sandbox, &["task", "claim", "t1", "--agent", "w1"]);
}

#[test]
fn dependencies_are_known_and_lead_in_no_circle() {
    let sandbox = project();
    fails(&sandbox, &["task", "add", "x", "--after", "nobody"], "which is no task");
    fails(&sandbox, &["task", "add", "x", "--id", "t1"], "the id `t1` is taken");
    fails(&sandbox, &["task", "add", "x", "--id", "t3", "--after", "t3"], "wait for each other");
    assert_eq!(tasks(&sandbox).len(), 2);
}

#[test]
fn a_silent_agent_loses_its_task() {
    let sandbox = project();
    sandbox.write(".stepmark/config.yaml", "coordination: {option: A, stale_seconds: 1}\n");
    succeeds(&sandbox, &["task", "claim", "--agent", "w1"]);
    std::thread::sleep(std::time::Duration::from_millis(2100));
    let claimed = succeeds(&sandbox, &["task", "claim", "--agent", "w2", "--json"]).json("stepmark.task/1");
    assert_eq!((&claimed["task"]["id"], &claimed["orphaned"][0]), (&"t1".into(), &"t1".into()), "{claimed}");
    fails(&sandbox, &["task", "done", "t1", "--agent", "w1"], "is that of `w2`");
}

#[test]
fn agents_and_their_discoveries_are_kept() {
    let sandbox = project();
    succeeds(&sandbox, &["coordination", "register", "lead", "--role", "leader", "--capability", "rust"]);
    fails(&sandbox, &["coordination", "heartbeat", "--agent", "nobody"], "there is no agent `nobody`");
    succeeds(&sandbox, &["coordination", "heartbeat", "--agent", "lead"]);
    succeeds(
        &sandbox,
        &["coordination", "discover", "The cache is slow", "--agent", "lead", "--tag", "speed"],
    );
    let found = sandbox.reads_only(&["coordination", "discoveries", "--tag", "speed", "--json"]);
    let found = found.json("stepmark.discoveries/1");
    assert_eq!(found["discoveries"][0]["content"], "The cache is slow");
    let none = sandbox.reads_only(&["coordination", "discoveries", "--tag", "other", "--json"]);
    assert_eq!(none.json("stepmark.discoveries/1")["discoveries"].as_array().unwrap().len(), 0);
    let status = sandbox.reads_only(&["coordination", "status", "--json"]).json("stepmark.coordination/1");
    assert_eq!(
        (&status["agents"]["leaders"], &status["agents"]["active"]),
        (&1.into(), &1.into()),
        "{status}"
    );
}

#[test]
fn without_the_key_nothing_is_there() {
    let sandbox = Sandbox::empty();
    fails(&sandbox, &["task", "list"], "the project does not use coordination");
    sandbox.write(".stepmark/config.yaml", "coordination: {}\n");
    fails(&sandbox, &["task", "list"], "coordination has not begun here");
    succeeds(&sandbox, &["coordination", "init", "--goal", "G"]);
    fails(&sandbox, &["coordination", "init", "--goal", "H"], "has begun here already, with the goal `G`");
}

#[test]
fn a_task_that_waits_for_nothing_more_is_freed() {
    let sandbox = Sandbox::empty();
    let tasks = r#"{"tasks": [{"id": "a", "description": "A", "status": "done", "result": {"output": "x"}},
        {"id": "b", "description": "B", "status": "pending", "dependencies": ["a"]},
        {"id": "c", "description": "C", "status": "blocked", "dependencies": ["b"]}]}"#;
    sandbox.write("old/tasks.json", tasks);
    succeeds(&sandbox, &["import", "coordination", "old"]);
    fails(&sandbox, &["task", "free", "c"], "the task `c` waits for `b`");
    fails(&sandbox, &["task", "free", "a"], "is for tasks that are `pending` and `blocked`: `done` is final");
    ends(&sandbox, &["task", "claim", "--agent", "w1"], 7, "no task can be claimed");
    succeeds(&sandbox, &["task", "free", "b"]);
    succeeds(&sandbox, &["task", "claim", "b", "--agent", "w1"]);
}

#[test]
fn a_refusal_names_a_command_that_works() {
    let sandbox = project();
    succeeds(&sandbox, &["task", "claim", "t1", "--agent", "w1"]);
    fails(&sandbox, &["task", "retry", "t1"], "help: `stepmark task start t1` comes next");
    fails(
        &sandbox,
        &["task", "done", "t1", "--agent", "w2"],
        "help: `stepmark task next --agent w2` says which",
    );
    succeeds(&sandbox, &["task", "done", "t1", "--agent", "w1", "--output", "x"]);
    let final_word = "`start` is for tasks that are `claimed`: `done` is final";
    fails(&sandbox, &["task", "start", "t1", "--agent", "w1"], final_word);
    let opens = ["set", "t1", "status=available", "claimed_by=null", "--force", "--reason", "wrong"];
    fails(
        &sandbox,
        &["task", "start", "t1", "--agent", "w1"],
        "`stepmark set t1 status=available claimed_by=null",
    );
    succeeds(&sandbox, &opens);
    assert_eq!(tasks(&sandbox)[0]["status"], "available");
    succeeds(&sandbox, &["task", "claim", "t1", "--agent", "w2"]);
    let check = sandbox.stepmark(&["check"]);
    assert_eq!(check.code, 0, "{check}");
}

/// The id of the last event of a record.
fn last_event(sandbox: &Sandbox, path: &str) -> String {
    let answer = sandbox.stepmark(&["log", path, "--json"]).json("stepmark.log/1");
    answer["events"][0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn what_was_decided_together_is_taken_back_together() {
    let sandbox = project();
    succeeds(&sandbox, &["task", "claim", "--agent", "w1"]);
    succeeds(&sandbox, &["task", "start", "t1", "--agent", "w1"]);
    let (task, agent) = (".coordination/tasks/t1.md", ".coordination/agents/w1.md");
    let before = [sandbox.read(task), sandbox.read(agent)];
    succeeds(&sandbox, &["task", "done", "t1", "--agent", "w1"]);
    let after = [sandbox.read(task), sandbox.read(agent)];
    assert!(before[0] != after[0] && before[1] != after[1]);
    // Whichever of them is named.
    let undone = succeeds(&sandbox, &["undo", &last_event(&sandbox, agent), "-m", "not yet"]);
    assert!(undone.stdout.contains("`.coordination/tasks/t1.md` was taken back with it"), "{undone}");
    assert_eq!([sandbox.read(task), sandbox.read(agent)], before);
    assert_eq!(tasks(&sandbox)[0]["status"], "in_progress", "the files follow");
    succeeds(&sandbox, &["undo", &last_event(&sandbox, task)]);
    assert_eq!([sandbox.read(task), sandbox.read(agent)], after, "and forth");
    assert_eq!(sandbox.stepmark(&["replay", "--verify"]).code, 0);

    let told = [task, agent].map(|path| last_event(&sandbox, path));
    let text = String::from_utf8(sandbox.read(agent)).unwrap();
    sandbox.write(agent, text.replace("tasks_completed: 1", "tasks_completed: 7"));
    for event in &told {
        let refused = sandbox.stepmark(&["undo", event]);
        assert_eq!(refused.code, 1, "{refused}");
        assert!(refused.stderr.contains("`tasks_completed` was changed since"), "{refused}");
    }
    assert_eq!(sandbox.read(task), after[0], "all or none");
}

/// A clock that was wrong holds nothing for ever.
#[test]
fn a_task_that_was_claimed_in_the_far_future_is_found_and_free_again() {
    let sandbox = Sandbox::empty();
    succeeds(&sandbox, &["coordination", "init", "--goal", "Ship"]);
    succeeds(&sandbox, &["task", "add", "Write", "--id", "t1"]);
    let mut command = sandbox.command(&["task", "claim", "--agent", "w1"]);
    assert_eq!(sandbox.run(command.env("STEPMARK_TEST_TIME", "2100-01-01T00:00:00Z")).code, 0);
    let check = sandbox.stepmark(&["check"]);
    assert!(check.stdout.contains("SMC07"), "{check}");
    let claimed = succeeds(&sandbox, &["task", "claim", "--agent", "w2"]);
    assert!(claimed.stdout.contains("t1  claimed, w2"), "{claimed}");
}

#[test]
fn a_task_says_what_to_do_and_one_that_failed_is_gone_on_with() {
    let sandbox = Sandbox::empty();
    succeeds(&sandbox, &["coordination", "init", "--goal", "Ship"]);
    assert_eq!(sandbox.stepmark(&["task", "add", " "]).code, 2);
    assert!(succeeds(&sandbox, &["coordination", "plan"]).stderr.contains("there is no plan yet"));
    succeeds(&sandbox, &["task", "add", "Write", "--id", "t1"]);
    succeeds(&sandbox, &["task", "claim", "--agent", "w1"]);
    succeeds(&sandbox, &["task", "fail", "t1", "--agent", "w1", "--error", "the parser knows no umlauts"]);
    assert_eq!(succeeds(&sandbox, &["next"]).stdout.lines().next(), Some("stepmark task retry t1"));
    let told = succeeds(&sandbox, &["memory", "recall", "parser", "umlauts"]);
    assert!(told.stdout.contains("error") && told.stdout.contains("the parser knows no umlauts"), "{told}");
}
