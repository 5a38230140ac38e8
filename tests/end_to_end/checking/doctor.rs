//! `stepmark doctor`

use std::path::PathBuf;

use insta::assert_snapshot;

use crate::harness::{Sandbox, demo::PRD};

fn findings(sandbox: &Sandbox) -> Vec<(String, String)> {
    let answer = sandbox.stepmark(&["doctor", "--json"]).json("stepmark.doctor/2");
    let findings = answer["findings"].as_array().unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    findings.iter().map(|finding| (text(&finding["kind"]), text(&finding["path"]))).collect()
}

fn segment(sandbox: &Sandbox) -> PathBuf {
    sandbox.tree().files_named("main-").remove(0)
}

#[test]
fn a_sound_project_has_no_findings() {
    let demo = Sandbox::demo();
    assert_eq!(demo.reads_only(&["doctor"]).to_string(), "exit 0\n── stdout\nall is well\n");
    demo.stepmark(&["complete", PRD, "4"]);
    demo.stepmark(&["checkpoint", PRD]);
    assert_eq!(findings(&demo), []);
    assert_eq!(demo.stepmark(&["doctor", "--repair", "-q"]).to_string(), "exit 0\n");
}

#[test]
fn a_torn_line_is_reported_and_cut_only_by_repair() {
    let demo = Sandbox::demo();
    demo.stepmark(&["complete", PRD, "4"]);
    demo.stepmark(&["complete", PRD, "5"]);
    let segment = segment(&demo);
    let name = segment.to_str().unwrap();
    let whole = demo.read(name);
    demo.write(name, &whole[..whole.len() - 20]);
    let kinds: Vec<String> = findings(&demo).into_iter().map(|(kind, _)| kind).collect();
    assert!(kinds.contains(&"journal-torn".to_owned()), "{kinds:?}");
    assert_eq!(demo.read(name).len(), whole.len() - 20, "reading cuts nothing");
    let run = demo.stepmark(&["doctor", "--repair"]);
    assert!(run.stdout.contains("fixed") && run.stdout.contains(".torn-"), "{run}");
    let kept = demo.tree().files_named(".torn-");
    let rest = demo.read(name);
    assert_eq!([rest, demo.read(kept[0].to_str().unwrap())].concat(), whole[..whole.len() - 20]);
    // What the torn line told is no history any more: the state is one that nothing explains, until it is
    // recorded.
    assert_eq!(findings(&demo), [("unexplained".to_owned(), PRD.to_owned())]);
    assert_eq!(demo.stepmark(&["complete", PRD, "6"]).code, 0);
    assert_eq!(findings(&demo), []);
}

#[test]
fn a_changed_line_is_damage() {
    let demo = Sandbox::demo();
    demo.stepmark(&["complete", PRD, "4"]);
    demo.stepmark(&["complete", PRD, "5"]);
    let segment = segment(&demo);
    let name = segment.to_str().unwrap();
    let text = String::from_utf8(demo.read(name)).unwrap();
    demo.write(name, text.replacen("complete 4", "complete 7", 1));
    let found = findings(&demo);
    assert!(found.iter().any(|(kind, path)| kind == "journal-damaged" && path == name), "{found:?}");
    assert_eq!(demo.stepmark(&["doctor", "--repair"]).code, 1, "that needs a person");
}

#[test]
fn edits_and_removals_by_other_means_are_found() {
    let demo = Sandbox::demo();
    demo.stepmark(&["complete", PRD, "4"]);
    let text = String::from_utf8(demo.read(PRD)).unwrap();
    demo.write(PRD, text.replace("# Requirements", "# The requirements"));
    assert_eq!(findings(&demo), [], "a body is no state");
    demo.write(PRD, text.replace("owner: Mira", "owner: Zoe"));
    assert_eq!(findings(&demo), [("unexplained".to_owned(), PRD.to_owned())]);
    demo.stepmark(&["checkpoint", PRD]);
    assert_eq!(findings(&demo), [], "now history knows");
    std::fs::remove_file(demo.place(PRD)).unwrap();
    assert_eq!(findings(&demo), [("gone".to_owned(), PRD.to_owned())]);
}

#[test]
fn kept_bytes_and_spoilt_checkpoints_are_found() {
    let demo = Sandbox::demo();
    demo.write("_bmad-output/.stepmark-kept-x.md", "theirs");
    demo.write(".stepmark/checkpoints/x/20261122T100000.000Z-00000000.json", "{");
    assert_snapshot!(demo.stepmark(&["doctor"]), @r"
    exit 1
    ── stdout
    .stepmark/checkpoints/x/20261122T100000.000Z-00000000.json: checkpoint: the checkpoint cannot be trusted: it is no checkpoint: EOF while parsing an object at line 1 column 1
      help: take it back from git, or remove it
    _bmad-output/.stepmark-kept-x.md: kept-bytes: bytes that another program wrote in the middle of a commit were kept here
      help: compare it with the file beside it, and remove it
    2 findings
    ");
}

#[test]
fn a_damaged_artifact_is_told_from_an_edited_one() {
    let demo = Sandbox::demo();
    demo.stepmark(&["complete", PRD, "4"]);
    let text = String::from_utf8(demo.read(PRD)).unwrap();
    demo.write(PRD, text.replace("owner: Mira", "owner: [Mira"));
    assert_eq!(findings(&demo), [("damaged".to_owned(), PRD.to_owned())]);
    let run = demo.stepmark(&["doctor"]);
    assert!(run.code == 1 && run.stdout.contains(&format!("stepmark resume {PRD}")), "{run}");
}
