//! Answers as JSON: what agents ask often is short, and failures are JSON, too.

use crate::harness::{Sandbox, demo::PRD};

/// How many characters the answers have that agents ask for most: 200 tokens of four.
const SHORT: usize = 800;

const STORY: &str = "_bmad-output/implementation-artifacts/1-1-borrow-a-tool.md";

#[test]
fn what_agents_ask_most_is_short() {
    let demo = Sandbox::demo();
    let all_steps: Vec<String> = (1..=9).map(|step| step.to_string()).collect();
    let all: Vec<&str> =
        ["complete", PRD, "--json"].into_iter().chain(all_steps.iter().map(String::as_str)).collect();
    for arguments in [
        &["next", PRD, "--json"][..],
        &["complete", PRD, "4", "--json"],
        &all,
        &["next", PRD, "--json"],
        &["transition", STORY, "review", "--json"],
        &["transition", STORY, "--json"],
        &["gate", "check", PRD, "4", "--json"],
        &["gate", "check", PRD, "11", "--json"],
    ] {
        let run = demo.stepmark(arguments);
        assert!(run.stdout.chars().count() <= SHORT, "{} {run}", run.stdout.chars().count());
        assert!(!run.stdout.is_empty(), "{run}");
    }
}

#[test]
fn a_change_says_what_is_next() {
    let demo = Sandbox::demo();
    let completed = demo.stepmark(&["complete", PRD, "4", "--json"]).json("stepmark.change/2");
    assert_eq!(completed["next"][0]["id"], "step-05-domain", "{completed}");
    assert!(completed["next"][0]["file"].as_str().unwrap().ends_with("step-05-domain.md"), "{completed}");
    assert_eq!((&completed["done"], &completed["total"]), (&6.into(), &14.into()));
    let moved = demo.stepmark(&["transition", STORY, "review", "--json"]).json("stepmark.change/2");
    assert_eq!(
        (&moved["status"], &moved["moves"]),
        (&"review".into(), &serde_json::json!(["in-progress", "done", "awaiting-operator"]))
    );
}

#[test]
fn a_command_line_that_makes_no_sense_is_an_error_in_json() {
    let demo = Sandbox::demo();
    for (arguments, says, help) in [
        (&["complete", "--json"][..], "required arguments", "usage: stepmark complete"),
        (&["stauts", "--json"], "unrecognized subcommand 'stauts'", "usage: stepmark"),
        (&["status", "--json", "--nonsense"], "unexpected argument", "usage: stepmark status"),
        (&["next", "absent.md", "--json"], "no file `absent.md`", "stepmark status"),
        (&["status", "--json", "--fields", "nonsense"], "no field `nonsense`", "path, "),
    ] {
        let run = demo.reads_only(arguments);
        let error = run.json_error();
        assert_eq!((run.code, &error["exit"]), (2, &2.into()), "{run}");
        assert_eq!(run.stdout, "");
        assert!(error["error"].as_str().unwrap().contains(says), "{run}");
        assert!(error["help"].as_str().unwrap().contains(help), "{run}");
    }
    // What stands behind `--` is no option.
    assert!(demo.reads_only(&["nonsense", "--", "--json"]).stderr.starts_with("error: "));
    assert_eq!(demo.reads_only(&["status", "--json", "--help"]).code, 0);
}

#[test]
fn lists_are_as_short_as_one_wants() {
    let demo = Sandbox::demo();
    for step in ["4", "5", "6"] {
        demo.stepmark(&["complete", PRD, step]);
        demo.stepmark(&["checkpoint", PRD]);
        demo.stepmark(&["delegate", PRD, "--to", step]);
        demo.stepmark(&["session", "start"]);
    }
    for (command, schema, list, field) in [
        (&["status"][..], "stepmark.status/2", "artifacts", "path"),
        (&["list"], "stepmark.list/2", "artifacts", "status"),
        (&["log"], "stepmark.log/1", "events", "at"),
        (&["tree"], "stepmark.tree/1", "nodes", "agent"),
        (&["session", "list"], "stepmark.session/1", "sessions", "state"),
        (&["lifecycle", "list"], "stepmark.lifecycles/2", "lifecycles", "name"),
        (&["explain"], "stepmark.rules/1", "rules", "id"),
        (&["schema"], "stepmark.schemas/1", "schemas", "name"),
        (&["config", "show"], "stepmark.config/1", "values", "key"),
        (&["config", "variables"], "stepmark.config-variables/1", "variables", "name"),
        (&["checkpoint", "list", PRD], "stepmark.checkpoint-list/1", "checkpoints", "at"),
    ] {
        let all = demo.stepmark(&[command, &["--json"]].concat()).json(schema);
        assert!(all[list].as_array().unwrap().len() > 2 || command[0] == "session", "{command:?} {all}");
        let few =
            demo.stepmark(&[command, &["--json", "--limit", "1", "--fields", field]].concat()).json(schema);
        let few = few[list].as_array().unwrap();
        assert_eq!(few.len(), 1, "{command:?}");
        assert_eq!(few[0].as_object().unwrap().keys().collect::<Vec<_>>(), [field], "{command:?}");
        assert_eq!(demo.stepmark(&[command, &["--limit", "1"]].concat()).code, 0, "{command:?}");
    }
}

/// What files and tickets are called by that the program keeps; no answer is one.
const KEPT: [&str; 7] =
    ["allowed-targets", "baseline", "checkpoint", "gate", "lease", "ticket", "ticket-line"];

#[test]
fn every_schema_that_the_sources_name_is_published() {
    let demo = Sandbox::demo();
    let published = demo.reads_only(&["schema", "--json"]).json("stepmark.schemas/1").to_string();
    let mut folders = vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("crates")];
    let mut named = std::collections::BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.extension().is_some_and(|ending| ending == "rs") {
                let text = std::fs::read_to_string(entry).unwrap();
                named.extend(text.split("\"stepmark.").skip(1).filter_map(|rest| {
                    let name = rest.split('"').next()?;
                    let (word, version) = name.split_once('/')?;
                    let is_kept = KEPT.contains(&word) || version.parse::<u8>().is_err();
                    (!is_kept).then(|| format!("stepmark.{name}"))
                }));
            }
        }
    }
    assert!(named.len() > 50, "{named:?}");
    for name in &named {
        assert!(published.contains(&format!("\"{name}\"")), "{name} is not published");
        assert_eq!(demo.reads_only(&["schema", name]).code, 0, "{name}");
    }
}
