//! `stepmark completions`

use clap::Args;
use clap_complete::Shell;

use crate::{
    exit::{Exit, Failure},
    help::command_line,
    output::Output,
};

/// Print the completion script for a shell
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(&self, output: &Output) -> Result<Exit, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command_line(), "stepmark", &mut script);
        output.bytes(&script);
        Ok(Exit::Fine)
    }
}
