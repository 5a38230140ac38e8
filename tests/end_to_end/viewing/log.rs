//! `stepmark log`, `at` and `diff`: history as a person asks for it.

use serde_json::Value as Json;

use crate::harness::{Run, Sandbox, demo::PRD};

/// Runs a command of an agent at a moment, in a session.
pub(crate) fn work(sandbox: &Sandbox, session: &str, time: &str, arguments: &[&str]) -> Run {
    let all = [arguments, &["--session", session, "--actor", "agent:writer"]].concat();
    let run = sandbox.run(sandbox.command(&all).env("STEPMARK_TEST_TIME", time));
    assert_eq!(run.code, 0, "{run}");
    run
}

/// The demo after two sessions: steps 4 and 5, then a status.
fn worked() -> Sandbox {
    let demo = Sandbox::demo();
    work(&demo, "s-1", "2026-11-22T10:00:00Z", &["complete", PRD, "4"]);
    work(&demo, "s-1", "2026-11-22T10:01:00Z", &["complete", PRD, "5"]);
    work(&demo, "s-2", "2026-11-23T10:00:00Z", &["set", PRD, "status=in-review"]);
    demo
}

fn log(demo: &Sandbox, arguments: &[&str]) -> Vec<Json> {
    let all = [&["log", "--json"], arguments].concat();
    let answer = demo.stepmark(&all).json("stepmark.log/1");
    answer["events"].as_array().unwrap().clone()
}

#[test]
fn tells_who_did_what_in_words() {
    let demo = worked();
    let run = demo.stepmark(&["log", PRD]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(lines[0].ends_with("  2026-11-23T10:00:00Z  agent:writer  [s-2]"), "{run}");
    assert_eq!(lines[1], "    status draft → in-review", "{run}");
    assert!(lines[2].ends_with("  2026-11-22T10:01:00Z  agent:writer  [s-1]"), "{run}");
    assert_eq!(lines[3], "    stepsCompleted + step-05-domain", "{run}");
    assert_eq!(lines[5], "    stepsCompleted + step-04-journeys", "{run}");
    let all = demo.stepmark(&["log"]);
    assert!(all.stdout.contains(&format!("    {PRD}: stepsCompleted + step-05-domain\n")), "{all}");
}

#[test]
fn artifact_session_and_number_narrow_it() {
    let demo = worked();
    work(&demo, "s-2", "2026-11-23T10:05:00Z", &["complete", crate::harness::demo::ARCHITECTURE, "6"]);
    let all = log(&demo, &[]).len();
    let of_prd = log(&demo, &[PRD]);
    assert!(of_prd.len() >= 3 && all > of_prd.len());
    let changed: Vec<_> =
        log(&demo, &["--session", "s-1"]).iter().map(|event| event["kind"].clone()).collect();
    assert_eq!(changed.iter().filter(|kind| *kind == "change").count(), 2, "{changed:?}");
    assert_eq!(log(&demo, &[PRD, "--session", "s-2"]).len(), 1);
    assert_eq!(log(&demo, &[PRD, "-n", "2"]), of_prd[..2]);
    assert_eq!(log(&demo, &["--session", "none"]), Vec::<Json>::new());
    assert_eq!(demo.stepmark(&["log", crate::harness::demo::BRIEF]).stdout, "nothing is recorded\n");
    assert_eq!(demo.stepmark(&["log", "absent.md"]).code, 2);
}

#[test]
fn a_project_without_a_journal_is_left_as_it_is() {
    let demo = Sandbox::demo();
    for arguments in [&["log"][..], &["log", PRD], &["replay", "--verify"], &["journal", "status"]] {
        let run = demo.reads_only(arguments);
        assert_eq!((run.code, run.stderr.contains("error")), (0, false), "{arguments:?} {run}");
    }
}

#[test]
fn at_shows_the_frontmatter_that_was() {
    let demo = worked();
    let events = log(&demo, &[PRD]);
    let fifth = events[1]["id"].as_str().unwrap();
    let steps = |point: &str| {
        let answer = demo.stepmark(&["at", point, PRD, "--json"]).json("stepmark.at/1");
        let state = &answer["state"];
        (state["stepsCompleted"].as_array().unwrap().len(), state["status"].as_str().unwrap().to_owned())
    };
    assert_eq!(steps("2026-11-22T10:00:30Z"), (6, "draft".to_owned()));
    assert_eq!(steps("2026-11-22T11:00:30+01:00"), (6, "draft".to_owned()));
    assert_eq!(steps("2026-11-22"), (7, "draft".to_owned()));
    assert_eq!(steps("2026-11-24"), (7, "in-review".to_owned()));
    assert_eq!(steps(&fifth[..8]), (7, "draft".to_owned()));
    assert_eq!(steps("s-1"), (7, "draft".to_owned()));
    assert_eq!(steps("s-2"), (7, "in-review".to_owned()));
    let shown = demo.stepmark(&["at", "s-1", PRD]);
    assert!(shown.stdout.starts_with(&format!("# {}  2026-11-22T10:01:00Z", &fifth[..12])), "{shown}");
    assert!(shown.stdout.contains("\nstatus: draft\n"), "{shown}");
}

#[test]
fn points_that_name_nothing_are_refused_with_a_remedy() {
    let demo = worked();
    for (point, code, wanted) in [
        ("2026-11-22T10:00:00", 2, "its time zone is missing"),
        ("s-9", 2, "the session `s-9`"),
        ("ffffffffffffffffffffffffffffffff", 2, "names the session"),
        ("2020-01-01", 1, "nothing is recorded"),
    ] {
        let run = demo.stepmark(&["at", point, PRD]);
        assert_eq!(run.code, code, "{run}");
        assert!(run.stderr.contains(wanted), "{run}");
    }
}

#[test]
fn diff_shows_what_a_session_made_of_the_artifacts() {
    let demo = worked();
    let run = demo.stepmark(&["diff", "s-1", "s-2"]);
    assert_eq!(run.to_string(), format!("exit 0\n── stdout\n{PRD}\n    status draft → in-review\n"));
    let answer = demo.stepmark(&["diff", "s-2", "s-1", "--json"]).json("stepmark.diff/1");
    assert_eq!(answer["artifacts"][0]["changes"][0]["new"], "draft");
    let same = demo.stepmark(&["diff", "s-1", "s-1"]);
    assert_eq!(same.stdout, "no artifact differs between the ends of s-1 and s-1\n");
    assert_eq!(demo.stepmark(&["diff", "s-1", "s-7"]).code, 2);
}

#[test]
fn a_file_that_another_program_moved_keeps_its_history() {
    let demo = worked();
    let lines = log(&demo, &[PRD]).len();
    for (n, moved) in ["docs/needs.md", "docs/wants.md"].into_iter().enumerate() {
        let earlier = if n == 0 { PRD } else { "docs/needs.md" };
        std::fs::create_dir_all(demo.place("docs")).unwrap();
        std::fs::rename(demo.place(earlier), demo.place(moved)).unwrap();
        assert_eq!(log(&demo, &[moved]).len(), lines + 2 * n, "{moved}");
        work(
            &demo,
            "s-3",
            "2026-11-24T10:00:00Z",
            &["complete", moved, &(6 + n).to_string(), "--force", "--reason", "x"],
        );
        assert_eq!(log(&demo, &[moved]).len(), lines + 2 * (n + 1), "{moved}");
    }
    let run = demo.stepmark(&["log", "docs/wants.md"]);
    assert!(run.stdout.contains(&format!("    {PRD}: stepsCompleted + step-05-domain")), "{run}");
}
