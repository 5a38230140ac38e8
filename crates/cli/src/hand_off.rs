//! Becoming another program.
#![expect(clippy::disallowed_methods, reason = "the edge of the program: here it ends")]

use std::{
    ffi::{OsStr, OsString},
    io,
    path::Path,
    process::Command,
};

use crate::{
    attribution::SESSION_VARIABLE,
    exit::{Exit, Failure},
};

const ROOT_VARIABLE: &str = "STEPMARK_ROOT";

pub(crate) struct HandOff<'a> {
    pub(crate) program: &'a OsStr,
    pub(crate) arguments: &'a [OsString],
    pub(crate) root: &'a Path,
    pub(crate) session: Session<'a>,
}

pub(crate) enum Session<'a> {
    /// None, whatever the environment says now.
    None,
    Attached(&'a str),
}

impl HandOff<'_> {
    pub(crate) fn replace_process(&self) -> Failure {
        let mut command = Command::new(self.program);
        command.args(self.arguments).env(ROOT_VARIABLE, self.root);
        match self.session {
            Session::Attached(session) => command.env(SESSION_VARIABLE, session),
            Session::None => command.env_remove(SESSION_VARIABLE),
        };
        let error = replace(&mut command);
        let program = self.program.to_string_lossy();
        let failure = Failure::new(Exit::Io, format!("cannot become `{program}`: {error}"));
        match error.kind() {
            io::ErrorKind::NotFound => {
                failure.with_help("no such program is on the search path; all state is on the disk")
            }
            io::ErrorKind::PermissionDenied => {
                failure.with_help("the file may not be executed; all state is on the disk")
            }
            _ => failure.with_help("all state is on the disk"),
        }
    }
}

#[cfg(unix)]
fn replace(command: &mut Command) -> io::Error {
    std::os::unix::process::CommandExt::exec(command)
}

#[cfg(not(unix))]
fn replace(_command: &mut Command) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "this system cannot replace a process")
}
