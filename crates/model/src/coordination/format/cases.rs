//! States in files of each format and back.

use serde_json::json;

use super::{Files, Format, read, render, result_file};
use crate::coordination::{
    RecordKind, State,
    sample::{agent, record, state, task},
};
use crate::records::{Signal, Signals};

pub(super) const NOW: &str = "2026-11-24T12:00:00Z";

pub(super) fn sample() -> State {
    let mut sample = state(
        vec![
            task(
                "task-a",
                json!({"description": "Write it", "status": "done", "priority": 1, "claimed_by": "w1", "dependencies": [],
                       "context": {"files": ["a.rs"], "hints": ""}, "created_at": "2026-11-24T10:00:00Z",
                       "completed_at": "2026-11-24T11:00:00Z",
                       "result": {"output": "Written", "files_modified": ["a.rs", "b.rs"]}}),
            ),
            task(
                "task/b",
                json!({"description": "Test it", "status": "failed", "claimed_by": "w1",
                       "completed_at": "2026-11-24T11:30:00Z", "result": {"error": "No disk"}}),
            ),
            task(
                "task-c",
                json!({"description": "Say it", "status": "cancelled", "priority": 5, "context": null, "mine": 1}),
            ),
        ],
        vec![agent(
            "w1",
            json!({"role": "worker", "capabilities": "rust, yaml", "registered_at": "2026-11-24T09:00:00Z"}),
        )],
    );
    sample.root.values = json!({"goal": "G", "created_at": "2026-11-24T08:00:00Z", "version": "1.0"})
        .as_object()
        .cloned()
        .unwrap()
        .into();
    sample.root.body = "# Plan\n".to_owned();
    sample.discoveries = vec![record(
        RecordKind::Discovery,
        "d1",
        json!({"agent_id": "w1", "tags": ["x"], "created_at": "2026-11-24T11:00:00Z"}),
    )];
    sample.discoveries[0].body = "It is **slow**.".to_owned();
    sample.discoveries[0].order = Some(0);
    sample
}

pub(super) fn signals() -> Signals {
    Signals::from([("w1".to_owned(), Signal { at: "2026-11-24T11:59:00Z".to_owned(), ..Signal::default() })])
}

fn text(files: &Files, name: &str) -> String {
    String::from_utf8(files[name].clone()).unwrap()
}

