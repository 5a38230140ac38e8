//! `stepmark project ARTIFACT…`: what is made of a few artifacts, without looking at the others.

use std::fs;

use crate::harness::{
    Sandbox,
    demo::{PRD, STORY},
};

/// What a run writes and removes, by projection.
fn written(sandbox: &Sandbox, arguments: &[&str]) -> Vec<(String, u64, u64)> {
    let run = sandbox.stepmark(&[&["project", "--json"], arguments].concat());
    assert_eq!(run.code, 0, "{run}");
    let answer = run.json("stepmark.project/1");
    let projections = answer["projections"].as_array().unwrap();
    let count = |done: &serde_json::Value, key: &str| done[key].as_u64().unwrap();
    let name = |done: &serde_json::Value| done["name"].as_str().unwrap().to_owned();
    projections.iter().map(|done| (name(done), count(done, "written"), count(done, "removed"))).collect()
}

/// The projections in which a whole run found something left to do. The database follows when it is asked.
fn rest(after: &[(String, u64, u64)]) -> Vec<&str> {
    let has_rest =
        |(name, written, removed): &(String, u64, u64)| name != "index" && (*written, *removed) != (0, 0);
    after.iter().filter(|done| has_rest(done)).map(|done| done.0.as_str()).collect()
}

/// The demo with one more artifact, and without the story, whose two statuses disagree.
fn demo() -> Sandbox {
    let demo = Sandbox::demo();
    demo.write(".stepmark/config.yaml", "gates: true\n");
    let prd = String::from_utf8(demo.read(PRD)).unwrap();
    fs::remove_file(demo.place(STORY)).unwrap();
    demo.write("docs/other.md", prd.replace("  - 'step-03-success'\n", ""));
    demo
}

#[test]
fn a_second_run_writes_nothing() {
    let demo = demo();
    let first = written(&demo, &[]);
    assert!(first.iter().any(|(name, written, _)| name == "files-manifest" && *written == 1), "{first:?}");
    let second = written(&demo, &[]);
    assert!(rest(&second).is_empty(), "{second:?}");
}

#[test]
fn what_is_made_of_one_artifact_is_what_a_whole_run_makes() {
    let demo = demo();
    written(&demo, &[]);
    let text = String::from_utf8(demo.read("docs/other.md")).unwrap();
    demo.write("docs/other.md", text.replace("  - 'step-02b-vision'\n", ""));
    demo.write(PRD, String::from_utf8(demo.read(PRD)).unwrap() + "\nMore.\n");
    let some = written(&demo, &["docs/other.md", PRD]);
    let of = |name: &str| some.iter().find(|done| done.0 == name).unwrap().clone();
    assert_eq!(of("files-manifest").1, 1);
    assert!(of("gates").2 >= 1, "the gate of the step that is gone: {some:?}");
    let after = written(&demo, &[]);
    assert!(rest(&after).is_empty(), "a whole run had something left to do: {after:?}");
}

#[test]
fn an_artifact_that_is_new_or_gone_changes_more_than_a_row() {
    let demo = demo();
    written(&demo, &[]);
    fs::rename(demo.place("docs/other.md"), demo.place("docs/moved.md")).unwrap();
    let some = written(&demo, &["docs/other.md", "docs/moved.md"]);
    assert!(some.iter().any(|done| done.0 == "gates" && done.1 > 0 && done.2 > 0), "{some:?}");
    let manifest = String::from_utf8(demo.read(".stepmark/manifests/files-manifest.csv")).unwrap();
    assert!(manifest.contains("docs/moved.md") && !manifest.contains("docs/other.md"));
    let after = written(&demo, &[]);
    assert!(rest(&after).is_empty(), "{after:?}");
}

#[test]
fn a_path_where_nothing_is_does_not_pass_unsaid() {
    let demo = demo();
    let run = demo.stepmark(&["project", "docs/prd.mdd"]);
    assert!(run.code == 2 && run.stderr.contains("no file `docs/prd.mdd`"), "{run}");
    written(&demo, &[]);
    fs::remove_file(demo.place("docs/other.md")).unwrap();
    let run = demo.stepmark(&["project", "docs/other.md"]);
    assert!(run.code == 0 && run.stderr.contains("warning: `docs/other.md` is not there"), "{run}");
}
