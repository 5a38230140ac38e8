//! `stepmark help`

use clap::{Args, error::ErrorKind};

use crate::{
    exit::{Exit, Failure},
    help::{all_commands, command_line},
    output::{Output, Reader},
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
