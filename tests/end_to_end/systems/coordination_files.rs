//! The files of other programs that follow the records: drift, damage, import, another option.

use serde_json::{Value, json};

use super::coordination::{ends, fails, project, succeeds, tasks};
use crate::harness::Sandbox;

const TASKS: &str = ".coordination/tasks.json";

fn edit(sandbox: &Sandbox, path: &str, change: impl Fn(&mut Value)) {
    let mut file: Value = serde_json::from_slice(&sandbox.read(path)).unwrap();
    change(&mut file);
    sandbox.write(path, format!("{file:#}\n"));
}

#[test]
fn what_others_change_in_a_file_is_told_and_stays() {
    let sandbox = project();
    edit(&sandbox, TASKS, |file| file["tasks"][1]["hint"] = "theirs".into());
    let claimed = succeeds(&sandbox, &["task", "claim", "--agent", "w1"]);
    assert!(claimed.stderr.contains("`t2` was changed in a state file"), "{claimed}");
    let told = tasks(&sandbox);
    assert_eq!(
        (&told[0]["status"], &told[1]["hint"]),
        (&"claimed".into(), &"theirs".into()),
        "the others go on"
    );
    succeeds(&sandbox, &["task", "start", "t1", "--agent", "w1"]);
    assert_eq!(tasks(&sandbox)[1]["hint"], "theirs", "and again");
    let project = sandbox.stepmark(&["coordination", "project", "--json"]);
    assert_eq!(project.code, 1, "{project}");
    assert_eq!(project.json("stepmark.coordination-files/1")["drift"][0]["id"], "t2");

    fails(&sandbox, &["import", "coordination"], "1 record says something else than the file");
    succeeds(&sandbox, &["import", "coordination", "--take", "file"]);
    let record = String::from_utf8(sandbox.read(".coordination/tasks/t2.md")).unwrap();
    assert!(record.contains("hint: theirs\n"), "{record}");
    succeeds(&sandbox, &["coordination", "project"]);
    assert_eq!(tasks(&sandbox)[1]["hint"], "theirs");

    edit(&sandbox, TASKS, |file| file["tasks"][0]["status"] = "done".into());
    assert_eq!(sandbox.stepmark(&["coordination", "project"]).code, 1);
    succeeds(&sandbox, &["coordination", "project", "--overwrite"]);
    assert_eq!(tasks(&sandbox)[0]["status"], "in_progress", "given up");
}

#[test]
fn what_another_program_may_have_claimed_is_not_claimed() {
    let sandbox = project();
    succeeds(&sandbox, &["task", "add", "Say it", "--id", "t3", "--priority", "9"]);
    edit(&sandbox, TASKS, |file| {
        file["tasks"][0]["status"] = "claimed".into();
        file["tasks"][0]["claimed_by"] = "theirs".into();
    });
    fails(&sandbox, &["task", "claim", "t1", "--agent", "w1"], "another program changed the task `t1`");
    fails(
        &sandbox,
        &["task", "claim", "t1", "--agent", "w1"],
        "coordination project --overwrite t1` gives it up",
    );
    let next = sandbox.reads_only(&["task", "next", "--agent", "w1"]);
    assert!(next.stdout.starts_with("t3 "), "{next}");
    let claimed = succeeds(&sandbox, &["task", "claim", "--agent", "w1", "--json"]).json("stepmark.task/1");
    assert_eq!(claimed["task"]["id"], "t3", "it has the last priority, and nobody else has it");
    ends(&sandbox, &["task", "claim", "--agent", "w2"], 8, "other programs changed t1 in the state files");
    succeeds(&sandbox, &["coordination", "project", "--overwrite", "t1"]);
    succeeds(&sandbox, &["task", "claim", "t1", "--agent", "w2"]);
}

#[test]
fn the_page_of_a_task_that_others_ended_stays() {
    let sandbox = project();
    succeeds(&sandbox, &["task", "claim", "t1", "--agent", "w1"]);
    edit(&sandbox, TASKS, |file| file["tasks"][0]["status"] = "done".into());
    let page = ".coordination/results/t1.md";
    sandbox.write(page, "# Task: t1\n\n## Output\nTheirs\n");
    assert_eq!(sandbox.stepmark(&["coordination", "project"]).code, 1);
    assert!(sandbox.read(page).ends_with(b"Theirs\n"), "it is as little given up as the task");
    succeeds(&sandbox, &["coordination", "project", "--overwrite", "t1"]);
    assert!(!sandbox.place(page).exists());
}

