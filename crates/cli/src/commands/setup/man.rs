//! `stepmark man`

use clap::Args;

use crate::{
    exit::{Exit, Failure},
    help::command_line,
    output::Output,
};

/// Print the manual page of stepmark, or of one of its commands
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The command, for instance `complete`
    command: Option<String>,
}

impl Man {
    pub(crate) fn run(&self, output: &Output) -> Result<Exit, Failure> {
        let mut program = command_line();
        program.build();
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