#[test]
fn a_is_written_as_its_programs_write_it() {
    let mut files = render(Format::TasksFile, &sample(), &signals(), NOW);
    assert_eq!(files.keys().collect::<Vec<_>>(), ["agents.json", "master-plan.md", "tasks.json"]);
    files.extend(sample().tasks.iter().filter_map(result_file));
    assert_eq!(text(&files, "master-plan.md"), "# Plan\n");
    insta::assert_snapshot!(text(&files, "agents.json"), @r##"
    {
      "agents": [
        {
          "id": "w1",
          "capabilities": "rust, yaml",
          "registered_at": "2026-11-24T09:00:00Z",
          "last_seen": "2026-11-24T11:59:00Z",
          "role": "worker"
        }
      ]
    }
    "##);
    insta::assert_snapshot!(text(&files, "tasks.json"), @r##"
    {
      "version": "1.0",
      "created_at": "2026-11-24T08:00:00Z",
      "last_updated": "2026-11-24T12:00:00Z",
      "tasks": [
        {
          "id": "task-a",
          "description": "Write it",
          "status": "done",
          "priority": 1,
          "claimed_by": "w1",
          "dependencies": [],
          "context": {
            "files": [
              "a.rs"
            ],
            "hints": ""
          },
          "result": {
            "output": "Written",
            "files_modified": [
              "a.rs",
              "b.rs"
            ]
          },
          "created_at": "2026-11-24T10:00:00Z",
          "completed_at": "2026-11-24T11:00:00Z"
        },
        {
          "id": "task/b",
          "description": "Test it",
          "status": "failed",
          "claimed_by": "w1",
          "result": {
            "error": "No disk"
          },
          "completed_at": "2026-11-24T11:30:00Z"
        },
        {
          "id": "task-c",
          "description": "Say it",
          "status": "cancelled",
          "priority": 5,
          "context": null,
          "mine": 1
        }
      ]
    }
    "##);
}

#[test]
fn a_has_a_page_of_each_result() {
    let pages: Files = sample().tasks.iter().filter_map(result_file).collect();
    assert_eq!(pages.len(), 2);
    insta::assert_snapshot!(text(&pages, "results/task-a.md"), @r##"
    # Task: task-a

    ## Description
    Write it

    ## Completed By
    w1

    ## Completed At
    2026-11-24T11:00:00Z

    ## Output
    Written

    ## Files Modified
    - a.rs
    - b.rs

    ## Files Created
    None

    ## Status
    SUCCESS
    "##);
    insta::assert_snapshot!(text(&pages, "results/task-b-3935cef6.md"), @r##"
    # Task: task/b

    ## Description
    Test it

    ## Attempted By
    w1

    ## Failed At
    2026-11-24T11:30:00Z

    ## Failure Reason
    No disk

    ## Status
    FAILED
    "##);
}

#[test]
fn b_has_every_common_key() {
    let files = render(Format::ServerState, &sample(), &signals(), NOW);
    insta::assert_snapshot!(text(&files, "mcp-state.json"), @r##"
    {
      "master_plan": "# Plan\n",
      "goal": "G",
      "tasks": [
        {
          "id": "task-a",
          "description": "Write it",
          "status": "done",
          "priority": 1,
          "claimed_by": "w1",
          "dependencies": [],
          "context": {
            "files": [
              "a.rs"
            ],
            "hints": ""
          },
          "result": {
            "output": "Written",
            "files_modified": [
              "a.rs",
              "b.rs"
            ]
          },
          "created_at": "2026-11-24T10:00:00Z",
          "claimed_at": null,
          "completed_at": "2026-11-24T11:00:00Z"
        },
        {
          "id": "task/b",
          "description": "Test it",
          "status": "failed",
          "priority": 5,
          "claimed_by": "w1",
          "dependencies": [],
          "context": null,
          "result": {
            "error": "No disk"
          },
          "created_at": null,
          "claimed_at": null,
          "completed_at": "2026-11-24T11:30:00Z"
        },
        {
          "id": "task-c",
          "description": "Say it",
          "status": "cancelled",
          "priority": 5,
          "claimed_by": null,
          "dependencies": [],
          "context": null,
          "result": null,
          "created_at": null,
          "claimed_at": null,
          "completed_at": null,
          "mine": 1
        }
      ],
      "agents": {
        "w1": {
          "id": "w1",
          "role": "worker",
          "last_heartbeat": "2026-11-24T11:59:00Z",
          "current_task": null,
          "tasks_completed": 0,
          "capabilities": "rust, yaml",
          "registered_at": "2026-11-24T09:00:00Z"
        }
      },
      "discoveries": [
        {
          "id": "d1",
          "agent_id": "w1",
          "content": "It is **slow**.",
          "tags": [
            "x"
          ],
          "created_at": "2026-11-24T11:00:00Z"
        }
      ],
      "created_at": "2026-11-24T08:00:00Z",
      "last_activity": "2026-11-24T12:00:00Z"
    }
    "##);
}

#[test]
fn c_holds_what_its_model_takes_and_notes_the_rest() {
    let files = render(Format::OrchestratorState, &sample(), &signals(), NOW);
    insta::assert_snapshot!(text(&files, "orchestrator-state.json"), @r##"
    {
      "goal": "G",
      "master_plan": "# Plan\n",
      "working_directory": ".",
      "tasks": [
        {
          "id": "task-a",
          "description": "Write it",
          "status": "done",
          "priority": 1,
          "claimed_by": "w1",
          "dependencies": [],
          "context": {
            "files": [
              "a.rs"
            ],
            "hints": ""
          },
          "result": {
            "output": "Written",
            "files_modified": [
              "a.rs",
              "b.rs"
            ]
          },
          "created_at": "2026-11-24T10:00:00Z",
          "completed_at": "2026-11-24T11:00:00Z"
        },
        {
          "id": "task/b",
          "description": "Test it",
          "status": "failed",
          "claimed_by": "w1",
          "context": {
            "metadata": {
              "stepmark": {
                "absent": [
                  "created_at",
                  "result.output",
                  "context",
                  "context.metadata"
                ]
              }
            }
          },
          "result": {
            "output": "",
            "error": "No disk"
          },
          "created_at": "1970-01-01T00:00:00Z",
          "completed_at": "2026-11-24T11:30:00Z"
        },
        {
          "id": "task-c",
          "description": "Say it",
          "status": "failed",
          "priority": 5,
          "context": {
            "metadata": {
              "stepmark": {
                "task": {
                  "status": "cancelled",
                  "context": null,
                  "mine": 1
                },
                "absent": [
                  "created_at",
                  "context",
                  "context.metadata"
                ]
              }
            }
          },
          "created_at": "1970-01-01T00:00:00Z"
        }
      ],
      "agents": {
        "w1": {
          "id": "w1",
          "role": "worker",
          "last_heartbeat": "2026-11-24T11:59:00Z"
        }
      },
      "discoveries": [
        {
          "id": "d1",
          "agent_id": "w1",
          "content": "It is **slow**.",
          "tags": [
            "x"
          ],
          "created_at": "2026-11-24T11:00:00Z"
        }
      ],
      "created_at": "2026-11-24T08:00:00Z",
      "last_activity": "2026-11-24T12:00:00Z",
      "max_parallel_workers": 3,
      "task_timeout_seconds": 600
    }
    "##);
}

#[test]
fn a_damaged_file_is_no_empty_state() {
    let file = |name: &str, text: &str| Files::from([(name.to_owned(), text.as_bytes().to_vec())]);
    for (format, files, wanted) in [
        (Format::TasksFile, Files::new(), "`tasks.json` is missing"),
        (
            Format::TasksFile,
            file("tasks.json", ""),
            "`tasks.json` cannot be read: EOF while parsing a value in line 1, column 0",
        ),
        (Format::TasksFile, file("tasks.json", "[]"), "`/` of `tasks.json` should be an object"),
        (
            Format::TasksFile,
            file("tasks.json", r#"{"tasks": {}}"#),
            "`tasks` of `tasks.json` should be a list",
        ),
        (
            Format::TasksFile,
            file("tasks.json", r#"{"tasks": [{}]}"#),
            "`tasks[0].id` of `tasks.json` should be a text, the id",
        ),
        (
            Format::TasksFile,
            file("tasks.json", r#"{"tasks": [{"id": "a"}, {"id": "a"}]}"#),
            "`tasks.json` has the task `a` twice",
        ),
        (
            Format::ServerState,
            file("mcp-state.json", r#"{"agents": {"a": {"id": "b"}}}"#),
            "`agents.a.id` of `mcp-state.json` should be a text, the id",
        ),
        (
            Format::ServerState,
            file("mcp-state.json", r#"{"discoveries": [{"id": "d", "content": 1}]}"#),
            "`discoveries[0].content` of `mcp-state.json` should be a text",
        ),
        (
            Format::OrchestratorState,
            file("orchestrator-state.json", r#"{"goal": "a", "goal": "b"}"#),
            "`orchestrator-state.json` cannot be read: the key `goal` stands twice in line 1, column 20",
        ),
    ] {
        let error = read(format, &files).unwrap_err();
        assert_eq!(crate::spelling::with_causes(&error), wanted);
    }
}
