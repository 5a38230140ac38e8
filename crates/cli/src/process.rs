//! The process of a session, and its liveness (known on Linux only). Also replaces the process.
#![expect(clippy::disallowed_methods, reason = "an edge: the system is asked about processes")]

use std::{
    ffi::{OsStr, OsString},
    io,
    path::Path,
    process::Command,
};

use serde_json::{Value as Json, json};

use crate::{
    attribution::SESSION_VARIABLE,
    exit::{Exit, Failure},
};

/// Pid, start time, and boot id of the machine.
pub(crate) fn own() -> Option<Json> {
    noted(std::process::id())
}

/// The shell or agent; skips a subshell `$(…)` and a shell for one command, which end at once.
#[cfg(unix)]
pub(crate) fn parent() -> Option<Json> {
    let mut id = std::os::unix::process::parent_id();
    for _ in 0..MOST_SHELLS {
        let Some(above) = stat(id).and_then(|fields| fields.get(1)?.parse().ok()) else { break };
        let arguments = arguments(id);
        if !is_for_one_command(&arguments) && (arguments.is_empty() || arguments != self::arguments(above)) {
            break;
        }
        id = above;
    }
    noted(id)
}

const MOST_SHELLS: usize = 16;

fn is_for_one_command(arguments: &[String]) -> bool {
    const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "ksh", "ash", "fish"];
    let Some((program, rest)) = arguments.split_first() else { return false };
    let name = program.rsplit('/').next().unwrap_or(program);
    let mut options = rest.iter().take_while(|argument| argument.starts_with('-'));
    SHELLS.contains(&name) && options.any(|option| !option.starts_with("--") && option.contains('c'))
}

fn arguments(id: u32) -> Vec<String> {
    let read = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    let parts = read.split(|byte| *byte == 0).filter(|part| !part.is_empty());
    parts.map(|part| String::from_utf8_lossy(part).into_owned()).collect()
}

/// Unknown on other systems.
#[cfg(not(unix))]
pub(crate) const fn parent() -> Option<Json> {
    None
}

pub(crate) fn lives(noted: &Json) -> bool {
    let id = noted["id"].as_u64().and_then(|id| u32::try_from(id).ok());
    id.and_then(self::noted).as_ref() == Some(noted)
}

fn noted(id: u32) -> Option<Json> {
    // Tests compare whole files, without process ids.
    if std::env::var_os("STEPMARK_TEST_HOST").is_some_and(|host| host == "none") {
        return None;
    }
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let fields = stat(id)?;
    let is_dead = fields.first()? == "Z";
    let began: u64 = fields.get(19)?.parse().ok()?;
    (!is_dead).then(|| json!({ "boot": boot.trim(), "id": id, "began": began }))
}

/// From the third field of `/proc/ID/stat` (proc_pid_stat(5)); the 20th of these is the start time.
fn stat(id: u32) -> Option<Vec<String>> {
    let status = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The program name is in parentheses and may contain anything.
    Some(status.rsplit_once(')')?.1.split_whitespace().map(str::to_owned).collect())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn this_process_lives_and_others_with_its_number_do_not() {
        let own = own().unwrap();
        assert!(lives(&own) && lives(&parent().unwrap()));
        for (key, value) in [("began", json!(1)), ("boot", json!("another")), ("id", json!(4_194_400))] {
            let mut other = own.clone();
            other[key] = value;
            assert!(!lives(&other), "{key}");
        }
        assert!(!lives(&Json::Null));
    }

    #[test]
    fn a_shell_for_one_command_is_nobody_to_work_for() {
        for (line, expected) in [
            ("/bin/bash -c ls", true),
            ("sh -e -c ls", true),
            ("zsh -lc ls", true),
            ("bash --norc -c ls", true),
            ("-bash", false),
            ("bash script.sh -c", false),
            ("bash --rcfile x", false),
            ("claude -c", false),
            ("", false),
        ] {
            let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            assert_eq!(is_for_one_command(&arguments), expected, "{line}");
        }
    }
}

const ROOT_VARIABLE: &str = "STEPMARK_ROOT";

pub(crate) struct HandOff<'a> {
    pub(crate) program: &'a OsStr,
    pub(crate) arguments: &'a [OsString],
    pub(crate) root: &'a Path,
    pub(crate) session: Session<'a>,
}

pub(crate) enum Session<'a> {
    /// None, whatever the environment says.
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
