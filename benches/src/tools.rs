//! The programs that are measured.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use crate::failure::Failure;

/// The places of the programs.
pub(crate) struct Tools {
    stepmark: PathBuf,
    own: PathBuf,
}

impl Tools {
    /// The `stepmark` of the same build as this program.
    pub(crate) fn find() -> Result<Self, Failure> {
        let own = env::current_exe().map_err(Failure::file("find", Path::new("the running program")))?;
        let stepmark = own.with_file_name(format!("stepmark{}", env::consts::EXE_SUFFIX));
        if stepmark.is_file() {
            return Ok(Self { stepmark, own });
        }
        Err(Failure::Usage(format!("there is no `{}`: build it with the same profile", stepmark.display())))
    }

    /// `stepmark` in `folder`.
    pub(crate) fn stepmark(&self, folder: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.stepmark);
        command.current_dir(folder).args(arguments);
        command
    }

    /// This program, to do a bare piece of work.
    pub(crate) fn own(&self, work: &str) -> Command {
        let mut command = Command::new(&self.own);
        command.arg(work);
        command
    }
}

/// git in `folder`, without the configuration of the machine.
pub(crate) fn git(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command
        .current_dir(folder)
        .args(arguments)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null");
    command
}
