//! `stepmark board` on a terminal.

use std::{fs, process::Command};

use crate::harness::{Sandbox, demo::PRD, terminal::Terminal};

/// What a terminal is told when it is given back.
const GIVEN_BACK: &str = "\u{1b}[?1049l";

#[test]
fn without_a_terminal_it_says_what_to_do() {
    let demo = Sandbox::demo();
    for arguments in [&["board"][..], &["board", "--json"]] {
        let run = demo.reads_only(arguments);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""));
        assert!(run.stderr.contains("stepmark status"), "{run}");
    }
}

#[test]
fn it_shows_follows_and_gives_the_terminal_back() {
    let Some(terminal) = Terminal::find() else { return };
    let demo = Sandbox::demo();
    let mut board = terminal.start(&demo, &["board"], &[("NO_COLOR", "1")]);
    board.wait_for("of 7 done");
    board.wait_for("in-progress 1");
    board.type_keys("v/prd.md");
    board.wait_for("1 of 7, by path");
    board.wait_for("create-prd");
    board.wait_for("step-04-journeys");
    assert_eq!(demo.stepmark(&["complete", PRD, "step-04-journeys"]).code, 0);
    board.wait_for("6/14");
    board.type_keys("\r?");
    board.wait_for("Keys");
    board.type_keys("?q");
    let (code, shown) = board.end();
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains(GIVEN_BACK), "{shown:?}");
    assert!(!shown.contains("\u{1b}[38;"), "no colours are wanted: {shown:?}");
}

#[test]
fn told_to_end_it_gives_the_terminal_back() {
    let Some(terminal) = Terminal::find() else { return };
    let demo = Sandbox::demo();
    let mut board = terminal.start(&demo, &["board"], &[]);
    board.wait_for("of 7 done");
    let id = fs::read_to_string(board.process_id_file()).unwrap();
    assert!(Command::new("/bin/kill").args(["-TERM", id.trim()]).status().unwrap().success());
    let (code, shown) = board.end();
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains(GIVEN_BACK), "{shown:?}");
}
