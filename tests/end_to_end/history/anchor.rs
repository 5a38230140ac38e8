//! Sealed segments that name those before them.

use std::{collections::BTreeSet, fs};

use serde_json::Value as Json;
use stepmark_model::journal::Event;

use crate::harness::{
    Repository, Run, Sandbox,
    segment::{Forger, named_by},
    tool,
};

const PRD: &str = "docs/prd.md";
const JOURNAL: &str = ".stepmark/journal";

/// A repository whose hooks keep history.
fn repository(test: &str) -> Option<Repository> {
    let repository = Repository::empty(test)?;
    repository.sandbox.write(".stepmark/config.yaml", "# A project.\n");
    for artifact in [PRD, "docs/ours.md", "docs/theirs.md"] {
        repository.sandbox.write(artifact, "---\nstepsCompleted: [1]\nstatus: draft\n---\n\n# Title\n");
    }
    repository.commit("begun");
    assert_eq!(repository.stepmark(&["hook", "install"]).code, 0);
    Some(repository)
}

/// Completes a step at `time`, seals history and commits; returns the name of the new segment.
fn work(repository: &Repository, artifact: &str, step: &str, time: &str) -> String {
    let before = segments(&repository.sandbox);
    for arguments in [["complete", artifact, step].as_slice(), &["checkpoint", artifact]] {
        let mut command = repository.command(arguments);
        let run = repository.sandbox.run(command.env("STEPMARK_TEST_TIME", format!("2026-11-22T{time}Z")));
        assert_eq!(run.code, 0, "{run}");
    }
    commit(repository, &["-m", &format!("{artifact} {step}")]);
    let mut new = segments(&repository.sandbox).difference(&before).cloned().collect::<Vec<_>>();
    assert_eq!(new.len(), 1);
    new.remove(0)
}

fn commit(repository: &Repository, arguments: &[&str]) {
    repository.git(&["add", "--all"]);
    git(repository, &[&["commit", "--quiet"], arguments].concat());
}

/// Runs git, whose hooks find stepmark.
fn git(repository: &Repository, arguments: &[&str]) -> Run {
    let run = repository.try_git_with_stepmark(arguments);
    assert_eq!(run.code, 0, "git {arguments:?}: {run}");
    run
}

/// The sealed segments among the files of the project.
fn segments(sandbox: &Sandbox) -> BTreeSet<String> {
    let Ok(entries) = fs::read_dir(sandbox.place(JOURNAL)) else { return BTreeSet::new() };
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.map(|name| name.split(".jsonl").next().unwrap().to_owned()).collect()
}

fn file(segment: &str) -> String {
    format!("{JOURNAL}/{segment}.jsonl")
}

/// A clone, which has no copies of its own.
fn clone(repository: &Repository) -> Sandbox {
    let clone = Sandbox::empty();
    repository.git(&["clone", "--quiet", ".", clone.root().to_str().unwrap()]);
    clone
}