#[test]
fn an_import_takes_back_no_edit_of_a_record() {
    let sandbox = project();
    let path = ".coordination/tasks/t2.md";
    let edited = String::from_utf8(sandbox.read(path)).unwrap().replace("Test it", "Test all of it");
    sandbox.write(path, &edited);
    edit(&sandbox, TASKS, |file| file["tasks"][0]["hint"] = "theirs".into());
    let told = succeeds(&sandbox, &["import", "coordination", "--take", "file", "--remove", "--json"]);
    let rows = told.json("stepmark.import-coordination/1")["records"].clone();
    assert_eq!(rows.as_array().unwrap().iter().map(|row| row["id"].clone()).collect::<Vec<_>>(), ["t1"]);
    assert_eq!(String::from_utf8(sandbox.read(path)).unwrap(), edited, "the file did not say otherwise");
    let found = tasks(&sandbox);
    assert_eq!((&found[0]["hint"], &found[1]["description"]), (&"theirs".into(), &"Test all of it".into()));
}

#[test]
fn what_others_take_away_stays_away_until_somebody_decides() {
    let sandbox = Sandbox::empty();
    succeeds(&sandbox, &["coordination", "init", "--goal", "Ship"]);
    succeeds(&sandbox, &["task", "add", "One", "--id", "t1"]);
    // The file says now what it said before there was a task.
    edit(&sandbox, TASKS, |file| drop(file["tasks"].take()));
    edit(&sandbox, TASKS, |file| file["tasks"] = json!([]));
    for _twice in 0..2 {
        let project = sandbox.stepmark(&["coordination", "project", "--json"]);
        let drift = &project.json("stepmark.coordination-files/1")["drift"];
        assert_eq!(drift[0]["change"], "removed", "{project}");
    }
}

#[test]
fn what_others_add_and_take_away_is_told() {
    let sandbox = project();
    edit(&sandbox, TASKS, |file| {
        let list = file["tasks"].as_array_mut().unwrap();
        list.remove(0);
        list.push(json!({"id": "t3", "description": "New", "status": "available"}));
    });
    let run = sandbox.stepmark(&["coordination", "project", "--json"]);
    let drift = run.json("stepmark.coordination-files/1")["drift"].clone();
    let found: Vec<(&str, &str)> = drift
        .as_array()
        .unwrap()
        .iter()
        .map(|drift| (drift["id"].as_str().unwrap(), drift["change"].as_str().unwrap()))
        .collect();
    assert_eq!(found, [("t1", "removed"), ("t3", "added")]);
    succeeds(&sandbox, &["import", "coordination", "--remove"]);
    let ids: Vec<String> =
        tasks(&sandbox).iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids, ["t2", "t3"]);
    assert!(!sandbox.place(".coordination/tasks/t1.md").exists());
    assert!(sandbox.place(".coordination/tasks/t3.md").exists());
}

#[test]
fn queries_know_records_signs_of_life_and_files() {
    let sandbox = project();
    succeeds(&sandbox, &["task", "claim", "--agent", "w1"]);
    succeeds(&sandbox, &["coordination", "heartbeat", "--agent", "w1"]);
    let rows =
        |sql: &str| sandbox.stepmark(&["query", sql, "--json"]).json("stepmark.query/1")["rows"].clone();
    assert_eq!(
        rows("SELECT id, system, kind, parent, priority FROM artifacts WHERE kind = 'task'"),
        json!([["t1", "coordination", "task", null, 2], ["t2", "coordination", "task", null, 1]])
    );
    let waits = "SELECT below.id FROM dependencies JOIN artifacts AS below ON below.path = artifact
                 JOIN artifacts AS above ON above.id = dependencies.id WHERE NOT above.finished";
    assert_eq!(rows(waits), json!([["t2"]]));
    assert_eq!(
        rows("SELECT system, agent, at IS NOT NULL FROM heartbeats"),
        json!([["coordination", "w1", 1]])
    );
    let files = "SELECT path, state, records FROM projections WHERE path LIKE '%/tasks.json'";
    assert_eq!(rows(files)[0], json!([TASKS, "current", null]));
    edit(&sandbox, TASKS, |file| file["tasks"][1]["hint"] = "theirs".into());
    assert_eq!(rows(files)[0], json!([TASKS, "drift", "t2"]));
    std::fs::remove_file(sandbox.place(TASKS)).unwrap();
    assert_eq!(rows(files)[0], json!([TASKS, "gone", null]));
}

