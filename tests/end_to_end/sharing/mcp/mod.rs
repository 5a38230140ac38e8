//! `stepmark mcp`: the tools, by one server or several, and beside commands.

mod client;

use std::thread;

use serde_json::{Value, json};

use self::client::Client;
use crate::harness::Sandbox;

fn begun() -> (Sandbox, Client) {
    let sandbox = Sandbox::empty();
    sandbox.write(".stepmark/config.yaml", "");
    let mut client = Client::start(&sandbox);
    client.done("init_coordination", json!({ "goal": "Build a shed", "master_plan": "# Plan\n" }));
    (sandbox, client)
}

fn id(made: &(Value, String)) -> String {
    made.0["task_id"].as_str().unwrap().to_owned()
}

#[test]
fn a_leader_and_a_worker() {
    let (sandbox, mut client) = begun();
    let walls = id(&client.done(
        "create_task",
        json!({ "description": "Walls\nof wood", "priority": 2, "context_files": ["plan.md"], "hints": "oak" }),
    ));
    let (batch, _) = client.done(
        "create_tasks_batch",
        json!({ "tasks": [{ "id": "roof", "description": "Roof", "dependencies": [walls] }, { "description": "Paint", "dependencies": ["roof"] }] }),
    );
    assert_eq!(batch["task_ids"][0], "roof");
    client.done("register_agent", json!({ "agent_id": "ada", "role": "worker" }));
    let (claimed, text) = client.done("claim_task", json!({ "agent_id": "ada" }));
    assert_eq!((&claimed["claimed"], &claimed["task"]["id"]), (&json!(true), &json!(walls)));
    assert_eq!(
        text,
        format!("{walls} is yours (priority 2):\nWalls\nof wood\nread first: plan.md\nhints: oak")
    );
    let (nothing, text) = client.done("claim_task", json!({ "agent_id": "eve" }));
    assert_eq!(nothing, json!({ "claimed": false }), "{text}");

    client.done("start_task", json!({ "agent_id": "ada", "task_id": walls }));
    client.done("heartbeat", json!({ "agent_id": "ada" }));
    let end =
        json!({ "agent_id": "ada", "task_id": walls, "output": "Four walls", "files_created": ["walls.md"] });
    let (done, text) = client.done("complete_task", end);
    assert_eq!(
        (&done["status"], text.starts_with(&format!("{walls} is done"))),
        (&json!("done"), true),
        "{text}"
    );
    assert_eq!(client.done("claim_task", json!({ "agent_id": "ada" })).0["task"]["id"], "roof");
    client.done("fail_task", json!({ "agent_id": "ada", "task_id": "roof", "error": "No nails" }));

    client.done(
        "add_discovery",
        json!({ "agent_id": "ada", "content": "The ground is wet", "tags": ["ground"] }),
    );
    let (found, text) = client.done("get_discoveries", json!({ "tags": ["ground"], "limit": 5 }));
    assert_eq!(found["discoveries"][0]["content"], "The ground is wet");
    assert!(text.ends_with("by ada: The ground is wet"), "{text}");
    assert_eq!(client.done("get_discoveries", json!({ "tags": ["roof"] })).1, "no discoveries");

    let (status, text) = client.done("get_status", json!({}));
    assert_eq!(
        (&status["goal"], &status["total_tasks"], &status["discoveries_count"]),
        (&json!("Build a shed"), &json!(3), &json!(1))
    );
    assert_eq!((&status["tasks"]["done"], &status["tasks"]["failed"]), (&json!(1), &json!(1)), "{text}");
    let (tasks, text) = client.done("get_all_tasks", json!({ "status_filter": "failed" }));
    assert_eq!((&tasks["total"], &tasks["tasks"][0]["id"]), (&json!(1), &json!("roof")), "{text}");
    let (results, text) = client.done("get_results", json!({ "task_ids": [walls] }));
    assert_eq!(results["results"][0]["files_created"], json!(["walls.md"]));
    assert_eq!(text, format!("{walls} done: Four walls"));
    assert_eq!(client.done("get_results", json!({})).0["results"].as_array().map(Vec::len), Some(2));
    assert_eq!(client.done("get_master_plan", json!({})).1, "Build a shed\n\n# Plan");
    assert_eq!(client.end(), Some(0));

    let log = sandbox.stepmark(&["log", &format!(".coordination/tasks/{walls}.md"), "--json"]);
    assert_eq!(log.json("stepmark.log/1")["events"][0]["actor"], json!({ "kind": "agent", "name": "ada" }));
}

