//! What git knows of commits and of earlier versions of a file. Git is asked as a program, and never for longer than it may
//! take (CRATES.md, section 6).
#![expect(clippy::disallowed_methods, reason = "an edge module: git is started, and timed, here")]

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use jiff::Timestamp;

use crate::{artifact::ProjectPath, root::Root};

/// How many versions of a file are looked at: damage is older than this only where nobody ever looked.
const VERSIONS: &str = "1000";

/// How a commit stands to the one that is checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ancestry {
    /// It is in its history.
    Ancestor,
    /// It is not: another branch, or history that was rewritten.
    Stranger,
    /// It cannot be told, and why.
    Unknown(String),
}

/// A version of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Version {
    pub(super) commit: String,
    /// When it was committed.
    pub(super) at: Timestamp,
    pub(super) bytes: Vec<u8>,
}

/// What the search for a version came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct VersionSearch {
    pub(super) found: Option<Version>,
    /// How many versions were looked at.
    pub(super) looked_at: usize,
    /// Whether time ran out.
    pub(super) is_cut_off: bool,
}

/// Whether the project lies in a git repository.
pub(super) fn is_repository(root: &Root) -> bool {
    root.path().ancestors().any(|folder| folder.join(".git").exists())
}

/// The commit that is checked out; `None` outside of git, before the first commit, or where git cannot be asked.
#[cfg(feature = "write")]
pub(super) fn head_commit(root: &Root) -> Option<String> {
    if !is_repository(root) {
        return None;
    }
    let output = git(root, &["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
        .stdout(Stdio::piped())
        .output()
        .ok()?;
    let commit = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && is_object_name(&commit)).then_some(commit)
}

/// Whether `commit` is in the history of what is checked out.
pub(super) fn ancestry(root: &Root, commit: &str) -> Ancestry {
    if !is_object_name(commit) {
        return Ancestry::Unknown(format!("`{commit}` is no name of a commit"));
    }
    if !is_repository(root) {
        return Ancestry::Unknown("the project is in no git repository".to_owned());
    }
    match git(root, &["merge-base", "--is-ancestor", commit, "HEAD"]).status() {
        Ok(status) if status.success() => Ancestry::Ancestor,
        Ok(status) if status.code() == Some(1) => Ancestry::Stranger,
        Ok(_) => Ancestry::Unknown("git does not know it, or nothing is committed".to_owned()),
        Err(error) => Ancestry::Unknown(format!("git cannot be started: {error}")),
    }
}

/// The newest committed version of the file that `is_wanted`, found within `limit`.
///
/// # Errors
/// When git cannot be started.
pub(super) fn newest_version(
    root: &Root,
    path: &ProjectPath,
    limit: Duration,
    is_wanted: impl Fn(&[u8]) -> bool,
) -> io::Result<VersionSearch> {
    let log_arguments = ["log", "--format=%H %ct", "-n", VERSIONS, "HEAD", "--", path.as_str()];
    let mut log = git(root, &log_arguments).stdout(Stdio::piped()).spawn()?;
    let mut objects =
        match git(root, &["cat-file", "--batch"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() {
            Ok(objects) => objects,
            Err(error) => {
                end(&mut log);
                return Err(error);
            }
        };
    let pipes = (log.stdout.take(), objects.stdin.take(), objects.stdout.take());
    let children = Mutex::new([log, objects]);
    let is_cut_off = AtomicBool::new(false);
    let (done, finished) = mpsc::channel::<()>();
    let (processes, ran_out) = (&children, &is_cut_off);
    let searched = thread::scope(|scope| {
        scope.spawn(move || {
            if finished.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout) {
                ran_out.store(true, Ordering::Relaxed);
            }
            // Whether or not all was read: what is left of the two ends here.
            let mut children = processes.lock().unwrap_or_else(PoisonError::into_inner);
            children.iter_mut().for_each(end);
        });
        let searched = match pipes {
            (Some(log), Some(requests), Some(answers)) => {
                search(path, BufReader::new(log), requests, BufReader::new(answers), is_wanted)
            }
            _ => (None, 0),
        };
        drop(done);
        searched
    });
    let (found, looked_at) = searched;
    let is_cut_off = found.is_none() && is_cut_off.load(Ordering::Relaxed);
    Ok(VersionSearch { found, looked_at, is_cut_off })
}

/// Reads version after version until one is wanted; a pipe that ends early ends the search.
fn search(
    path: &ProjectPath,
    log: BufReader<ChildStdout>,
    mut requests: ChildStdin,
    mut answers: BufReader<ChildStdout>,
    is_wanted: impl Fn(&[u8]) -> bool,
) -> (Option<Version>, usize) {
    let mut looked_at = 0;
    for line in log.lines() {
        let Ok(line) = line else { break };
        let Some((commit, seconds)) = line.split_once(' ') else { continue };
        let asked = writeln!(requests, "{commit}:./{path}").and_then(|()| requests.flush());
        let Ok(answer) = asked.and_then(|()| read_object(&mut answers)) else { break };
        looked_at += 1;
        let at = seconds.parse().ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
        if let (Some(bytes), Some(at)) = (answer, at)
            && is_wanted(&bytes)
        {
            return (Some(Version { commit: commit.to_owned(), at, bytes }), looked_at);
        }
    }
    (None, looked_at)
}

/// One answer of `cat-file --batch`: `NAME TYPE SIZE\nBYTES\n`, or a line that says that there is no such object.
fn read_object(answers: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut header = String::new();
    answers.read_line(&mut header)?;
    let words: Vec<&str> = header.split_ascii_whitespace().collect();
    let [_, kind, size] = words[..] else {
        let is_end = header.is_empty();
        return if is_end { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(None) };
    };
    let Ok(size) = size.parse::<u64>() else { return Ok(None) };
    let mut bytes = Vec::new();
    answers.take(size + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != size + 1 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    bytes.pop();
    Ok((kind == "blob").then_some(bytes))
}

/// Git in the project's folder: it takes no locks, writes nothing, and asks nobody.
fn git(root: &Root, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command
        .args(["--no-optional-locks", "--literal-pathspecs"])
        .args(arguments)
        .current_dir(root.path())
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Ends a process that only reads, if it has not ended yet.
fn end(child: &mut Child) {
    // It may have ended by itself: then there is nothing to end.
    let _ended = child.kill();
    let _reaped = child.wait();
}

/// Whether the text is an object name in full, and so no option.
fn is_object_name(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_to_their_ends() {
        let mut answers = &b"0a blob 3\nab\n\n0b missing\n0c tree 2\nxy\n0d blob 9\nshort"[..];
        assert_eq!(read_object(&mut answers).unwrap().unwrap(), b"ab\n");
        assert_eq!(read_object(&mut answers).unwrap(), None);
        assert_eq!(read_object(&mut answers).unwrap(), None, "a folder");
        assert!(read_object(&mut answers).is_err());
        assert!(read_object(&mut &b""[..]).is_err());
    }

    #[test]
    fn only_whole_object_names_are_passed_on() {
        assert!(is_object_name(&"0a".repeat(20)) && is_object_name(&"0a".repeat(32)));
        for text in ["", "HEAD", "--all", &"g".repeat(40), &"0".repeat(39)] {
            assert!(!is_object_name(text), "{text}");
        }
    }
}
