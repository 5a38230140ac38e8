//! Many processes that change one artifact at once: every change is there.

use std::{
    collections::BTreeSet,
    process::{Child, Stdio},
};

use crate::harness::{
    Sandbox,
    demo::PRD,
    sprint::{LEDGER, ledger, path, story},
};

/// How many processes write at once.
const WRITERS: usize = 92;

/// Starts all commands before it waits for the first one; every one must end well.
fn run_at_once(sandbox: &Sandbox, commands: &[Vec<String>]) -> Vec<String> {
    let children: Vec<Child> = commands
        .iter()
        .map(|arguments| {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let mut command = sandbox.command(&arguments);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let answer = |(child, arguments): (Child, &Vec<String>)| {
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {:?} {stderr}", output.status);
        String::from_utf8(output.stdout).unwrap()
    };
    children.into_iter().zip(commands).map(answer).collect()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn shown(sandbox: &Sandbox, path: &str) -> serde_json::Value {
    sandbox.reads_only(&["show", path, "--json"]).json("stepmark.show/2")
}

#[test]
fn every_append_is_there() {
    let empty = Sandbox::empty();
    let steps: Vec<String> = (1..=WRITERS).map(|number| format!("step-{number:02}-part")).collect();
    empty.write(
        ".stepmark/config.yaml",
        format!("workflows: [{{name: parts, artifacts: ['docs/*'], steps: [{}]}}]\n", steps.join(", ")),
    );
    empty.write(
        "docs/parts.md",
        "---\n# kept\nstepsCompleted: [] # in any order\nlastStep: ''\n---\n# Parts\n",
    );
    let commands: Vec<_> =
        steps.iter().map(|step| words(&["complete", "docs/parts.md", step, "--json"])).collect();
    let answers = run_at_once(&empty, &commands);

    let shown = shown(&empty, "docs/parts.md");
    let listed = shown["frontmatter"]["stepsCompleted"].as_array().unwrap();
    let listed: Vec<&str> = listed.iter().map(|step| step.as_str().unwrap()).collect();
    assert_eq!(listed.len(), WRITERS, "{shown}");
    assert_eq!(listed.iter().copied().collect::<BTreeSet<_>>(), steps.iter().map(String::as_str).collect());
    assert_eq!(shown["frontmatter"]["lastStep"], *listed.last().unwrap(), "the last writer names its step");
    let hashes: BTreeSet<String> = answers
        .iter()
        .map(|answer| {
            let answer: serde_json::Value = serde_json::from_str(answer).unwrap();
            assert_eq!(answer["changed"], true);
            answer["file_hash"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(hashes.len(), WRITERS, "each wrote a state of its own");
    assert!(hashes.contains(shown["file_hash"].as_str().unwrap()), "and the last of them stands");
    assert_eq!(empty.tree().files_named(".stepmark-").len(), 0, "nothing is left beside it");
}

#[test]
fn writers_of_different_kinds_do_not_lose_each_other() {
    let demo = Sandbox::demo();
    let commands: Vec<_> = (0..WRITERS / 4)
        .flat_map(|number| {
            let (step, value) = (format!("edit-{number}"), format!("key{number}={number}"));
            [
                words(&["complete", PRD, &step, "--force", "--reason", "ours"]),
                words(&["set", PRD, &value]),
                words(&["track", PRD]),
                words(&["reopen", PRD, "step-03-success"]),
            ]
        })
        .collect();
    run_at_once(&demo, &commands);
    let shown = shown(&demo, PRD);
    let frontmatter = &shown["frontmatter"];
    let listed: BTreeSet<&str> =
        frontmatter["stepsCompleted"].as_array().unwrap().iter().map(|step| step.as_str().unwrap()).collect();
    for number in 0..WRITERS / 4 {
        assert!(listed.contains(format!("edit-{number}").as_str()), "{listed:?}");
        assert_eq!(frontmatter[format!("key{number}")], number);
    }
    assert_eq!(listed.len(), 4 + WRITERS / 4, "{listed:?}");
    assert!(!listed.contains("step-03-success"));
}

#[test]
fn one_of_many_makes_the_configuration() {
    let empty = Sandbox::empty();
    let answers = run_at_once(&empty, &vec![words(&["init", "--json", "--root", "."]); 24]);
    let created = answers.iter().filter(|answer| answer.contains("\"created\":true")).count();
    assert_eq!(created, 1, "{answers:?}");
    assert_eq!(empty.stepmark(&["status", "-q"]).to_string(), "exit 0\n");
}

/// Agents that move the stories of one sprint share its ledger: nobody's entry is lost, and nobody waits in
/// vain.
#[test]
fn every_story_of_a_sprint_reaches_the_ledger() {
    let sandbox = Sandbox::empty();
    let names: Vec<String> = (1..=24).map(|number| format!("1-{number}-part")).collect();
    let mut entries = vec![("epic-1", "in-progress")];
    for name in &names {
        sandbox.write(&path(name), story(name, Some("in-progress"), Some("in-progress")));
        entries.push((name, "in-progress # kept"));
    }
    sandbox.write(LEDGER, ledger(&entries));
    let mut commands: Vec<Vec<String>> =
        names.iter().map(|name| words(&["transition", &path(name), "review"])).collect();
    for at in [5, 11, 17] {
        commands.insert(at, words(&["project", "--ledgers"]));
    }
    run_at_once(&sandbox, &commands);
    let entries: Vec<(&str, &str)> = entries
        .iter()
        .map(|(key, word)| (*key, if word.ends_with("kept") { "review # kept" } else { *word }))
        .collect();
    assert_eq!(String::from_utf8(sandbox.read(LEDGER)).unwrap(), ledger(&entries));
    for name in &names {
        let expected = story(name, Some("review"), Some("review"));
        assert_eq!(String::from_utf8(sandbox.read(&path(name))).unwrap(), expected);
    }
    assert_eq!(sandbox.reads_only(&["project", "--ledgers"]).code, 0);
    assert_eq!(sandbox.stepmark(&["replay", "--verify"]).code, 0);
}