/// What `replay --verify` and `doctor` find in history: exit codes, and problem and file.
fn findings(sandbox: &Sandbox) -> ((i32, i32), Vec<(String, String)>) {
    let path = tool("git", "findings").unwrap().parent().unwrap().to_owned();
    let run = |arguments: &[&str]| sandbox.run(sandbox.command(arguments).env("PATH", &path));
    let replay = run(&["replay", "--verify", "--json"]);
    let doctor = run(&["doctor", "--json"]);
    let answer = replay.json("stepmark.replay/2");
    let text = |value: &Json| value.as_str().unwrap().to_owned();
    let problems: Vec<_> = answer["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|problem| (text(&problem["problem"]), text(&problem["file"])))
        .collect();
    let diagnosis = doctor.json("stepmark.doctor/2");
    let paths: Vec<String> =
        diagnosis["findings"].as_array().unwrap().iter().map(|finding| text(&finding["path"])).collect();
    assert_eq!(paths, problems.iter().map(|(_, file)| file.clone()).collect::<Vec<_>>(), "{replay}{doctor}");
    ((replay.code, doctor.code), problems)
}

fn assert_sound(repository: &Repository, case: &str) {
    assert_eq!(findings(&repository.sandbox), ((0, 0), Vec::new()), "{case}");
    assert_eq!(findings(&clone(repository)), ((0, 0), Vec::new()), "a clone: {case}");
}

fn blame(event: &mut Event) {
    event.reason = Some("somebody else did it".to_owned());
}

#[test]
fn a_segment_that_is_written_anew_shows_against_the_next() {
    let Some(repository) = repository("a rewritten segment") else { return };
    let one = work(&repository, PRD, "2", "10:00:00");
    let two = work(&repository, PRD, "3", "11:00:00");
    let three = work(&repository, PRD, "4", "12:00:00");
    assert_eq!(named_by(&repository.sandbox.read(&file(&one))), [""; 0]);
    assert_eq!(named_by(&repository.sandbox.read(&file(&two))), [one.as_str()]);
    assert_eq!(named_by(&repository.sandbox.read(&file(&three))), [two.as_str()], "which names the first");
    assert_sound(&repository, "as it is");
    // Without git, so that only the segments speak.
    let copy = clone(&repository);
    fs::remove_dir_all(copy.place(".git")).unwrap();
    assert_eq!(findings(&copy), ((0, 0), Vec::new()));
    let mut forger = Forger::default();
    copy.write(&file(&one), forger.forge(&copy.read(&file(&one)), blame));
    let (codes, found) = findings(&copy);
    assert!(codes == (4, 1) && found.contains(&("rewritten".to_owned(), file(&one))), "{codes:?} {found:?}");
    // The segments behind it are forged as well, so that each hash and each name is right.
    for segment in [&two, &three] {
        copy.write(&file(segment), forger.forge(&copy.read(&file(segment)), blame));
    }
    assert_eq!(findings(&copy), ((0, 0), Vec::new()), "nothing is left that knows better");
}

#[test]
fn a_segment_that_is_removed_shows() {
    let Some(repository) = repository("a removed segment") else { return };
    let one = work(&repository, PRD, "2", "10:00:00");
    let two = work(&repository, "docs/ours.md", "2", "11:00:00");
    let clone = clone(&repository);
    fs::remove_file(clone.place(&file(&one))).unwrap();
    let wanted = vec![("missing-segment".to_owned(), file(&one))];
    assert_eq!(findings(&clone), ((1, 1), wanted), "{two} names it");
    fs::remove_file(repository.sandbox.place(&file(&one))).unwrap();
    assert_eq!(findings(&repository.sandbox), ((0, 0), Vec::new()), "this clone has its copy");
}

#[test]
fn branches_that_are_merged_rebased_picked_and_amended_raise_no_alarm() {
    let Some(repository) = repository("branches") else { return };
    let base = work(&repository, PRD, "2", "10:00:00");
    git(&repository, &["switch", "--quiet", "-c", "theirs"]);
    let theirs = work(&repository, "docs/theirs.md", "2", "11:00:00");
    repository.sandbox.write("readme.txt", "no history");
    commit(&repository, &["-m", "a file"]);
    git(&repository, &["switch", "--quiet", "main"]);
    let ours = work(&repository, "docs/ours.md", "2", "12:00:00");
    assert_eq!(
        named_by(&repository.sandbox.read(&file(&ours))),
        [base.as_str()],
        "not what another branch has"
    );
    let main = repository.git(&["rev-parse", "HEAD"]);

    git(&repository, &["merge", "--quiet", "--no-edit", "theirs"]);
    let both = BTreeSet::from([ours.clone(), theirs.clone()]);
    assert_sound(&repository, "merged");
    for amended in [&["--no-edit"][..], &["-m", "another message"], &["--no-edit", "--reset-author"]] {
        commit(&repository, &[&["--amend"], amended].concat());
        assert_sound(&repository, "amended");
    }
    let next = work(&repository, PRD, "3", "13:00:00");
    assert_eq!(named_by(&repository.sandbox.read(&file(&next))).into_iter().collect::<BTreeSet<_>>(), both);

    git(&repository, &["switch", "--quiet", "-C", "rebased", "theirs"]);
    git(&repository, &["rebase", "--quiet", &main]);
    assert_sound(&repository, "rebased");
    git(&repository, &["reset", "--quiet", "--hard", &main]);
    git(&repository, &["cherry-pick", "theirs"]);
    assert_sound(&repository, "a commit that speaks of a segment which is elsewhere");
    git(&repository, &["reset", "--quiet", "--hard", &main]);
    git(&repository, &["merge", "--quiet", "--squash", "theirs"]);
    commit(&repository, &["--no-edit"]);
    assert_sound(&repository, "squashed");
    git(&repository, &["switch", "--quiet", "--detach", &base_commit(&repository)]);
    assert_sound(&repository, "an older commit");
}

fn base_commit(repository: &Repository) -> String {
    repository.git(&["merge-base", "main", "theirs"])
}

#[test]
fn compacting_keeps_what_is_named() {
    let Some(repository) = repository("compacting") else { return };
    let one = work(&repository, PRD, "2", "10:00:00");
    work(&repository, PRD, "3", "11:00:00");
    assert_eq!(repository.stepmark(&["journal", "compact"]).code, 0);
    commit(&repository, &["-m", "compact"]);
    assert!(!repository.sandbox.place(&file(&one)).exists());
    let last = work(&repository, PRD, "4", "12:00:00");
    assert_eq!(named_by(&repository.sandbox.read(&file(&last))).len(), 1);
    assert_sound(&repository, "compacted");
    let clone = clone(&repository);
    let joined = fs::read_dir(clone.place(".stepmark/journal")).unwrap().map(|entry| entry.unwrap().path());
    let joined: Vec<_> = joined.filter(|path| path.to_str().unwrap().ends_with(".joined.jsonl")).collect();
    assert_eq!(joined.len(), 1);
    fs::remove_file(&joined[0]).unwrap();
    assert_eq!(findings(&clone).1[0].0, "missing-parent");
}
