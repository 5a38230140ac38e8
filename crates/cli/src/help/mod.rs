//! Help: commands by task; the first page has ten.

mod pages;

use crate::command_line::Arguments;
use clap::{Command, CommandFactory};

pub(crate) use pages::all_commands;

const COLUMNS: usize = 80;

pub(crate) fn command_line() -> Command {
    let mut program = Arguments::command();
    let names: Vec<String> = program.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    for name in names {
        if let Some(examples) = examples_of(&name) {
            program = program.mut_subcommand(name, |command| command.after_help(pages::examples(examples)));
        }
    }
    let first = pages::first_commands(&program);
    program
        .max_term_width(COLUMNS)
        .help_template(
            "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}Options:\n{options}{after-help}",
        )
        .before_help(first)
        .after_help("All commands with examples: `stepmark help --all`; one: `stepmark help COMMAND`")
}

fn examples_of(name: &str) -> Option<&'static [&'static str; 2]> {
    EXAMPLES.iter().find(|(command, _)| *command == name).map(|(_, examples)| examples)
}

const EXAMPLES: &[(&str, [&str; 2])] = &[
    ("status", ["stepmark status", "stepmark status --all"]),
    ("next", ["stepmark next docs/prd.md", "stepmark next docs/prd.md --json"]),
    ("show", ["stepmark show docs/prd.md", "stepmark show context docs/prd.md"]),
    ("log", ["stepmark log docs/prd.md", "stepmark log at 2026-01-31 docs/prd.md"]),
    (
        "list",
        ["stepmark list --where 'status=blocked'", "stepmark list --sort -scope,path --columns path,scope"],
    ),
    ("tree", ["stepmark tree", "stepmark tree docs/prd.md --up"]),
    ("resume", ["stepmark resume", "stepmark resume docs/prd.md"]),
    ("query", ["stepmark query 'SELECT path, status FROM artifacts'", "stepmark query --named next --csv"]),
    ("report", ["stepmark report state.html", "stepmark report /tmp/state.html --root ../shed"]),
    ("serve", ["stepmark serve", "stepmark serve --port 8080"]),
    ("board", ["stepmark board", "stepmark board --root ../shed"]),
    ("complete", ["stepmark complete docs/prd.md 4", "stepmark complete docs/prd.md step-05-domain --json"]),
    ("transition", ["stepmark transition 1-2-lend.md", "stepmark transition 1-2-lend.md review"]),
    ("import", ["stepmark import stories", "stepmark import stories --prefer sprint-status"]),
    ("reopen", ["stepmark reopen docs/prd.md 4", "stepmark reopen docs/prd.md 4 5"]),
    ("set", ["stepmark set docs/prd.md title='Tool shed'", "stepmark set docs/prd.md status=done --json"]),
    ("unset", ["stepmark unset docs/prd.md owner", "stepmark unset docs/prd.md owner --json"]),
    ("scope", ["stepmark scope docs/prd.md large", "stepmark scope docs/prd.md small --json"]),
    (
        "delegate",
        ["stepmark delegate docs/prd.md --to writer", "stepmark delegate docs/prd.md --to writer --json"],
    ),
    (
        "defer",
        [
            "stepmark defer spec-3-2 --summary 'Slow' --evidence '900 ms'",
            "stepmark defer spec-3-2 --summary 'No test' --evidence src",
        ],
    ),
    ("tickets", ["stepmark tickets", "stepmark tickets epic-cart --json"]),
    (
        "memlog",
        [
            "stepmark memlog init --workspace docs --field topic=Lending",
            "stepmark memlog append --workspace docs --text 'A week'",
        ],
    ),
    ("track", ["stepmark track docs/prd.md", "stepmark track --all"]),
    ("remove", ["stepmark remove docs/old.md --reason 'split in two'", "stepmark remove docs/old.md --json"]),
    ("undo", ["stepmark undo 0198c2f4", "stepmark undo 0198c2f4 --json"]),
    ("task", ["stepmark task add 'Write the parser'", "stepmark task claim --agent worker-1"]),
    (
        "memory",
        ["stepmark memory remember 'CI runs in UTC' --kind learning", "stepmark memory recall which store"],
    ),
    ("asdd", ["stepmark asdd init --sprint 2026-Q4-S2", "stepmark asdd add 'User sign-in'"]),
    ("coordination", ["stepmark coordination init --goal 'Ship 1.0'", "stepmark coordination status"]),
    ("flow", ["stepmark flow create release", "stepmark flow next release --claim --agent worker-1"]),
    ("autodev", ["stepmark autodev status", "stepmark autodev sub-step 5 batch-loop"]),
    ("mcp", ["stepmark mcp --tools coordination", "stepmark mcp --tools coordination --root ../shed"]),
    ("session", ["stepmark session start --actor agent:writer", "stepmark session list"]),
    (
        "checkpoint",
        ["stepmark checkpoint docs/prd.md -m 'before the review'", "stepmark checkpoint list docs/prd.md"],
    ),
    (
        "restore",
        [
            "stepmark restore docs/prd.md --from checkpoint.json",
            "stepmark restore docs/prd.md --from old.json --json",
        ],
    ),
    ("exec", ["stepmark exec -- claude", "stepmark exec -- npm test"]),
    ("check", ["stepmark check", "stepmark check docs --fix"]),
    ("hook", ["stepmark hook install", "stepmark hook status"]),
    ("gate", ["stepmark gate check docs/prd.md 4", "stepmark gate lease take docs/prd.md"]),
    ("explain", ["stepmark explain", "stepmark explain SM106"]),
    ("lifecycle", ["stepmark lifecycle list", "stepmark lifecycle graph bmad-story"]),
    ("pack", ["stepmark pack new review", "stepmark pack check"]),
    ("doctor", ["stepmark doctor", "stepmark doctor --repair"]),
    ("project", ["stepmark project", "stepmark project manifest verify"]),
    ("sync", ["stepmark sync plan", "stepmark sync apply"]),
    ("instructions", ["stepmark instructions build", "stepmark instructions verify"]),
    ("init", ["stepmark init", "stepmark init --root ../shed"]),
    ("config", ["stepmark config show --origin", "stepmark config variables"]),
    ("completions", ["stepmark completions bash", "stepmark completions zsh"]),
    ("man", ["stepmark man", "stepmark man complete"]),
    ("schema", ["stepmark schema", "stepmark schema stepmark.next/3"]),
    ("help", ["stepmark help --all", "stepmark help complete"]),
];

