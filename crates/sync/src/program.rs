//! Runs other programs: bounded in time and size, never through a shell.
#![expect(clippy::disallowed_methods, reason = "an edge module: it starts processes")]

use crate::{Error, ErrorKind, Result};
use std::{
    io::{self, Read, Write},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

const MOST_ERRORS: u64 = 64 * 1024;
const PAUSE: Duration = Duration::from_millis(5);

const KEPT: [&str; 9] =
    ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TEMP", "VIRTUAL_ENV", "SystemRoot", "USERPROFILE"];

#[derive(Clone, Copy, Debug)]
pub struct Program<'p> {
    /// A path, or a name on the search path.
    pub name: &'p str,
    pub arguments: &'p [String],
    pub variables: &'p [(&'p str, &'p str)],
    pub hidden: &'p [String],
    /// Only variables to find and run programs: no tokens.
    pub is_bare: bool,
    pub folder: Option<&'p Path>,
    pub input: &'p [u8],
    pub patience: Duration,
    /// Bytes of output that are read; the rest is dropped.
    pub most: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    pub has_succeeded: bool,
    pub output: Vec<u8>,
    pub errors: Vec<u8>,
}

impl Program<'_> {
    pub fn run(&self) -> Result<Printed> {
        let until = Instant::now() + self.patience;
        let mut child = self.start()?;
        let ended = self
            .listened(&mut child, until)
            .and_then(|printed| Ok((self.ended(&mut child, until)?, printed)));
        if ended.is_err() {
            // It may have ended meanwhile.
            let _ = child.kill();
            child.wait().map_err(failed)?;
        }
        let (status, (output, errors)) = ended?;
        Ok(Printed { has_succeeded: status.success(), output, errors })
    }

    fn ended(&self, child: &mut Child, until: Instant) -> Result<ExitStatus> {
        loop {
            match child.try_wait().map_err(failed)? {
                Some(status) => return Ok(status),
                None if Instant::now() >= until => return Err(self.late()),
                None => thread::sleep(PAUSE),
            }
        }
    }

    fn start(&self) -> Result<Child> {
        let mut command = Command::new(self.name);
        command.args(self.arguments);
        if self.is_bare {
            let kept = KEPT.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
            command.env_clear().envs(kept);
        }
        command.envs(self.variables.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        self.hidden.iter().for_each(|variable| {
            command.env_remove(variable);
        });
        if let Some(folder) = self.folder {
            command.current_dir(folder);
        }
        command.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                Error::new(ErrorKind::Missing, "no such program is on the search path")
            }
            _ => failed(error),
        })
    }

    fn late(&self) -> Error {
        Error::new(ErrorKind::Late, format!("it was still running after {} s", self.patience.as_secs()))
    }

    fn listened(&self, child: &mut Child, until: Instant) -> Result<(Vec<u8>, Vec<u8>)> {
        let output = child.stdout.take().map(|from| heard(from, self.most));
        let errors = child.stderr.take().map(|from| heard(from, self.most.min(MOST_ERRORS)));
        if let Some(mut input) = child.stdin.take() {
            let text = self.input.to_vec();
            // If a program ends before it has read all, its status says so.
            thread::spawn(move || drop(input.write_all(&text)));
        }
        let whole = |heard: Option<mpsc::Receiver<io::Result<Vec<u8>>>>| match heard {
            None => Ok(Vec::new()),
            Some(heard) => match heard.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(read) => read.map_err(failed),
                Err(_) => Err(self.late()),
            },
        };
        Ok((whole(output)?, whole(errors)?))
    }
}

fn failed(error: io::Error) -> Error {
    Error::new(ErrorKind::Io, error.to_string())
}

/// In a thread of its own; the surplus is read too, so that the program can go on.
fn heard(mut from: impl Read + Send + 'static, most: u64) -> mpsc::Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut kept = Vec::new();
        let read = from.by_ref().take(most).read_to_end(&mut kept);
        let rest = read.and_then(|_| io::copy(&mut from, &mut io::sink()));
        // Nobody listens any more after the time is over.
        let _ = sender.send(rest.map(|_| kept));
    });
    receiver
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn ran(script: &str) -> Result<Printed> {
        let arguments = ["-c".to_owned(), script.to_owned()];
        let patience = Duration::from_millis(500);
        let shell = Program {
            name: "/bin/sh",
            arguments: &arguments,
            variables: &[("SAID", "x")],
            hidden: &["HOME".to_owned()],
            is_bare: false,
            folder: Some(Path::new("/")),
            input: b"in",
            patience,
            most: 10,
        };
        shell.run()
    }

    #[test]
    fn is_given_what_it_is_to_have() {
        let printed = ran("pwd; cat; echo \"$SAID$HOME\" >&2; exit 3").unwrap();
        assert_eq!(printed, Printed { has_succeeded: false, output: b"/\nin".into(), errors: b"x\n".into() });
    }

    #[test]
    fn is_bounded() {
        assert_eq!(ran("yes | head -c 1000000").unwrap().output.len(), 10);
        for late in ["exec sleep 5", "exec >&- 2>&-; sleep 5", "sleep 5 &"] {
            assert!(ran(late).unwrap_err().kind == ErrorKind::Late, "{late}");
        }
        let nothing = Program { name: "no-such-program", ..program_of_nothing() };
        assert_eq!(nothing.run().unwrap_err().kind, ErrorKind::Missing);
    }

    fn program_of_nothing() -> Program<'static> {
        Program {
            name: "",
            arguments: &[],
            variables: &[],
            hidden: &[],
            is_bare: false,
            folder: None,
            input: b"",
            patience: Duration::from_secs(1),
            most: 0,
        }
    }
}
