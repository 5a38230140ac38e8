//! `stepmark autodev`: the state file of the /autodev skill, from outside.

mod adopting;
mod commands;
mod damaged;
mod history;
mod rules;

use std::process::Command;

use crate::harness::{Run, Sandbox};

/// The state file.
const FILE: &str = "_docs/_autodev_state.md";

const PLAN: &str = include_str!("../../../fixtures/autodev/plan.md");
const FAILED: &str = include_str!("../../../fixtures/autodev/failed.md");
const REVIEW: &str = include_str!("../../../fixtures/autodev/review.md");
const BATCH: &str = include_str!("../../../fixtures/autodev/batch.md");

/// The files of a problem and of a solution: with them steps 1 and 2 of `greenfield` are done.
const SOLVED: [&str; 5] = [
    "_docs/00_problem/problem.md",
    "_docs/00_problem/restrictions.md",
    "_docs/00_problem/acceptance_criteria.md",
    "_docs/00_problem/input_data/readings.csv",
    "_docs/01_solution/solution_draft01.md",
];

/// A project that uses autodev.
fn empty() -> Sandbox {
    let sandbox = Sandbox::empty();
    sandbox.write(".stepmark/config.yaml", "autodev: {}\n");
    sandbox
}

/// A project with this state file, whose files agree with it.
fn with(text: &str) -> Sandbox {
    let sandbox = empty();
    add_files(&sandbox);
    sandbox.write(FILE, text);
    sandbox
}

fn add_files(sandbox: &Sandbox) {
    for path in SOLVED {
        sandbox.write(path, "text\n");
    }
    sandbox.write("_docs/_repo-config.yaml", "confirmed_by_user: false\n");
}

fn text(sandbox: &Sandbox) -> String {
    String::from_utf8(sandbox.read(FILE)).unwrap()
}

/// `stepmark autodev ARGUMENTS…` by a person.
fn autodev(sandbox: &Sandbox, arguments: &[&str]) -> Run {
    sandbox.run(sandbox.command(&[&["autodev"], arguments].concat()).env("STEPMARK_ACTOR", "human:ana"))
}

/// The same, which must succeed.
fn done(sandbox: &Sandbox, arguments: &[&str]) -> Run {
    let run = autodev(sandbox, arguments);
    assert_eq!(run.code, 0, "{run}");
    run
}

/// `stepmark ARGUMENTS…` as an agent in a session of its own.
fn by_agent(sandbox: &Sandbox, arguments: &[&str]) -> Command {
    let mut command = sandbox.command(arguments);
    command.env("STEPMARK_ACTOR", "agent:builder");
    command
}
