//! `stepmark help`, `man`, `completions` and `schema`.

use std::path::PathBuf;

use clap::{Args, error::ErrorKind};
use clap_complete::{Shell, env::Shells};
use serde_json::Value;

use crate::{
    completion,
    exit::{Exit, Failure},
    help::{all_commands, command_line},
    output::{ListArguments, Output, Reader, Row, table},
    schemas::{document, find, published},
};

/// Print the help of stepmark, of all commands, or of one
#[derive(Debug, Args)]
pub(crate) struct Help {
    /// The command, for instance `complete` or `log at`
    #[arg(value_name = "COMMAND", conflicts_with = "all")]
    command: Vec<String>,
    /// All commands, by task, with examples
    #[arg(long)]
    all: bool,
}

impl Help {
    pub(crate) fn run(&self, output: &Output) -> Result<Exit, Failure> {
        if self.all {
            let mut program = command_line();
            program.build();
            output.rendered(&format!("{}\n", all_commands(&program)), Reader::Person);
            return Ok(Exit::Fine);
        }
        let names = self.command.iter().map(String::as_str);
        let asked = ["stepmark"].into_iter().chain(names).chain(["--help"]);
        match command_line().try_get_matches_from(asked) {
            Err(help) if help.kind() == ErrorKind::DisplayHelp => {
                output.rendered(&help.render().ansi().to_string(), Reader::Person);
                Ok(Exit::Fine)
            }
            _ => {
                let failure =
                    Failure::new(Exit::Usage, format!("there is no command `{}`", self.command.join(" ")));
                Err(failure.with_help("`stepmark help --all` lists them"))
            }
        }
    }
}

/// Print the manual page of stepmark, or of one of its commands
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The command, for instance `complete`
    command: Option<String>,
    /// Write the pages of all commands into this folder
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    all: Option<PathBuf>,
}

impl Man {
    pub(crate) fn run(&self, output: &Output) -> Result<Exit, Failure> {
        let mut program = command_line();
        program.build();
        if let Some(folder) = &self.all {
            return clap_mangen::generate_to(program, folder).map(|()| Exit::Fine).map_err(|error| {
                let message = format!("cannot write the pages into `{}`: {error}", folder.display());
                Failure::new(Exit::Io, message).with_help("make the folder first")
            });
        }
        let page = match &self.command {
            None => clap_mangen::Man::new(program),
            Some(name) => {
                let command = program.find_subcommand(name).cloned().ok_or_else(|| {
                    Failure::new(Exit::Usage, format!("there is no command `{name}`"))
                        .with_help("`stepmark help --all` lists them")
                })?;
                clap_mangen::Man::new(command).title(format!("stepmark-{name}"))
            }
        };
        let mut text = Vec::new();
        page.render(&mut text)
            .map_err(|error| Failure::new(Exit::Io, format!("cannot write the page: {error}")))?;
        output.bytes(&text);
        Ok(Exit::Fine)
    }
}

/// Print the completion script for a shell
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(&self, output: &Output) -> Result<Exit, Failure> {
        let failed = |error: &dyn std::fmt::Display| {
            Failure::new(Exit::Io, format!("cannot write the script: {error}"))
        };
        let (shells, name, mut script) = (Shells::builtins(), self.shell.to_string(), Vec::new());
        let shell = shells.completer(&name).ok_or_else(|| failed(&"the shell is not known"))?;
        let written =
            shell.write_registration(completion::VARIABLE, "stepmark", "stepmark", "stepmark", &mut script);
        written.map_err(|error| failed(&error))?;
        output.bytes(&script);
        Ok(Exit::Fine)
    }
}

/// Print the JSON Schema of an answer, or list all
#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// The name with or without its version: `stepmark.next/3`, `next`; without it all are listed
    name: Option<String>,
    #[command(flatten)]
    list: ListArguments,
}

answers! { Answer
    /// `schema`: all schemas
    "stepmark.schemas/1" Schemas { schemas: Vec<Row<SchemaRow>>, more: usize }
    struct SchemaRow { name: String, description: String }
}

impl Schema {
    pub(crate) fn run(&self, output: &Output) -> Result<Exit, Failure> {
        let schemas = published().map_err(|error| Failure::from_error(Exit::Io, &error))?;
        let words = |schema: &Value| schema["description"].as_str().unwrap_or_default().to_owned();
        let Some(name) = &self.name else {
            let row = |(name, schema): &(&String, &Value)| SchemaRow {
                name: (*name).clone(),
                description: words(schema),
            };
            let answer = |schemas, more| Answer::Schemas { schemas, more };
            self.list.answer(output, &mut schemas.iter().collect(), row, answer, |schemas| {
                let rows = schemas.iter().map(|(name, schema)| vec![(*name).clone(), words(schema)]);
                output.line(table(&["SCHEMA", "OF"], rows));
            })?;
            return Ok(Exit::Fine);
        };
        let (name, schema) = find(&schemas, name).ok_or_else(|| {
            Failure::new(Exit::Usage, format!("there is no schema `{name}`"))
                .with_help("`stepmark schema` lists them")
        })?;
        let text = serde_json::to_string_pretty(&document(name, schema))
            .map_err(|error| Failure::from_error(Exit::Io, &error))?;
        output.bytes(format!("{text}\n").as_bytes());
        Ok(Exit::Fine)
    }
}
