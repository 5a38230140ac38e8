//! The README does what it says: commands run, transcripts show what the program prints, names exist.
//!
//! * ` ```sh ` — every line is run in a copy of the checkout and ends with 0. `cargo run … -- ARGUMENTS` is
//!   run as the built program. Other `cargo` lines build or test, so they are not run from inside a test:
//!   `.ci/run` must hold them.
//! * ` ```console ` — lines after `$ ` are run one after the other in a copy of `fixtures/repos/demo`, and
//!   what follows is what they print.
//! * ` ```diff ` — what the transcripts have done to the PRD of that project.
//! * Any other word after the fence (` ```sh ignore `, ` ```text `): not run.

use std::fs;

use crate::{
    harness::{Run, Sandbox, changed_lines, demo::PRD},
    output::arguments::COMMANDS,
};

const README: &str = include_str!("../../../README.md");

/// The page of the book with all commands.
const COMMAND_PAGE: &str = include_str!("../../../docs/commands.md");

/// A fenced block.
#[derive(Debug, PartialEq, Eq)]
struct Block<'a> {
    /// What stands after the opening fence.
    kind: &'a str,
    /// The number of the opening fence's line, from 1.
    line: usize,
    text: String,
}

fn blocks(markdown: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut is_open = false;
    for (at, line) in markdown.lines().enumerate() {
        match (line.strip_prefix("```"), is_open) {
            (Some(kind), false) => {
                blocks.push(Block { kind: kind.trim(), line: at + 1, text: String::new() });
                is_open = true;
            }
            (Some(_), true) => is_open = false,
            (None, true) => blocks.last_mut().unwrap().text += &format!("{line}\n"),
            (None, false) => {}
        }
    }
    assert!(!is_open, "the last fence is never closed");
    blocks
}

fn blocks_of(kind: &str) -> Vec<Block<'static>> {
    blocks(README).into_iter().filter(|block| block.kind == kind).collect()
}

/// How a line of a ` ```sh ` block is tried.
#[derive(Debug, PartialEq, Eq)]
enum Trial<'a> {
    /// By running the program with these arguments.
    Run(Vec<&'a str>),
    /// By CI, which must run the line as it stands.
    Ci(&'a str),
}

/// `None` for a blank line or a comment.
fn trial(line: &str) -> Result<Option<Trial<'_>>, String> {
    let line = line.split(" #").next().unwrap_or_default().trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    if let Some(special) = line.find(['\'', '"', '$', '|', '>', '<', '&', ';', '*', '\\']) {
        return Err(format!(
            "`{line}`: this test knows no shell, so {:?} is more than it can do",
            &line[special..]
        ));
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        ["stepmark", arguments @ ..] => Ok(Some(Trial::Run(arguments.to_vec()))),
        ["cargo", "run", ..] => match words.iter().position(|word| *word == "--") {
            Some(end) => Ok(Some(Trial::Run(words[end + 1..].to_vec()))),
            None => Err(format!("`{line}` runs the program without `--`")),
        },
        ["cargo", ..] => Ok(Some(Trial::Ci(line))),
        _ => Err(format!("`{line}` is no command of this project: mark its block `sh ignore`")),
    }
}

/// A sandbox with those parts of the checkout that commands of a README may name.
fn checkout() -> Sandbox {
    let sandbox = Sandbox::empty();
    sandbox.add_copy("fixtures/repos", "fixtures/repos");
    sandbox.write("README.md", README);
    sandbox
}

#[test]
fn every_command_works() {
    let ci = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/.ci/run")).unwrap();
    let mut tried = 0;
    for block in blocks_of("sh") {
        let sandbox = checkout();
        for line in block.text.lines() {
            let place = format!("README.md:{}: {line}", block.line);
            match trial(line).unwrap_or_else(|reason| panic!("README.md:{}: {reason}", block.line)) {
                None => continue,
                Some(Trial::Run(arguments)) => {
                    let run = sandbox.stepmark(&arguments);
                    assert_eq!(run.code, 0, "{place}: {run}");
                }
                Some(Trial::Ci(line)) => {
                    assert!(ci.lines().any(|own| own.trim() == line), "{place}: `.ci/run` does not try it");
                }
            }
            tried += 1;
        }
    }
    assert!(tried >= 2, "one command runs the main job, one passes the tests");
}

#[test]
fn every_transcript_is_what_the_program_prints() {
    let demo = Sandbox::demo();
    let before = demo.read(PRD);
    for block in blocks_of("console") {
        for exchange in block.text.split("$ stepmark ").skip(1) {
            let (command, printed) = exchange.split_once('\n').unwrap();
            let arguments: Vec<&str> = command.split_whitespace().collect();
            let Run { stdout, stderr, .. } = demo.stepmark(&arguments);
            // Blank lines part the exchanges, and the last line of a report is one as well.
            assert_eq!(
                (stdout + &stderr).trim_end(),
                printed.trim_end(),
                "README.md:{}: {command}",
                block.line
            );
        }
    }
    for block in blocks_of("diff") {
        assert_eq!(changed_lines(&before, &demo.read(PRD)), block.text, "README.md:{}", block.line);
    }
}

#[test]
fn every_command_that_is_named_exists() {
    let named: Vec<&str> = README
        .split("`stepmark ")
        .skip(1)
        .filter_map(|rest| rest.split(|c: char| !c.is_ascii_alphabetic()).next())
        .filter(|word| !word.is_empty())
        .collect();
    for word in &named {
        assert!(COMMANDS.contains(word), "`stepmark {word}`");
    }
    for command in COMMANDS {
        let is_listed = [" ", "`"].iter().any(|end| COMMAND_PAGE.contains(&format!("`{command}{end}")));
        assert!(is_listed, "docs/commands.md does not list `{command}`");
    }
}

#[test]
fn blocks_and_lines_are_told_apart() {
    let markdown = "text\n```sh\nstepmark status # all\n```\n```sh ignore\nrm x\n```\n```\nplain\n```\n";
    let kinds: Vec<_> = blocks(markdown).into_iter().map(|block| (block.kind, block.line)).collect();
    assert_eq!(kinds, [("sh", 2), ("sh ignore", 5), ("", 8)]);
    for (line, expected) in [
        ("", Ok(None)),
        ("# comment", Ok(None)),
        ("stepmark next a.md  # all", Ok(Some(Trial::Run(vec!["next", "a.md"])))),
        ("cargo run -q --release -- status --root x", Ok(Some(Trial::Run(vec!["status", "--root", "x"])))),
        ("cargo test --workspace", Ok(Some(Trial::Ci("cargo test --workspace")))),
    ] {
        assert_eq!(trial(line), expected, "{line}");
    }
    for line in ["rm -r x", "cargo run status", "stepmark show *.md", "stepmark status | head"] {
        assert!(trial(line).is_err(), "{line}");
    }
}
