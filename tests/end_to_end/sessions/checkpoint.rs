//! `stepmark checkpoint` and `stepmark restore`

use insta::assert_snapshot;

use crate::harness::{
    Run, Sandbox, changed_lines,
    demo::{EPICS, PRD, RESEARCH},
};

const FOLDER: &str = ".stepmark/checkpoints/_bmad-output-planning-artifacts-prd.md-bbfe1a7f";

fn at(sandbox: &Sandbox, time: &str, arguments: &[&str]) -> Run {
    let mut command = sandbox.command(arguments);
    command.env("STEPMARK_TEST_TIME", format!("2026-11-22T{time}Z"));
    sandbox.run(&mut command)
}

/// Makes a checkpoint of the PRD and returns its path.
fn checkpoint(sandbox: &Sandbox, time: &str) -> String {
    let made = at(sandbox, time, &["checkpoint", PRD, "--json"]).json("stepmark.checkpoint-made/1");
    made["checkpoint"].as_str().unwrap().to_owned()
}

#[test]
fn keeps_the_frontmatter_and_seals_the_journal() {
    let demo = Sandbox::demo();
    assert_snapshot!(at(&demo, "10:00:00", &["checkpoint", PRD, "-m", "before lunch"]), @r"
    exit 0
    ── stdout
    _bmad-output/planning-artifacts/prd.md: checkpoint (before lunch) .stepmark/checkpoints/_bmad-output-planning-artifacts-prd.md-bbfe1a7f/20261122T100000.000Z-e00879cf.json
    ");
    let segments = demo.tree().files_named("main-");
    assert_eq!(segments.len(), 2, "{segments:?}");
    assert!(segments[0].starts_with(".stepmark/journal"), "history reaches git");
    assert!(segments[1].starts_with(".stepmark/local/sealed"), "and this clone keeps a copy");
    let again = at(&demo, "10:00:00", &["checkpoint", PRD]);
    assert_eq!(again.code, 1, "the same moment: {again}");
    demo.stepmark(&["complete", PRD, "4"]);
    let second = checkpoint(&demo, "11:00:00");
    let list = demo.stepmark(&["checkpoint", "list", PRD, "--json"]).json("stepmark.checkpoint-list/1");
    let all = list["checkpoints"].as_array().unwrap();
    assert_eq!((all.len(), all[0]["checkpoint"].as_str()), (2, Some(second.as_str())), "the newest first");
    assert_eq!(all[1]["message"], "before lunch");
    assert_eq!(demo.stepmark(&["doctor"]).code, 0);
}

#[test]
fn what_has_no_state_gets_none() {
    let demo = Sandbox::demo();
    for artifact in [RESEARCH, EPICS, "none.md"] {
        let run = demo.reads_only(&["checkpoint", artifact]);
        assert_ne!(run.code, 0, "{run}");
        assert!(run.stderr.contains(artifact), "{run}");
    }
}

#[test]
fn restores_to_the_byte_and_keeps_the_body() {
    let demo = Sandbox::demo();
    let before = demo.read(PRD);
    let place = checkpoint(&demo, "10:00:00");
    demo.stepmark(&["complete", PRD, "4", "5"]);
    demo.stepmark(&["set", PRD, "owner=Zoe"]);
    let mut changed = demo.read(PRD);
    changed.extend(b"\nMore text.\n");
    demo.write(PRD, &changed);
    let run = at(&demo, "12:00:00", &["restore", PRD, "--from", &place, "-m", "wrong way"]);
    assert_snapshot!(run, @r"
    exit 0
    ── stdout
    _bmad-output/planning-artifacts/prd.md: restored to its state of 2026-11-22T10:00:00Z, 5/14, next: step-04-journeys
    ");
    assert_snapshot!(changed_lines(&before, &demo.read(PRD)), @r"
    +
    +More text.
    ");
    let again = at(&demo, "12:00:01", &["restore", PRD, "--from", &place]);
    assert!(again.code == 0 && again.stdout.contains("nothing to write"), "{again}");
    let resumed = demo.stepmark(&["resume", PRD, "--tier", "3", "--json"]).json("stepmark.resume/2");
    let journal =
        resumed["sources"].as_array().unwrap().iter().find(|one| one["source"] == "journal").unwrap();
    assert!(journal["finding"].as_str().unwrap().starts_with("5/14"), "history says so: {journal}");
}

#[test]
fn a_damaged_file_is_kept_before_it_is_fixed() {
    let good = Sandbox::demo().read(PRD);
    let text = String::from_utf8(good.clone()).unwrap();
    let body_start = text.find("\n---\n").unwrap() + 5;
    let unclosed = format!("{}{}", &text[..body_start - 4], &text[body_start..]);
    for (damaged, warns) in [
        (unclosed, true),
        (text.replace("owner: Mira", "owner: [Mira"), false),
        (format!("# Oops\n{}", &text[body_start..]), true),
    ] {
        let demo = Sandbox::demo();
        let place = checkpoint(&demo, "10:00:00");
        demo.write(PRD, &damaged);
        let run = at(&demo, "11:00:00", &["restore", PRD, "--from", &place]);
        assert_eq!((run.code, run.stderr.contains("fence")), (0, warns), "{run}");
        let restored = demo.read(PRD);
        assert!(restored.starts_with(&good[..body_start]), "{}", String::from_utf8_lossy(&restored));
        assert!(restored.ends_with(&good[body_start..]), "the body is there");
        let kept = demo.tree().files_named("20261122T110000");
        if !damaged.starts_with('#') {
            assert_eq!(restored, good);
            assert_eq!(demo.read(kept[0].to_str().unwrap()), damaged.as_bytes());
            assert!(kept[0].starts_with(FOLDER));
        }
    }
}

#[test]
fn only_a_proven_checkpoint_of_the_same_artifact_is_put_back() {
    let demo = Sandbox::demo();
    let place = checkpoint(&demo, "10:00:00");
    let text = String::from_utf8(demo.read(&place)).unwrap();
    let other = demo.stepmark(&["restore", crate::harness::demo::ARCHITECTURE, "--from", &place]);
    assert_eq!(other.code, 1, "{other}");
    demo.write(&place, text.replace("step-03-success", "step-03-excess"));
    let before = demo.read(PRD);
    let run = demo.stepmark(&["restore", PRD, "--from", &place]);
    assert_eq!((run.code, demo.read(PRD)), (1, before), "{run}");
    assert!(run.stderr.contains("changed since it was written"), "{run}");
    assert_eq!(demo.stepmark(&["checkpoint", "list", PRD]).code, 1);
    let doctor = demo.stepmark(&["doctor", "--json"]).json("stepmark.doctor/2");
    assert_eq!(doctor["findings"][0]["kind"], "checkpoint");
    assert_eq!(demo.stepmark(&["restore", PRD, "--from", "none.json"]).code, 2);
}

#[test]
fn milestones_make_checkpoints_by_themselves() {
    for (configuration, steps, expected) in [
        ("milestones: [step-04-journeys]\n", &["4"][..], Some("milestone step-04-journeys")),
        ("milestones: [step-04-journeys]\n", &["5"], None),
        ("milestones: [finished]\n", &["step-12-complete"], Some("milestone finished")),
        ("checkpoints: {every: 3}\n", &["4"], Some("6 steps are done")),
        ("checkpoints: {every: 4}\n", &["4"], None),
        ("", &["4"], None),
    ] {
        let demo = Sandbox::demo();
        demo.write(".stepmark/config.yaml", configuration);
        let run = demo.stepmark(&[&["complete", PRD], steps].concat());
        assert_eq!((run.code, run.stdout.contains("checkpoint (")), (0, expected.is_some()), "{run}");
        let list = demo.stepmark(&["checkpoint", "list", PRD, "--json"]).json("stepmark.checkpoint-list/1");
        assert_eq!(list["checkpoints"][0]["message"].as_str(), expected, "{configuration}");
        let again = demo.stepmark(&[&["complete", PRD], steps].concat());
        assert!(!again.stdout.contains("checkpoint ("), "nothing was completed: {again}");
    }
}

#[test]
fn restore_lists_the_checkpoints_and_knows_the_latest() {
    let demo = Sandbox::demo();
    let none = demo.reads_only(&["restore", PRD, "--from", "latest"]);
    assert!(none.code == 2 && none.stderr.contains("has no checkpoint"), "{none}");
    assert_eq!(demo.stepmark(&["checkpoint", PRD, "-m", "before"]).code, 0);
    let listed = demo.stepmark(&["restore", PRD]);
    assert!(
        listed.code == 0 && listed.stdout.contains("before") && listed.stdout.contains("`--from latest`"),
        "{listed}"
    );
    let text = demo.read(PRD);
    assert_eq!(demo.stepmark(&["complete", PRD, "4"]).code, 0);
    assert_eq!(demo.stepmark(&["restore", PRD, "--from", "latest"]).code, 0);
    assert_eq!(demo.read(PRD), text);
}