#[test]
fn a_damaged_file_is_made_again_and_kept() {
    for damage in ["", "{\"tasks\": [", "<<<<<<< ours\n{}\n=======\n{}\n>>>>>>> theirs\n"] {
        let sandbox = project();
        sandbox.write(TASKS, damage);
        let claimed = succeeds(&sandbox, &["task", "claim", "--agent", "w1"]);
        assert!(claimed.stderr.contains("could not be read and was made again"), "{claimed}");
        assert_eq!(tasks(&sandbox).len(), 2);
        std::fs::remove_file(sandbox.place(TASKS)).unwrap();
        succeeds(&sandbox, &["coordination", "project"]);
        assert_eq!(tasks(&sandbox).len(), 2, "a missing one is made again");
    }
}

#[test]
fn a_file_that_was_never_imported_is_not_replaced() {
    let sandbox = Sandbox::empty();
    let theirs = "{\"tasks\": [{\"id\": \"x\"}]}";
    sandbox.write(TASKS, theirs);
    let begun = sandbox.stepmark(&["coordination", "init", "--goal", "G"]);
    assert_eq!((begun.code, sandbox.read(TASKS)), (0, theirs.as_bytes().to_vec()), "{begun}");
    assert!(begun.stderr.contains("bring it in with `stepmark import coordination`"), "{begun}");
    succeeds(&sandbox, &["import", "coordination", "--take", "file"]);
    assert!(sandbox.place(".coordination/tasks/x.md").exists());
}

#[test]
fn a_clone_takes_files_that_say_the_same_for_its_own() {
    let sandbox = project();
    // Another clone: the same files, and nothing remembered.
    std::fs::remove_dir_all(sandbox.place(".stepmark/local")).unwrap();
    let claimed = succeeds(&sandbox, &["task", "claim", "--agent", "w1"]);
    assert!(claimed.stderr.is_empty(), "{claimed}");
    assert_eq!(tasks(&sandbox)[0]["status"], "claimed");
    edit(&sandbox, TASKS, |file| file["tasks"][1]["hint"] = "theirs".into());
    let started = succeeds(&sandbox, &["task", "start", "t1", "--agent", "w1"]);
    assert!(started.stderr.contains("`t2` was changed") && !started.stderr.contains("`t1`"), "{started}");
}

#[test]
fn a_file_that_is_none_of_the_format_is_never_replaced() {
    let sandbox = Sandbox::empty();
    succeeds(&sandbox, &["coordination", "init", "--goal", "G", "--option", "C"]);
    succeeds(&sandbox, &["coordination", "save"]);
    sandbox.write("README.md", "# Mine\n");
    sandbox.write(".stepmark/config.yaml", "coordination: {option: C, state_file: README.md}\n");
    fails(&sandbox, &["coordination", "save"], "`README.md` was written by another program");
    assert_eq!(sandbox.read("README.md"), b"# Mine\n");
    sandbox.write(".stepmark/config.yaml", "coordination: {folder: .stepmark/x}\n");
    fails(&sandbox, &["coordination", "init", "--goal", "G"], "cannot stand in");
}

#[cfg(unix)]
#[test]
fn a_change_stands_where_its_files_cannot_follow() {
    let sandbox = project();
    sandbox.write("precious.json", "{}");
    std::fs::remove_file(sandbox.place(TASKS)).unwrap();
    std::os::unix::fs::symlink("../precious.json", sandbox.place(TASKS)).unwrap();
    let claimed = succeeds(&sandbox, &["task", "claim", "--agent", "w1"]);
    assert!(claimed.stderr.contains("the change is made, and what follows it is not"), "{claimed}");
    assert_eq!(sandbox.read("precious.json"), b"{}", "what a link leads to is no file of ours");
    succeeds(&sandbox, &["task", "start", "t1", "--agent", "w1"]);
}

#[test]
fn a_damaged_file_hides_no_change_in_another() {
    let sandbox = project();
    succeeds(&sandbox, &["coordination", "register", "w1"]);
    sandbox.write(".coordination/agents.json", "{");
    edit(&sandbox, TASKS, |file| file["tasks"][1]["hint"] = "theirs".into());
    let claimed = succeeds(&sandbox, &["task", "claim", "--agent", "w1"]);
    assert!(
        claimed.stderr.contains("could not be read") && claimed.stderr.contains("`t2` was changed"),
        "{claimed}"
    );
    assert_eq!(tasks(&sandbox)[1]["hint"], "theirs");
}

