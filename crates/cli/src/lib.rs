//! The command line: parse → library → report. Decisions about state are in the model and the store.

mod exit;
#[macro_use]
mod schemas;
mod arguments;
mod command_line;
mod attribution;
mod environment;
mod project;
mod process;
mod active_artifact;
mod artifact_name;
mod several_projects;
mod published_file;
mod watch;
mod help;
mod completion;
mod commands;
mod output;

use std::{
    ffi::OsString,
    io::{self, ErrorKind, Write as _},
    process::ExitCode,
};

use clap::FromArgMatches;
use stepmark_view::wording::visible;

use crate::{
    command_line::{Arguments, Command},
    environment::Environment,
    exit::{Exit, Failure},
    output::Output,
};

pub fn run() -> ExitCode {
    completion::answer();
    // Fast path: building the command line takes longer than printing this.
    if std::env::args_os().skip(1).eq(["--version"]) {
        let printed = writeln!(io::stdout(), "stepmark {}", env!("CARGO_PKG_VERSION"));
        let is_lost = printed.is_err_and(|error| error.kind() != ErrorKind::BrokenPipe);
        return if is_lost { Exit::Io.into() } else { Exit::Fine.into() };
    }
    let mut program = help::command_line();
    let read = program.try_get_matches_from_mut(std::env::args_os()).and_then(|found| {
        let mut arguments = Arguments::from_arg_matches(&found)?;
        attribution::name_agent(&mut arguments.acting, &program, &found);
        Ok(arguments)
    });
    let read = read.or_else(|error| match unknown_command(&error) {
        // A project's pack may define it.
        Some(word) => commands::packs::moves::read(&word, &std::env::args_os().collect::<Vec<_>>())
            .unwrap_or(Err(error)),
        None => Err(error),
    });
    let arguments = match read {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() && wants_json(std::env::args_os()) => {
            return Output::failure_as_json(&Failure::from(&error)).into();
        }
        Err(error) => {
            // Includes `--help` and `--version`; clap selects stream and colour.
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Fine };
            // Typed text may be the name of a file in an untrusted repository.
            let text = error.render().to_string();
            let shown = visible(&text);
            let printed = if shown == text { error.print() } else { write!(io::stderr(), "{shown}") };
            return match printed {
                // A reader that closes early (`| head`) is no failure.
                Err(reason) if reason.kind() != ErrorKind::BrokenPipe => Exit::Io.into(),
                _ => exit.into(),
            };
        }
    };
    let output = Output::new(&arguments.output);
    let environment = match Environment::read() {
        Ok(environment) => {
            Environment { only_looks: commands::only_looks(&arguments.command), ..environment }
        }
        Err(failure) => return failed(&arguments, &output, &failure).into(),
    };
    match commands::run(&arguments, &environment, &output).and_then(|exit| output.finish().map(|()| exit)) {
        Ok(exit) => exit.into(),
        Err(failure) => failed(&arguments, &output, &failure).into(),
    }
}

fn unknown_command(error: &clap::Error) -> Option<String> {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    let word =
        error.get(ContextKind::InvalidSubcommand).filter(|_| error.kind() == ErrorKind::InvalidSubcommand)?;
    if let ContextValue::String(word) = word { Some(word.clone()) } else { None }
}

fn failed(arguments: &Arguments, output: &Output, failure: &Failure) -> Exit {
    let exit = output.failure(failure);
    let is_hook = matches!(&arguments.command, Command::Memory(command) if command.is_hook());
    if is_hook { Exit::Fine } else { exit }
}

/// Without parsing: the command line is invalid.
fn wants_json(mut arguments: impl Iterator<Item = OsString>) -> bool {
    arguments.by_ref().take_while(|argument| argument != "--").any(|argument| argument == "--json")
}