struct Task {
    name: &'static str,
    /// On the first page; ten in all.
    first: &'static [&'static str],
    rest: &'static [&'static str],
}

const TASKS: &[Task] = &[
    Task {
        name: "See where the work stands",
        first: &["status", "next", "show", "log"],
        rest: &["list", "tickets", "tree", "resume", "query", "report", "serve", "board"],
    },
    Task {
        name: "Record work",
        first: &["complete", "transition", "import"],
        rest: &["reopen", "set", "unset", "scope", "delegate", "track", "memlog", "defer", "remove", "undo"],
    },
    Task { name: "Work in sessions", first: &[], rest: &["session", "checkpoint", "restore", "exec"] },
    Task {
        name: "Keep it right",
        first: &["check", "hook"],
        rest: &["gate", "explain", "lifecycle", "pack", "doctor", "project"],
    },
    Task {
        name: "Keep the state of other systems",
        first: &[],
        rest: &["asdd", "autodev", "task", "coordination", "flow", "mcp"],
    },
    Task { name: "Remember", first: &[], rest: &["memory"] },
    Task { name: "Share it", first: &["sync"], rest: &["instructions"] },
    Task { name: "Set up", first: &[], rest: &["init", "config", "completions", "man", "schema", "help"] },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_that_is_shown_has_a_task_and_two_examples() {
        let program = command_line();
        let shown = program.get_subcommands().filter(|command| !command.is_hide_set());
        for name in shown.map(Command::get_name) {
            let tasks = TASKS.iter().flat_map(|task| task.first.iter().chain(task.rest));
            assert_eq!(tasks.filter(|listed| **listed == name).count(), 1, "{name}");
            assert!(examples_of(name).is_some(), "{name}");
        }
        assert_eq!(TASKS.iter().map(|task| task.first.len()).sum::<usize>(), 10);
    }

    #[test]
    fn examples_are_understood() {
        let program = command_line();
        let is_there = |name: &str| program.find_subcommand(name).is_some();
        let mut refused = Vec::new();
        for (name, examples) in EXAMPLES.iter().filter(|(name, _)| is_there(name)) {
            for example in examples {
                let words = words(example);
                assert_eq!((words[0].as_str(), words[1].as_str()), ("stepmark", *name), "{example}");
                refused.extend(
                    program
                        .clone()
                        .try_get_matches_from(&words)
                        .err()
                        .map(|error| (example, error.to_string())),
                );
            }
        }
        assert!(refused.is_empty(), "{refused:#?}");
    }

    /// The words of a line as a shell parts them; quotes are single ones.
    fn words(line: &str) -> Vec<String> {
        let parts = line.split('\'').enumerate();
        let words = parts.flat_map(|(at, part)| match at % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        });
        words.collect()
    }
}
