//! The state file as an artifact like any other: journal, undo, `at`, diff, checkpoint, restore, lease, gate,
//! tickets.

use serde_json::Value as Json;

use super::{BATCH, FILE, PLAN, autodev, by_agent, done, empty, text, with};
use crate::{changing::delegate::events, harness::Sandbox, viewing::log::work};

fn log(sandbox: &Sandbox) -> Vec<Json> {
    let answer = sandbox.stepmark(&["log", FILE, "--json"]).json("stepmark.log/1");
    answer["events"].as_array().unwrap().clone()
}

#[test]
fn a_move_is_taken_back_and_told_at_every_moment() {
    let sandbox = with(BATCH);
    work(&sandbox, "s-1", "2026-11-22T10:00:00Z", &["autodev", "sub-step", "8", "wrap-up"]);
    work(&sandbox, "s-2", "2026-11-22T11:00:00Z", &["autodev", "complete"]);
    let events = log(&sandbox);
    let kinds: Vec<_> = events.iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["change", "change", "first-seen"]);
    let completed = events[0]["id"].as_str().unwrap();
    let shown = sandbox.stepmark(&["at", completed, FILE]);
    assert!(shown.code == 0 && shown.stdout.contains("Run Tests"), "{shown}");
    let diff = sandbox.stepmark(&["diff", "s-1", "s-2"]);
    assert!(diff.code == 0 && diff.stdout.contains("Run Tests"), "{diff}");
    for event in &events[..2] {
        let undone = sandbox.stepmark(&["undo", event["id"].as_str().unwrap()]);
        assert_eq!(undone.code, 0, "{undone}");
    }
    assert_eq!(text(&sandbox), BATCH, "there and back again, to the byte");
    assert_eq!(sandbox.stepmark(&["replay", "--verify"]).code, 0);
}

#[test]
fn what_the_skill_writes_itself_is_an_external_edit() {
    let sandbox = with(PLAN);
    done(&sandbox, &["sub-step", "5", "test-specs"]);
    sandbox.write(FILE, text(&sandbox).replace("phase: 5", "phase: 6").replace("test-specs", "epics"));
    done(&sandbox, &["sub-step", "7", "tasks"]);
    let events = log(&sandbox);
    let kinds: Vec<_> = events.iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["change", "external-edit", "change", "first-seen"]);
}

#[test]
fn a_checkpoint_puts_the_block_back() {
    let sandbox = with(BATCH);
    let made = sandbox.stepmark(&["checkpoint", FILE, "--json"]).json("stepmark.checkpoint-made/1");
    let place = made["checkpoint"].as_str().unwrap();
    done(&sandbox, &["complete"]);
    let notes = "\n\n## Notes\n\nThey stay.\n";
    sandbox.write(FILE, text(&sandbox) + notes);
    let restored = sandbox.stepmark(&["restore", FILE, "--from", place]);
    assert_eq!(restored.code, 0, "{restored}");
    let now = text(&sandbox);
    assert!(now.contains("step: 10\nname: Implement") && now.ends_with(notes), "{now}");
    sandbox.write(FILE, now.replace("flow: existing-code", "flow: ["));
    let restored = sandbox.stepmark(&["restore", FILE, "--from", place]);
    assert_eq!(restored.code, 0, "{restored}");
    assert!(text(&sandbox).contains("flow: existing-code"));
}

#[test]
fn a_damaged_block_is_resumed_from_history() {
    let sandbox = with(PLAN);
    done(&sandbox, &["complete"]);
    let resumed = sandbox.stepmark(&["resume", FILE]);
    assert!(resumed.code == 0 && resumed.stdout.contains("step-04-ui-design"), "{resumed}");
    sandbox.write(FILE, text(&sandbox).replace("flow: greenfield", "flow: ["));
    let resumed = sandbox.stepmark(&["resume", FILE]);
    assert!(resumed.code == 0 && resumed.stdout.contains("step-04-ui-design"), "{resumed}");
}

#[test]
fn whoever_does_not_hold_the_lease_moves_nothing() {
    let sandbox = with(PLAN);
    let taken = sandbox.run(by_agent(&sandbox, &["lease", "take", FILE]).env("STEPMARK_SESSION", "s-one"));
    assert_eq!(taken.code, 0, "{taken}");
    for arguments in [&["sub-step", "5", "x"][..], &["complete"], &["fail", "--reason", "x"]] {
        let refused = autodev(&sandbox, arguments);
        assert!(refused.code == 3 && refused.stderr.contains("holds its lease"), "{refused}");
    }
    assert_eq!(text(&sandbox), PLAN);
    let own = ["autodev", "sub-step", "5", "x"];
    assert_eq!(sandbox.run(by_agent(&sandbox, &own).env("STEPMARK_SESSION", "s-one")).code, 0);
}

