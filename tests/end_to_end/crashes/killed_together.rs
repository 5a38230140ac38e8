//! `kill -9` while a story and its ledger are changed in one commit: each file is old or new, and after the
//! next run both agree.
#![cfg(unix)]

use std::{
    os::unix::process::CommandExt,
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use crate::harness::{
    Sandbox,
    sprint::{LEDGER, ledger, path, story},
};

const KILLS: u32 = 60;

/// The two states, and what each file says in them.
const WORDS: [&str; 2] = ["in-progress", "review"];

/// In which state a file is; anything else is torn.
fn state(sandbox: &Sandbox, file: &str, states: &[Vec<u8>; 2]) -> usize {
    let bytes = sandbox.read(file);
    states
        .iter()
        .position(|state| *state == bytes)
        .unwrap_or_else(|| panic!("{file} is torn: {} bytes", bytes.len()))
}

#[test]
fn a_kill_never_leaves_the_two_apart_for_good() {
    let sandbox = Sandbox::empty();
    let story_path = path("1-1-a");
    let filler = "As a neighbour, I want to see whose drill is free.\n".repeat(4000);
    let text = |word: &str| story("1-1-a", Some(word), Some(word)) + &filler;
    let listed = |word: &str| {
        let comments = "# A comment of a sprint.\n".repeat(2000);
        comments + &ledger(&[("epic-1", "in-progress"), ("1-1-a", word)])
    };
    let stories = WORDS.map(|word| text(word).into_bytes());
    let ledgers = WORDS.map(|word| listed(word).into_bytes());
    sandbox.write(&story_path, &stories[0]);
    sandbox.write(LEDGER, &ledgers[0]);
    let started = Instant::now();
    let run = sandbox.stepmark(&["transition", &story_path, WORDS[1]]);
    let duration = started.elapsed();
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run}");
    let (mut killed, mut apart) = (0, 0);
    for kill in 0..KILLS {
        let target = WORDS[1 - state(&sandbox, &story_path, &stories)];
        let mut command = sandbox.command(&["transition", &story_path, target]);
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        thread::sleep(duration.mul_f64(f64::from(kill) / f64::from(KILLS)) + Duration::from_micros(200));
        child.kill().unwrap();
        killed += u32::from(child.wait().unwrap().code().is_none());
        let (own, copy) = (state(&sandbox, &story_path, &stories), state(&sandbox, LEDGER, &ledgers));
        apart += u32::from(own != copy);
        // Any command that writes finishes what was cut off.
        let next = sandbox.stepmark(&["set", &story_path, "note=x"]);
        assert_eq!(next.code, 0, "{next}");
        let back = sandbox.stepmark(&["undo", &last_event(&sandbox, &story_path)]);
        assert_eq!(back.code, 0, "{back}");
        let (own, copy) = (state(&sandbox, &story_path, &stories), state(&sandbox, LEDGER, &ledgers));
        assert_eq!(own, copy, "after kill {kill} they disagree");
    }
    println!("{KILLS} kills: {killed} hit, {apart} between the two files");
    assert!(killed > KILLS / 4, "{killed}");
    assert_eq!(sandbox.stepmark(&["replay", "--verify"]).code, 0);
}

fn last_event(sandbox: &Sandbox, story: &str) -> String {
    let log = sandbox.stepmark(&["log", story, "--json"]).json("stepmark.log/1");
    log["events"][0]["id"].as_str().unwrap().to_owned()
}
