//! Help: the commands by task, the first ten on the first page, with examples.

mod examples;
mod pages;
mod tasks;

use clap::{Command, CommandFactory};

use self::{examples::examples_of, tasks::TASKS};
use crate::arguments::Arguments;

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
        for (name, examples) in examples::EXAMPLES.iter().filter(|(name, _)| is_there(name)) {
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
