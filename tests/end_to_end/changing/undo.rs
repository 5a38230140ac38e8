//! `stepmark undo`

use serde_json::Value as Json;

use crate::{
    harness::{Sandbox, demo::PRD},
    viewing::log::work,
};

/// The ids of the events of the PRD, the latest first.
fn ids(demo: &Sandbox) -> Vec<String> {
    let answer = demo.stepmark(&["log", PRD, "--json"]).json("stepmark.log/1");
    let id = |event: &Json| event["id"].as_str().unwrap().to_owned();
    answer["events"].as_array().unwrap().iter().map(id).collect()
}

#[test]
fn takes_back_one_event_and_keeps_what_came_later() {
    let demo = Sandbox::demo();
    let before = demo.read(PRD);
    work(&demo, "s-1", "2026-11-22T10:00:00Z", &["complete", PRD, "4"]);
    let completed = ids(&demo).remove(0);
    work(&demo, "s-1", "2026-11-22T10:01:00Z", &["set", PRD, "status=in-review"]);
    let run = demo.stepmark(&["undo", &completed[..8], "-m", "too early"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run}");
    let later = demo.stepmark(&["undo", &ids(&demo)[1]]);
    assert_eq!(later.code, 0, "{later}");
    assert_eq!(demo.read(PRD), before, "there and back again, to the byte");
    let told = demo.stepmark(&["log", PRD, "-n", "2"]).stdout;
    assert!(told.contains("  undo\n") && told.contains("(too early)"), "{told}");
    assert_eq!(demo.stepmark(&["replay", "--verify"]).code, 0);
}

#[test]
fn what_cannot_be_taken_back_changes_nothing() {
    let demo = Sandbox::demo();
    work(&demo, "s-1", "2026-11-22T10:00:00Z", &["set", PRD, "status=in-review"]);
    let [changed, first_seen] = &ids(&demo)[..] else { panic!("two events") };
    work(&demo, "s-1", "2026-11-22T10:01:00Z", &["set", PRD, "status=done"]);
    for (event, code, why) in [
        (changed.as_str(), 1, "`status` was changed since"),
        (first_seen, 1, "what was there when stepmark met the artifact"),
        ("ffffffffffff", 2, "no event"),
        ("xyz", 2, "no event id"),
    ] {
        let run = demo.stepmark(&["undo", event]);
        assert_eq!(run.code, code, "{run}");
        assert!(run.stderr.contains(why), "{run}");
    }
    assert_eq!(ids(&demo).len(), 3);
}

#[test]
fn a_fix_of_what_nobody_could_read_is_never_undone_to_less_than_the_file_held() {
    for broken in [
        "---\nstatus: draft\nmeta:\n\towner: ann\n---\n# B\n",
        "---\nstatus: draft\nowner: ann\n\n# PRD\n",
        "# PRD\n\n---\nstatus: draft\n---\nBody\n",
        "\n\n---\nstatus: draft\n---\nBody\n",
    ] {
        let project = Sandbox::empty();
        project.write("prd.md", broken);
        project.stepmark(&["check", "--fix", "--unsafe-fixes", "prd.md"]);
        let fixed = project.read("prd.md");
        assert_ne!(fixed, broken.as_bytes(), "it was fixed");
        let answer = project.stepmark(&["log", "prd.md", "--json"]).json("stepmark.log/1");
        let run = project.stepmark(&["undo", answer["events"][0]["id"].as_str().unwrap()]);
        let kept = run.code == 1 && project.read("prd.md") == fixed;
        assert!(kept || project.read("prd.md") == broken.as_bytes(), "{run}");
        assert!(!kept || run.stderr.contains("its text of then is not kept"), "{run}");
    }
}

#[test]
fn a_clock_that_goes_backwards_changes_no_order() {
    let demo = Sandbox::demo();
    for (time, step) in
        [("2026-11-22T12:00:00Z", "4"), ("2026-11-22T09:00:00Z", "5"), ("2026-11-22T06:00:00Z", "6")]
    {
        work(&demo, "s-1", time, &["complete", PRD, step]);
    }
    let answer = demo.stepmark(&["log", PRD, "--json"]).json("stepmark.log/1");
    let events = answer["events"].as_array().unwrap();
    let order: Vec<u64> = events.iter().map(|event| event["n"].as_u64().unwrap()).collect();
    assert_eq!(order, [4, 3, 2, 1]);
    assert_eq!(events[0]["at"], "2026-11-22T06:00:00Z", "times are told as the clock had them");
    assert_eq!(demo.stepmark(&["replay", "--verify", "--strict", PRD]).code, 0);
    let undone = demo.stepmark(&["undo", events[0]["id"].as_str().unwrap()]);
    assert_eq!(undone.code, 0, "{undone}");
}

#[test]
fn without_an_event_the_last_change_is_named() {
    let demo = Sandbox::demo();
    let run = demo.stepmark(&["undo"]);
    assert!(run.code == 2 && run.stderr.contains("no change of an artifact is recorded"), "{run}");
    work(&demo, "s-1", "2026-11-22T10:00:00Z", &["set", PRD, "status=in-review"]);
    let last = ids(&demo).remove(0);
    let run = demo.stepmark(&["undo"]);
    assert_eq!(run.code, 2, "{run}");
    assert!(run.stderr.contains(&format!("the last change is `set status=in-review` in `{PRD}`")), "{run}");
    assert!(run.stderr.contains(&format!("`stepmark undo {}` takes it back", &last[..12])), "{run}");
}

#[test]
fn what_was_taken_back_says_what_brings_it_back() {
    let demo = Sandbox::demo();
    work(&demo, "s-1", "2026-11-22T10:00:00Z", &["complete", PRD, "4"]);
    let completed = ids(&demo).remove(0);
    assert_eq!(demo.stepmark(&["undo", &completed]).code, 0);
    let by = ids(&demo).remove(0);
    let again = demo.stepmark(&["undo", &completed]);
    assert_eq!(again.code, 1, "{again}");
    assert!(again.stderr.contains(&format!("was taken back already, by event {by}")), "{again}");
    assert!(again.stderr.contains(&format!("`stepmark undo {by}` brings it back")), "{again}");
    assert_eq!(demo.stepmark(&["undo", &by]).code, 0);
    assert_eq!(demo.stepmark(&["undo", &completed]).code, 0, "it holds again");
}
