//! `stepmark log replay --verify` and `stepmark log journal`.

use std::fs;

use serde_json::Value as Json;

use crate::{
    harness::{
        Repository, Sandbox,
        demo::{ARCHITECTURE, PRD},
        tool,
    },
    viewing::log::work,
};

fn worked() -> Sandbox {
    let demo = Sandbox::demo();
    work(&demo, "s-1", "2026-11-22T10:00:00Z", &["complete", PRD, "4"]);
    work(&demo, "s-1", "2026-11-22T10:01:00Z", &["complete", ARCHITECTURE, "6"]);
    demo
}

fn standings(demo: &Sandbox, arguments: &[&str]) -> (i32, Vec<(String, String)>) {
    let run = demo.stepmark(&[&["replay", "--verify", "--json"], arguments].concat());
    let answer = run.json("stepmark.replay/2");
    let text = |value: &Json| value.as_str().unwrap().to_owned();
    let artifacts = answer["artifacts"].as_array().unwrap().iter();
    (run.code, artifacts.map(|one| (text(&one["path"]), text(&one["state"]))).collect())
}

fn state(demo: &Sandbox, path: &str) -> (i32, String) {
    let (code, all) = standings(demo, &[path]);
    (code, all[0].1.clone())
}

/// The file of the one live segment.
fn segment(demo: &Sandbox) -> String {
    let mut entries = fs::read_dir(demo.place(".stepmark/local/journal")).unwrap();
    let name = entries.next().unwrap().unwrap().file_name();
    format!(".stepmark/local/journal/{}", name.to_str().unwrap())
}

#[test]
fn every_artifact_has_its_standing() {
    let demo = worked();
    let (code, all) = standings(&demo, &[]);
    assert_eq!(code, 0, "{all:?}");
    for (path, state) in &all {
        let wanted = if [PRD, ARCHITECTURE].contains(&path.as_str()) { "current" } else { "no-history" };
        assert_eq!(state, wanted, "{path}");
    }
    assert_eq!(standings(&demo, &["--strict"]).0, 1);
    let before = demo.read(PRD);
    demo.write(PRD, String::from_utf8(before.clone()).unwrap().replace("status: draft", "status: done"));
    assert_eq!(state(&demo, PRD), (1, "unexplained".to_owned()));
    assert_eq!(state(&demo, ARCHITECTURE), (0, "current".to_owned()));
    demo.write(PRD, String::from_utf8(before.clone()).unwrap().replace("\n  - 'step-04-journeys'", ""));
    assert_eq!(
        state(&demo, PRD),
        (1, "unexplained".to_owned()),
        "an older state, and no git that brought it"
    );
    demo.write(PRD, [&before[..], b"\nMore text.\n"].concat());
    assert_eq!(state(&demo, PRD), (0, "current".to_owned()), "the body is no state");
    fs::remove_file(demo.place(PRD)).unwrap();
    let gone = demo.stepmark(&["replay", "--verify"]);
    assert_eq!(gone.code, 1, "{gone}");
    assert!(gone.stdout.contains("    there is no such file any more\n"), "{gone}");
}

#[test]
fn a_frontmatter_that_cannot_be_read_is_unexplained() {
    let demo = worked();
    demo.write(PRD, "---\nstepsCompleted: [1\n---\n");
    let run = demo.stepmark(&["replay", "--verify", PRD]);
    assert_eq!(run.code, 1, "{run}");
    assert!(run.stdout.contains("it cannot be read now"), "{run}");
}

#[test]
fn damage_ends_with_4_and_names_the_line() {
    let demo = worked();
    let file = segment(&demo);
    let whole = demo.read(&file);
    let forged =
        String::from_utf8(whole.clone()).unwrap().replacen("step-04-journeys", "step-04-jOurneys", 1);
    demo.write(&file, forged);
    let run = demo.stepmark(&["replay", "--verify"]);
    assert_eq!(run.code, 4, "{run}");
    assert!(run.stderr.contains(&format!("{file}:")), "{run}");
    let log = demo.stepmark(&["log"]);
    assert_eq!(log.code, 0, "{log}");
    demo.write(&file, [&whole[..], b"{\"prev\":\"12"].concat());
    let torn = demo.stepmark(&["replay", "--verify"]);
    assert_eq!(torn.code, 0, "a line that was never acknowledged is no damage: {torn}");
    assert!(torn.stderr.contains("the last line is torn"), "{torn}");
    demo.write(&file, whole);
    assert_eq!(demo.stepmark(&["replay", "--verify"]).stderr, "");
}

