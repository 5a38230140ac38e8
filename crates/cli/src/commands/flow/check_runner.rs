//! Running the checks of a graph: commands of a shell, in the folder of the project.

#![expect(clippy::disallowed_methods, reason = "an edge module: the checks of a graph are started here")]

use std::{
    io::{self, PipeReader, Read as _},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use sha2::{Digest as _, Sha256};
use stepmark_model::{
    artifact::FileHash,
    flows::{Check, CheckResult},
};

use crate::exit::{Exit, Failure};

/// The most lines of the end of an output that are kept, and the most bytes.
const TAIL: (usize, usize) = (20, 4096);

/// Runs a check in `folder`. Of what it prints the digest is kept, and the end. It is ended, and has failed,
/// where it or what it has started may still print after `limit`.
pub(super) fn run(folder: &Path, check: &Check, limit: Duration) -> Result<CheckResult, Failure> {
    let failed = |error| Failure::new(Exit::Io, format!("cannot run the check `{}`: {error}", check.name));
    let (mut child, printed) = start(folder, &check.command).map_err(failed)?;
    let (ended, digest) = mpsc::channel();
    thread::spawn(move || ended.send(digest_of(printed)));
    let (status, printed) = match digest.recv_timeout(limit) {
        Ok(printed) => (Some(child.wait().map_err(failed)?), Some(printed.map_err(failed)?)),
        Err(_) => {
            // It stays in our group of processes, so that ^C ends it, too: what it has started itself cannot
            // print any more when we have ended.
            child.kill().map_err(failed)?;
            child.wait().map_err(failed)?;
            (None, None)
        }
    };
    Ok(CheckResult {
        name: check.name.clone(),
        command: check.command.clone(),
        passed: status.is_some_and(|status| status.success()),
        required: check.required,
        exit_status: status.and_then(|status| status.code()).map(i64::from),
        output_digest: printed.as_ref().map(|(digest, _)| digest.to_string()),
        tail: printed.map(|(_, tail)| tail).unwrap_or_default(),
    })
}

fn start(folder: &Path, command: &str) -> io::Result<(Child, PipeReader)> {
    let (shell, option) = if cfg!(windows) { ("cmd", "/C") } else { ("/bin/sh", "-c") };
    let (printed, output) = io::pipe()?;
    let mut started = Command::new(shell);
    started.args([option, command]).current_dir(folder).stdin(Stdio::null());
    started.stderr(output.try_clone()?).stdout(output);
    // Our ends for writing go with `started`: the output ends when all who print have ended.
    Ok((started.spawn()?, printed))
}

fn digest_of(mut printed: PipeReader) -> io::Result<(FileHash, String)> {
    let (mut hash, mut part, mut last) = (Sha256::new(), [0; 1 << 16], Vec::new());
    loop {
        match printed.read(&mut part)? {
            0 => break,
            length => {
                hash.update(&part[..length]);
                last.extend_from_slice(&part[..length]);
                last.drain(..last.len().saturating_sub(TAIL.1));
            }
        }
    }
    let text = String::from_utf8_lossy(&last);
    let lines: Vec<&str> = text.lines().collect();
    let tail = lines[lines.len().saturating_sub(TAIL.0)..].join("\n");
    Ok((FileHash::from_digest(hash.finalize().into()), tail))
}

#[cfg(all(test, unix))]
#[expect(clippy::panic, reason = "tests say which command failed")]
mod tests {
    use super::*;

    fn ran(command: &str) -> CheckResult {
        let check = Check { name: "c".to_owned(), command: command.to_owned(), required: true };
        run(Path::new("/"), &check, Duration::from_millis(300)).unwrap_or_else(|_| panic!("{command}"))
    }

    #[test]
    fn says_how_it_ended_and_keeps_a_digest() {
        let one = ran("echo out; echo err >&2");
        assert!(one.passed && one.exit_status == Some(0), "{one:?}");
        assert_eq!(one.output_digest, Some(FileHash::of(b"out\nerr\n").to_string()));
        assert_eq!(ran("exit 3").exit_status, Some(3));
        assert!(!ran("kill -9 $$").passed);
    }

    #[test]
    fn ends_what_takes_too_long() {
        for command in ["exec sleep 3", "sleep 3; true", "exec yes", "sleep 3 &"] {
            let late = ran(command);
            assert_eq!((late.passed, late.exit_status, late.output_digest), (false, None, None), "{command}");
        }
    }
}