#[test]
fn records_go_through_all_options_and_back() {
    let sandbox = Sandbox::empty();
    let before = json!({
        "version": "1.0", "created_at": "2026-01-01T00:00:00Z", "last_updated": "2026-01-02T00:00:00Z", "owner": "us",
        "tasks": [
            {"id": "a", "description": "A", "status": "done", "priority": 1, "claimed_by": "w", "dependencies": [],
             "context": {"files": [], "hints": "", "why": [1, 2.5, null]}, "result": {"output": "yes", "files_modified": []},
             "created_at": "2026-01-01T00:00:00Z", "completed_at": "2026-01-01T10:00:00Z", "custom": {"x": {"y": "01"}}},
            {"id": "b/c", "description": "B\nsecond line", "status": "cancelled", "stepmark_kind": "theirs", "weight": 1e300},
        ],
    });
    sandbox.write("old/tasks.json", before.to_string());
    let dry = sandbox.reads_only(&["import", "coordination", "old", "--dry-run", "--json"]);
    assert_eq!(dry.json("stepmark.import-coordination/1")["option"], "A");
    succeeds(&sandbox, &["import", "coordination", "old"]);
    let canonical = |path: &str| {
        let mut file: Value = serde_json::from_slice(&sandbox.read(path)).unwrap();
        file["last_updated"].take();
        file
    };
    let first = canonical(TASKS);
    let mut wanted = before;
    wanted["last_updated"].take();
    assert_eq!(first, wanted);
    for option in ["B", "C", "A"] {
        succeeds(&sandbox, &["coordination", "convert", "--to", option]);
    }
    assert_eq!(canonical(TASKS), wanted);
    assert!(!sandbox.place(".coordination/mcp-state.json").exists(), "the files of other options are gone");
    assert!(!sandbox.place("orchestrator-state.json").exists());
}

#[test]
fn option_c_is_saved_and_loaded_when_the_user_says_so() {
    let sandbox = Sandbox::empty();
    succeeds(&sandbox, &["coordination", "init", "--goal", "G", "--option", "C"]);
    succeeds(&sandbox, &["task", "add", "One", "--id", "t1"]);
    assert!(!sandbox.place("orchestrator-state.json").exists());
    succeeds(&sandbox, &["coordination", "save"]);
    succeeds(&sandbox, &["coordination", "checkpoint", "before"]);
    succeeds(&sandbox, &["task", "claim", "--agent", "w1"]);
    succeeds(&sandbox, &["coordination", "restore", "before"]);
    let task = sandbox.reads_only(&["task", "show", "t1", "--json"]).json("stepmark.task/1");
    assert_eq!(task["task"]["status"], "available", "{task}");
    edit(&sandbox, "orchestrator-state.json", |file| file["tasks"][0]["priority"] = 1.into());
    succeeds(&sandbox, &["coordination", "load"]);
    let task = sandbox.reads_only(&["task", "show", "t1", "--json"]).json("stepmark.task/1");
    assert_eq!(task["task"]["priority"], 1, "{task}");
}