#[test]
fn steps_that_are_behind_open_their_gates() {
    let sandbox = with(PLAN);
    let gate = |step: &str| sandbox.stepmark(&["gate", "check", FILE, step]).code;
    assert_eq!((gate("step-02-research"), gate("step-03-plan")), (0, 1));
    done(&sandbox, &["complete"]);
    assert_eq!((gate("step-03-plan"), gate("step-04-ui-design")), (0, 1));
    let listed = sandbox.stepmark(&["list", "--json"]).json("stepmark.list/2");
    let row =
        listed["artifacts"].as_array().unwrap().iter().find(|row| row["path"] == FILE).cloned().unwrap();
    assert_eq!(row["done"], 3, "{row}");
}

#[test]
fn a_correction_tells_both_sides() {
    let sandbox = empty();
    sandbox.write(FILE, PLAN);
    let run = done(&sandbox, &["detect", "--write"]);
    assert!(run.stdout.contains("corrected to step 1"), "{run}");
    let told = events(&sandbox).pop().unwrap();
    assert_eq!(told["kind"], "autodev-corrected");
    assert_eq!((told["data"]["noted"].as_str(), told["data"]["told"].as_str()), (Some("3"), Some("1")));
    assert!(!done(&sandbox, &["detect", "--write"]).stdout.contains("corrected"));
    assert_eq!(events(&sandbox).len(), 2);
    let undone = sandbox.stepmark(&["undo", &told["id"].as_str().unwrap()[..12]]);
    assert_eq!((undone.code, text(&sandbox).as_str()), (0, PLAN), "{undone}");
}

#[test]
fn a_block_that_says_nothing_is_replaced_and_kept_in_history() {
    let sandbox =
        with(&PLAN.replace("flow: greenfield", "flow: [").replace("# Autodev State", "# State\n\nMine."));
    for refused in [&["complete"][..], &["sub-step", "5", "x"], &["fail", "--reason", "x"]] {
        let run = autodev(&sandbox, refused);
        assert!(run.code == 1 && run.stderr.contains("says no position"), "{run}");
    }
    let run = done(&sandbox, &["detect", "--write"]);
    assert!(run.stdout.contains("corrected to step"), "{run}");
    let told = events(&sandbox).pop().unwrap();
    assert_eq!(told["kind"], "autodev-unparsable");
    assert!(told["data"]["block"].as_str().unwrap().starts_with("flow: [\nstep: 3\n"), "{told}");
    assert!(
        text(&sandbox).starts_with("# State\n\nMine.\n\n## Current Step\nflow: meta-repo\n"),
        "{}",
        text(&sandbox)
    );
}

#[test]
fn of_two_blocks_none_is_chosen() {
    let twice = format!("{PLAN}\n## Current Step\n{}", &PLAN[PLAN.find("flow:").unwrap()..]);
    let sandbox = with(&twice);
    let run = autodev(&sandbox, &["detect", "--write"]);
    assert!(run.code == 1 && run.stderr.contains("several headings"), "{run}");
    assert_eq!(text(&sandbox), twice);
}

#[test]
fn its_ticket_follows_the_block() {
    let sandbox = with(PLAN);
    let keys = "project_id: demo\nautodev: {}\ntrackers: {file: {path: out/tickets.jsonl}}\n";
    sandbox.write(".stepmark/config.yaml", keys);
    assert_eq!(sandbox.stepmark(&["track", FILE]).code, 0);
    let tickets = || -> Vec<Json> {
        let run = sandbox.stepmark(&["sync", "apply"]);
        assert_eq!(run.code, 0, "{run}");
        let text = String::from_utf8(sandbox.read("out/tickets.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let first = tickets();
    assert_eq!(first.last().unwrap()["ticket"]["title"], "Plan", "{first:?}");
    assert_eq!(tickets(), first, "nothing is said again");
    let tracked = text(&sandbox);
    done(&sandbox, &["complete"]);
    let second = tickets();
    assert!(second.len() > first.len(), "{second:?}");
    assert_eq!(second.last().unwrap()["ticket"]["title"], "UI Design", "{second:?}");
    // The other way nothing comes.
    assert!(tracked.contains("step: 3") && text(&sandbox).contains("step: 4"));
}
