//! `stepmark track`

use insta::assert_snapshot;

use crate::harness::{
    Run, Sandbox, TEST_ID, changed_lines,
    demo::{ARCHITECTURE, PRD, RESEARCH, STORY},
};

#[test]
fn gives_an_id_once() {
    let demo = Sandbox::demo();
    let before = demo.read(PRD);
    assert_snapshot!(demo.stepmark(&["track", PRD]), @r"
    exit 0
    ── stdout
    _bmad-output/planning-artifacts/prd.md: written, 5/14, next: step-04-journeys
    ");
    assert_snapshot!(changed_lines(&before, &demo.read(PRD)), @"+stepmark_id: '00000000-0000-4000-8000-000000000001'");
    assert_snapshot!(demo.reads_only(&["track", PRD]), @r"
    exit 0
    ── stdout
    _bmad-output/planning-artifacts/prd.md: `stepmark_id: 00000000-0000-4000-8000-000000000001` identifies it already
    _bmad-output/planning-artifacts/prd.md: nothing to write
    ");
    let answer = demo.stepmark(&["show", PRD, "--json"]).json("stepmark.show/2");
    assert_eq!(answer["id"], TEST_ID);
}

#[test]
fn an_id_of_its_own_stays() {
    assert_snapshot!(Sandbox::demo().reads_only(&["track", STORY]), @r"
    exit 0
    ── stdout
    _bmad-output/implementation-artifacts/1-1-borrow-a-tool.md: `id: story-1-1` identifies it already
    _bmad-output/implementation-artifacts/1-1-borrow-a-tool.md: nothing to write
    ");
}

#[test]
fn ids_are_random_without_the_test_variable() {
    let demo = Sandbox::demo();
    let id = |path: &str| {
        let run = demo.run(demo.command(&["track", path]).env_remove("STEPMARK_TEST_ID"));
        assert_eq!(run.code, 0, "{run}");
        let answer = demo.stepmark(&["show", path, "--json"]).json("stepmark.show/2");
        answer["id"].as_str().unwrap().to_owned()
    };
    let (one, other) = (id(PRD), id(ARCHITECTURE));
    assert_eq!((one.len(), one.as_bytes()[14]), (36, b'4'), "RFC 9562, version 4");
    assert_ne!(one, other);
}

#[test]
fn tracks_several_and_answers_one_json_object_each() {
    let demo = Sandbox::demo();
    let run = demo.stepmark(&["track", PRD, ARCHITECTURE, "--json"]);
    assert_eq!(run.code, 0, "{run}");
    let answers: Vec<serde_json::Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 2);
    assert!(answers.iter().all(|answer| answer["schema"] == "stepmark.change/2"), "{run}");
}

#[test]
fn what_cannot_be_edited_is_told_and_the_others_are_tracked() {
    let demo = Sandbox::demo();
    let run = demo.stepmark(&["track", RESEARCH, PRD, "--quiet"]);
    assert_eq!(run.code, 1, "{run}");
    assert!(String::from_utf8(demo.read(PRD)).unwrap().contains("stepmark_id"), "{run}");
    assert_snapshot!(demo.reads_only(&["track", RESEARCH]), @r"
    exit 1
    ── stderr
    error: `_bmad-output/planning-artifacts/market-research-2026-01-13.md` is left as it is
      cause: the frontmatter cannot be read: not YAML: invalid trailing content after single-quoted scalar
      help: `stepmark check _bmad-output/planning-artifacts/market-research-2026-01-13.md` shows the place
    ");
}

#[test]
fn all_that_have_none_get_one() {
    let demo = Sandbox::demo();
    let all = || demo.run(demo.command(&["track", "--all", "--json"]).env_remove("STEPMARK_TEST_ID"));
    let tracked = |run: &Run| run.stdout.lines().filter(|line| line.contains("stepmark.change/2")).count();
    let run = all();
    assert_eq!((run.code, tracked(&run)), (1, 5), "one of them cannot be read: {run}");
    let without = demo.stepmark(&["status", "--json"]).json("stepmark.status/2");
    assert!(without["artifacts"].as_array().unwrap().len() > 5, "{without}");
    assert_eq!(tracked(&all()), 0, "all others have one");
}