#[test]
fn the_index_may_be_deleted_at_any_time() {
    let demo = worked();
    let before = demo.stepmark(&["log", "--json"]).stdout;
    fs::remove_dir_all(demo.place(".stepmark/local/cache")).unwrap();
    assert_eq!(demo.stepmark(&["log", "--json"]).stdout, before);
    fs::write(demo.place(".stepmark/local/cache/journal.db"), "not a database at all").unwrap();
    assert_eq!(demo.stepmark(&["log", "--json"]).stdout, before);
}

#[test]
fn compacting_changes_no_answer() {
    let demo = worked();
    let log = demo.stepmark(&["log", "--json"]).stdout;
    assert_eq!(
        demo.stepmark(&["journal", "compact"]).stdout,
        "0 segments compacted, 0 files of 0 bytes → 0 files of 0 bytes\n"
    );
    let live = segment(&demo);
    let sealed = live.replace("/local", "");
    fs::create_dir_all(demo.place(".stepmark/journal")).unwrap();
    fs::rename(demo.place(&live), demo.place(&sealed)).unwrap();
    let status = demo.stepmark(&["journal", "status", "--json"]).json("stepmark.journal-status/1");
    assert_eq!(
        (&status["segments"]["live"]["count"], &status["segments"]["sealed"]["count"]),
        (&0.into(), &1.into())
    );
    let answer = demo.stepmark(&["journal", "compact", "--json"]).json("stepmark.journal-compact/1");
    assert_eq!(answer["segments"].as_array().map(Vec::len), Some(1));
    assert_eq!((&answer["files_before"], &answer["files_after"]), (&1.into(), &1.into()));
    assert!(!demo.place(&sealed).exists());
    assert_eq!(demo.stepmark(&["log", "--json"]).stdout, log);
    assert_eq!(state(&demo, PRD), (0, "current".to_owned()));
    let status = demo.stepmark(&["journal", "status"]);
    assert!(status.stdout.starts_with("joined      1 segment, "), "{status}");
    // Work goes on in a new live segment.
    work(&demo, "s-1", "2026-11-22T11:00:00Z", &["complete", PRD, "5"]);
    assert_eq!(state(&demo, PRD), (0, "current".to_owned()));
}

#[cfg(unix)]
#[test]
fn one_process_of_git_tells_what_is_checked_out_however_many_artifacts_there_are() {
    use std::os::unix::fs::PermissionsExt;

    let (Some(repository), Some(git)) = (Repository::empty("counting"), tool("git", "counting")) else {
        return;
    };
    let sandbox = &repository.sandbox;
    sandbox.write(".stepmark/config.yaml", "# A project.\n");
    let artifacts: Vec<String> = (0..12).map(|number| format!("docs/{number}.md")).collect();
    artifacts.iter().for_each(|path| sandbox.write(path, "---\nstepsCompleted: [1]\n---\n"));
    repository.commit("begun");
    sandbox.write("docs/gone.md", "---\nstepsCompleted: [1]\n---\n");
    for path in artifacts.iter().map(String::as_str).chain(["docs/gone.md"]) {
        assert_eq!(repository.stepmark(&["complete", path, "2"]).code, 0);
    }
    repository.git(&["checkout", "--quiet", "."]);
    fs::remove_file(sandbox.place("docs/gone.md")).unwrap();
    let (folder, log) = (sandbox.outside(), sandbox.outside().join("log"));
    let counting = folder.join("git");
    fs::write(
        &counting,
        format!("#!/bin/sh\necho \"$*\" >>'{}'\nexec '{}' \"$@\"\n", log.display(), git.display()),
    )
    .unwrap();
    fs::set_permissions(&counting, fs::Permissions::from_mode(0o755)).unwrap();
    for arguments in [&["replay", "--verify", "--json"][..], &["doctor"]] {
        let run = sandbox.run(repository.command(arguments).env("PATH", &folder));
        assert_eq!(run.code, 0, "{run}");
        if arguments[0] == "replay" {
            let answer = run.json("stepmark.replay/2");
            let artifacts = answer["artifacts"].as_array().unwrap();
            assert_eq!(artifacts.iter().filter(|one| one["state"] == "earlier").count(), 13, "{run}");
        }
        let started = fs::read_to_string(&log).unwrap();
        assert_eq!(started.lines().filter(|line| line.contains("cat-file")).count(), 1, "{started}");
        assert!(started.lines().count() <= 3, "{started}");
        fs::remove_file(&log).unwrap();
    }
}