#[test]
fn refusals_say_the_reason_and_the_remedy() {
    let sandbox = Sandbox::empty();
    sandbox.write(".stepmark/config.yaml", "");
    let mut client = Client::start(&sandbox);
    let text = client.refused("get_status", json!({}));
    assert_eq!(text, "coordination has not begun in this project\nhelp: call init_coordination with a goal");
    client.done("init_coordination", json!({ "goal": "Build a shed" }));
    let before = sandbox.tree();
    let new = |more: Value| {
        let mut task = json!({ "description": "Roof" });
        task.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        task
    };
    for (tool, arguments, wanted) in [
        ("init_coordination", json!({ "goal": "Another" }), "Build a shed"),
        ("create_task", json!({}), "missing field `description`"),
        ("create_task", new(json!({ "depends_on": [] })), "unknown field `depends_on`"),
        ("create_task", new(json!({ "priority": 11 })), "from 1, the highest, to 10"),
        ("create_task", json!({ "description": " " }), "a task without a description says nothing to do"),
        ("create_task", new(json!({ "dependencies": ["nothing"] })), "nothing"),
        (
            "create_tasks_batch",
            json!({ "tasks": [new(json!({ "id": "../../out" })), new(json!({ "dependencies": ["it"] }))] }),
            "it",
        ),
        ("get_all_tasks", json!({ "status_filter": "open" }), "one of all, available"),
        ("get_results", json!({ "task_ids": ["nothing"] }), "nothing"),
        ("register_agent", json!({ "agent_id": "ada", "role": "boss" }), "expected `leader` or `worker`"),
        ("start_task", json!({ "agent_id": "ada", "task_id": "../../etc/passwd" }), "there is no task"),
        ("claim_task", json!({ "agent_id": "a\nb" }), "help"),
        ("get_master_plan", json!({ "folder": "/etc" }), "unknown field `folder`"),
    ] {
        let text = client.refused(tool, arguments.clone());
        assert!(text.contains(wanted) && text.contains("\nhelp: "), "{tool} {arguments}: {text}");
        assert!(!text.contains("stepmark "), "an agent has no shell: {text}");
    }
    assert_eq!(sandbox.tree(), before, "what was refused leaves no trace");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_refused_move_names_the_tool_that_is_meant() {
    let (_sandbox, mut client) = begun();
    let tasks =
        json!([{ "id": "a", "description": "A" }, { "id": "b", "description": "B", "dependencies": ["a"] }]);
    client.done("create_tasks_batch", json!({ "tasks": tasks }));
    let held = |agent: &str, task: &str| json!({ "agent_id": agent, "task_id": task });
    let text = client.refused("start_task", held("ada", "a"));
    assert!(text.ends_with("help: claim_task takes a task first"), "{text}");
    client.done("claim_task", json!({ "agent_id": "ada" }));
    for (tool, arguments, wanted) in [
        ("claim_task", json!({ "agent_id": "ada" }), "complete_task or fail_task ends one"),
        ("start_task", held("eve", "a"), "claim_task gives you a task that can be done now"),
        ("heartbeat", json!({ "agent_id": "nobody" }), "register_agent makes you known"),
        (
            "create_task",
            json!({ "description": "C", "dependencies": ["x"] }),
            "get_all_tasks lists the tasks",
        ),
        (
            "create_tasks_batch",
            json!({ "tasks": [{ "id": "a", "description": "A" }] }),
            "give it another id, or none",
        ),
    ] {
        let text = client.refused(tool, arguments);
        assert!(text.ends_with(&format!("help: {wanted}")) && !text.contains("stepmark "), "{text}");
    }
    client.done("complete_task", json!({ "agent_id": "ada", "task_id": "a", "output": "x" }));
    let text = client.refused("start_task", held("ada", "a"));
    assert!(text.ends_with("`done` is final\nhelp: create_task adds what is left to do"), "{text}");
    assert!(
        client
            .done("get_status", json!({}))
            .1
            .contains("\n2 tasks, 50 % done: 1 available, 1 done\n1 agent, ")
    );
    assert_eq!(client.end(), Some(0));
}

/// Claims until nothing is left, each time as another agent.
fn claim_all(client: &mut Client, name: &str) -> Vec<String> {
    let mut claimed = Vec::new();
    loop {
        let agent = format!("{name}-{}", claimed.len());
        let (answer, _) = client.done("claim_task", json!({ "agent_id": agent }));
        match answer["task"]["id"].as_str() {
            Some(task) => claimed.push(task.to_owned()),
            None => return claimed,
        }
    }
}

#[test]
fn several_servers_and_a_command_claim_each_task_once() {
    let (sandbox, mut client) = begun();
    let tasks: Vec<Value> =
        (0..20).map(|number| json!({ "description": format!("Task {number}") })).collect();
    client.done("create_tasks_batch", json!({ "tasks": tasks }));
    let mut claimed: Vec<String> = thread::scope(|scope| {
        let server = |name| {
            let sandbox = &sandbox;
            scope.spawn(move || {
                let mut client = Client::start(sandbox);
                let claimed = claim_all(&mut client, name);
                assert_eq!(client.end(), Some(0));
                claimed
            })
        };
        let servers = ["one", "two", "three"].map(server);
        let run = sandbox.stepmark(&["task", "claim", "--agent", "shell"]);
        assert_eq!(run.code, 0, "{run}");
        let of_command = run.stdout.split_whitespace().next().unwrap().to_owned();
        let of_servers = servers.into_iter().flat_map(|server| server.join().unwrap());
        of_servers.chain([of_command]).collect()
    });
    claimed.sort();
    claimed.dedup();
    assert_eq!(claimed.len(), 20);
    assert_eq!(client.done("get_status", json!({})).0["tasks"], json!({ "claimed": 20 }));
    assert_eq!(client.end(), Some(0));
}

#[test]
fn the_tools_cost_few_words_and_have_plain_schemas() {
    fn is_plain(schema: &Value) -> bool {
        match schema {
            Value::Object(keys) => {
                let refused = ["$schema", "format", "anyOf", "oneOf", "allOf", "$ref"];
                let is_list_of_types = keys.get("type").is_some_and(Value::is_array);
                !is_list_of_types
                    && !refused.iter().any(|key| keys.contains_key(*key))
                    && keys.values().all(is_plain)
            }
            Value::Array(items) => items.iter().all(is_plain),
            _ => true,
        }
    }
    let sandbox = Sandbox::empty();
    let mut client = Client::start(&sandbox);
    let listed = client.request("tools/list", json!({}))["result"].take();
    assert_eq!(listed["tools"].as_array().map(Vec::len), Some(15));
    for tool in listed["tools"].as_array().unwrap() {
        assert!(is_plain(&tool["inputSchema"]) && is_plain(&tool["outputSchema"]), "{tool}");
        assert!(tool["description"].as_str().is_some_and(|text| text.len() < 80), "{tool}");
    }
    let size = listed["tools"].to_string().len();
    assert!(size < 10_000, "{size} bytes");
    let discovered = client.request("server/discover", json!({}))["result"].take();
    assert!(discovered["instructions"].as_str().is_some_and(|text| text.len() < 2048));
    assert_eq!(client.end(), Some(0));
}

#[test]
fn what_is_no_message_is_answered_and_nothing_else_is_printed() {
    let (_sandbox, mut client) = begun();
    let long = vec![b'x'; 100_000_000];
    for line in [b"no JSON".as_slice(), b"{", &long] {
        let answer = client.say(line);
        assert_eq!(answer["error"]["code"], -32700, "{answer}");
    }
    assert_eq!(client.request("no/method", json!({}))["error"]["code"], -32601);
    assert_eq!(client.request("tools/call", json!({}))["error"]["code"], -32602);
    assert_eq!(client.request("tools/call", json!({ "name": "no_tool" }))["error"]["code"], -32602);
    client.done("get_status", json!({}));
    assert_eq!(client.end(), Some(0));
}