#[test]
fn what_was_taken_away_is_not_put_back_by_the_import_of_something_else() {
    let sandbox = project();
    edit(&sandbox, TASKS, |file| {
        let list = file["tasks"].as_array_mut().unwrap();
        list.remove(1);
        list.push(json!({"id": "ext-1", "description": "Theirs", "status": "available"}));
    });
    let imported = succeeds(&sandbox, &["import", "coordination", "--take", "file"]);
    assert!(imported.stderr.contains("`t2` was removed in a state file"), "{imported}");
    let ids = || tasks(&sandbox).iter().map(|task| task["id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(), ["t1", "ext-1"]);
    succeeds(&sandbox, &["task", "claim", "ext-1", "--agent", "w1"]);
    assert_eq!(ids(), ["t1", "ext-1"], "it stays away after every change");
    succeeds(&sandbox, &["import", "coordination", "--take", "file", "--remove"]);
    assert_eq!(ids(), ["t1", "ext-1"]);
    assert!(!sandbox.place(".coordination/tasks/t2.md").exists());
    assert_eq!(sandbox.stepmark(&["coordination", "project"]).code, 0, "nothing is undecided");
}

#[test]
fn agents_that_are_alive_in_a_file_keep_their_tasks() {
    let long_ago = "2026-11-25T11:00:00Z";
    let task = json!({"id": "t1", "description": "A", "status": "in_progress", "claimed_by": "w1", "claimed_at": long_ago});
    let at = |sandbox: &Sandbox, time: &str, arguments: &[&str]| {
        sandbox.run(sandbox.command(arguments).env("STEPMARK_TEST_TIME", time))
    };
    for (name, heartbeat, key) in
        [("mcp-state.json", "last_heartbeat", "w1"), ("agents.json", "last_seen", "0")]
    {
        let sandbox = Sandbox::empty();
        let path = format!(".coordination/{name}");
        let mut agent = json!({"id": "w1", "role": "worker", "current_task": "t1"});
        agent[heartbeat] = "2026-11-25T12:00:00Z".into();
        match name {
            "agents.json" => {
                sandbox.write(TASKS, json!({"tasks": [task]}).to_string());
                sandbox.write(&path, json!({"agents": [agent]}).to_string());
            }
            _ => sandbox.write(&path, json!({"tasks": [task], "agents": {"w1": agent}}).to_string()),
        }
        let imported = at(&sandbox, "2026-11-25T12:00:30Z", &["import", "coordination"]);
        assert_eq!(imported.code, 0, "{imported}");
        let seen = || {
            let file: Value = serde_json::from_slice(&sandbox.read(&path)).unwrap();
            file["agents"].get(key).or(file["agents"].get(0)).unwrap()[heartbeat].clone()
        };
        assert_eq!(seen(), "2026-11-25T12:00:00Z", "{name}");
        let claimed = at(&sandbox, "2026-11-25T12:01:00Z", &["task", "claim", "--agent", "w2"]);
        assert!(claimed.code == 7 && claimed.stderr.contains("1 held"), "{name}: {claimed}");
        // Its program goes on, and nobody imports anything.
        edit(&sandbox, &path, |file| {
            let agents = &mut file["agents"];
            let agent = if agents.is_array() { &mut agents[0] } else { &mut agents["w1"] };
            agent[heartbeat] = "2026-11-25T13:00:00Z".into();
        });
        let added = at(&sandbox, "2026-11-25T13:00:10Z", &["task", "add", "B", "--id", "t2"]);
        assert_eq!(added.code, 0, "{added}");
        assert_eq!(seen(), "2026-11-25T13:00:00Z", "{name}");
        let claimed = at(&sandbox, "2026-11-25T13:00:20Z", &["task", "claim", "t1", "--agent", "w2"]);
        assert_eq!(claimed.code, 1, "{name}: {claimed}");
    }
}

#[test]
fn a_root_that_only_init_wrote_takes_what_a_file_says() {
    let sandbox = Sandbox::empty();
    succeeds(&sandbox, &["coordination", "init", "--goal", "Ship"]);
    let file = json!({"created_at": "2026-01-01T00:00:00Z", "owner": "us",
        "tasks": [{"id": "a", "description": "A", "status": "available"}]});
    sandbox.write("old/tasks.json", file.to_string());
    succeeds(&sandbox, &["import", "coordination", "old/tasks.json"]);
    let root = String::from_utf8(sandbox.read(".coordination/coordination.md")).unwrap();
    assert!(root.contains("goal: Ship\n") && root.contains("owner: us\n"), "{root}");
    succeeds(&sandbox, &["task", "add", "B"]);
    sandbox.write("old/tasks.json", json!({"owner": "them", "tasks": []}).to_string());
    fails(&sandbox, &["import", "coordination", "old/tasks.json"], "1 record says something else");
}

#[test]
fn an_import_without_a_goal_is_given_one() {
    let sandbox = Sandbox::empty();
    sandbox.write(TASKS, "{\"tasks\": [{\"id\": \"x\"}]}");
    succeeds(&sandbox, &["import", "coordination"]);
    succeeds(&sandbox, &["coordination", "init", "--goal", "Ship", "--plan", "First\n"]);
    let plan = sandbox.reads_only(&["coordination", "plan", "--json"]).json("stepmark.coordination-plan/1");
    assert_eq!((&plan["goal"], &plan["plan"]), (&"Ship".into(), &"First\n".into()));
    fails(&sandbox, &["coordination", "init", "--goal", "Another"], "Ship");
}

#[test]
fn only_records_that_there_are_can_be_overwritten() {
    let sandbox = project();
    fails(&sandbox, &["coordination", "project", "--overwrite", "nosuch"], "there is no record `nosuch`");
}

#[test]
fn values_of_a_file_are_as_good_as_those_of_a_command() {
    let sandbox = Sandbox::empty();
    let outside = sandbox.outside();
    let list = json!([{"id": "a", "description": "A", "status": "frozen"},
        {"id": "b", "description": "B", "status": "available", "priority": 12},
        {"id": "c", "description": "C", "status": "available"}]);
    let write = |list: &Value| {
        std::fs::write(outside.join("tasks.json"), json!({"tasks": list}).to_string()).unwrap();
    };
    write(&list);
    let place = outside.to_str().unwrap();
    for given in [place, &format!("{place}/tasks.json")] {
        let dry = sandbox.reads_only(&["import", "coordination", given, "--dry-run", "--json"]);
        assert_eq!(dry.json("stepmark.import-coordination/1")["records"].as_array().unwrap().len(), 4);
    }
    let import = ["import", "coordination", "../outside"];
    fails(&sandbox, &import, "task `a`: the status \"frozen\" is none of `pending`, `available`,");
    fails(&sandbox, &import, "task `b`: the priority 12 is no whole number from 1 to 10");
    assert!(!sandbox.place(".coordination/coordination.md").exists(), "nothing is brought in");
    write(&json!([list[2]]));
    succeeds(&sandbox, &import);
    assert_eq!(sandbox.stepmark(&["check"]).code, 0);
    fails(&sandbox, &["import", "coordination", "../nowhere"], "there is no state file of coordination in");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1, "nothing is written there");
}

#[test]
fn an_agent_goes_no_way_round_its_moves() {
    let sandbox = project();
    let agent = |line: &[&str], refusal: &str| {
        fails(&sandbox, &[&["--actor", "agent:w1"], line].concat(), refusal);
    };
    let task = ".coordination/tasks/t1.md";
    agent(&["set", task, "attempts=0"], "`attempts` changes by moves alone by the lifecycle `cc-task`");
    agent(&["set", task, "claimed_by=w1", "result=null"], "`claimed_by` and `result` change by moves alone");
    succeeds(&sandbox, &["--actor", "agent:w1", "set", task, "note=mine"]);
    edit(&sandbox, TASKS, |file| file["tasks"][1]["hint"] = "theirs".into());
    let person = "is for a person, and `agent:w1` is none";
    agent(&["import", "coordination", "--take", "file"], person);
    agent(&["coordination", "project", "--overwrite"], person);
    succeeds(&sandbox, &["import", "coordination", "--take", "file"]);
}

/// The file of option C is written on `save`; a repair does not save.
#[test]
fn a_repair_writes_what_follows_at_once_and_nothing_else() {
    for (option, file, is_written) in
        [("A", ".coordination/tasks.json", true), ("C", "orchestrator-state.json", false)]
    {
        let sandbox = Sandbox::empty();
        sandbox.write(".stepmark/config.yaml", format!("coordination: {{option: {option}}}\n"));
        assert_eq!(sandbox.stepmark(&["coordination", "init", "--goal", "Shed"]).code, 0);
        assert_eq!(sandbox.stepmark(&["task", "add", "Roof", "--id", "roof"]).code, 0);
        let _gone = std::fs::remove_file(sandbox.place(file));
        assert_eq!(sandbox.stepmark(&["doctor", "--repair"]).code, 0);
        assert_eq!(sandbox.place(file).exists(), is_written, "{option}");
    }
}

/// The configuration names the option whose files are there, also where those of another cannot be written.
#[test]
fn a_conversion_that_fails_leaves_the_option_as_it_was() {
    let sandbox = Sandbox::empty();
    let configuration = "coordination: {option: A} # with tasks\n";
    sandbox.write(".stepmark/config.yaml", configuration);
    assert_eq!(sandbox.stepmark(&["coordination", "init", "--goal", "Shed"]).code, 0);
    assert_eq!(sandbox.stepmark(&["task", "add", "Roof", "--id", "roof"]).code, 0);
    sandbox.write("orchestrator-state.json/in-the-way", "");
    let before = sandbox.read(".coordination/tasks.json");
    let run = sandbox.stepmark(&["coordination", "convert", "--to", "C"]);
    assert!(run.code == 1 && run.stderr.contains("`orchestrator-state.json` is not a regular file"), "{run}");
    assert_eq!(sandbox.read(".stepmark/config.yaml"), configuration.as_bytes());
    assert_eq!(sandbox.read(".coordination/tasks.json"), before);
    assert_eq!(sandbox.stepmark(&["check", "--quiet"]).code, 0);
}
