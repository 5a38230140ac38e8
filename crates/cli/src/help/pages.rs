//! The texts of help.

use std::fmt::Write;

use clap::Command;

use super::{COLUMNS, TASKS, examples_of};

pub(super) fn first_commands(program: &Command) -> String {
    by_task(program, |task| task.first.to_vec(), |_| String::new())
}

pub(crate) fn all_commands(program: &Command) -> String {
    let commands = by_task(
        program,
        |task| task.first.iter().chain(task.rest).copied().collect(),
        |name| {
            let examples = examples_of(name).into_iter().flatten();
            examples.map(|example| format!("{:16}{example}\n", "")).collect()
        },
    );
    commands.trim_end().to_owned()
}

pub(super) fn examples(examples: &[&str; 2]) -> String {
    format!("Examples:\n  {}\n  {}", examples[0], examples[1])
}

fn by_task(
    program: &Command,
    names: impl Fn(&super::Task) -> Vec<&'static str>,
    below: impl Fn(&str) -> String,
) -> String {
    let mut text = String::new();
    for task in TASKS {
        let names = names(task);
        let commands = names.iter().filter_map(|name| program.find_subcommand(name));
        let mut lines = String::new();
        for command in commands {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            lines += &entry(command.get_name(), &about);
            lines += &below(command.get_name());
        }
        if !lines.is_empty() {
            let _written = writeln!(text, "{}:\n{lines}", task.name);
        }
    }
    text
}

/// `  NAME          ABOUT`; long names get a line of their own.
fn entry(name: &str, about: &str) -> String {
    let mut lines = format!("  {name:13}");
    let mut used = 15;
    for word in about.split(' ') {
        if used + 1 + word.chars().count() > COLUMNS {
            lines += "\n               ";
            used = 15;
        }
        lines.push(' ');
        lines += word;
        used += 1 + word.chars().count();
    }
    lines + "\n"
}
