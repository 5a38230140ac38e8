//! Starting git: always as a program and in the same way, so that its filters, worktrees, alternates and
//! `GIT_INDEX_FILE` work as users expect (docs/adr/0010-reading-git.md).
#![expect(
    clippy::disallowed_methods,
    reason = "an edge module: git is started here, with what git told this process"
)]

use std::{
    env,
    path::Path,
    process::{Child, Command, Stdio},
};
#[cfg(feature = "write")]
use std::{
    io::{self, ErrorKind, Read as _},
    process::ExitStatus,
    sync::mpsc,
    thread,
    time::Duration,
};

use crate::disk::root::Root;

/// Override the repository's configuration: git starts no program named there, and ignores bare repositories
/// among a clone's files. Filters have no such switch, so no command that runs them is used.
const SETTINGS: [&str; 3] =
    ["core.fsmonitor=false", "safe.bareRepository=explicit", "log.showSignature=false"];

#[cfg(not(windows))]
const NO_HOOKS: &str = "core.hooksPath=/dev/null";
#[cfg(windows)]
const NO_HOOKS: &str = "core.hooksPath=NUL";

/// Git in `folder`: takes no optional locks, starts no other program, fetches nothing, never prompts. Its
/// streams are null until set.
pub(crate) fn git(folder: &Path, arguments: &[&str]) -> Command {
    start(folder, &["-c", NO_HOOKS], arguments)
}

/// For `rev-parse`, which runs no hooks but tells where they are.
#[cfg(feature = "write")]
pub(crate) fn git_rev_parse(folder: &Path, arguments: &[&str]) -> Command {
    start(folder, &["rev-parse"], arguments)
}

/// Held with a lock that others wait for, so that this thread does not start git, which is slow. Checked in
/// debug builds and tests.
#[cfg(feature = "write")]
#[derive(Debug)]
pub(crate) struct WithoutGit(());

#[cfg(all(debug_assertions, feature = "write"))]
thread_local! {
    /// Such locks held by this thread.
    static LOCKS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(feature = "write")]
impl WithoutGit {
    pub(crate) fn begin() -> Self {
        #[cfg(debug_assertions)]
        LOCKS.set(LOCKS.get() + 1);
        Self(())
    }
}

#[cfg(all(debug_assertions, feature = "write"))]
impl Drop for WithoutGit {
    fn drop(&mut self) {
        LOCKS.set(LOCKS.get().saturating_sub(1));
    }
}

fn start(folder: &Path, before: &[&str], arguments: &[&str]) -> Command {
    #[cfg(all(debug_assertions, feature = "write"))]
    debug_assert_eq!(LOCKS.get(), 0, "git {arguments:?} is started while a lock is held");
    let mut command = Command::new("git");
    command.args(["--no-pager", "--no-optional-locks", "--literal-pathspecs"]);
    command.args(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
    command
        .args(before)
        .args(arguments)
        .current_dir(folder)
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    forbid_fetching(&mut command);
    pass_on_repository(&mut command, folder);
    command
}

/// In a partial clone git would fetch missing objects, with programs from the repository's configuration
/// (`core.sshCommand`, `credential.helper`, `ext::`). `GIT_NO_LAZY_FETCH=0` in the environment, which no
/// repository writes, allows it.
fn forbid_fetching(command: &mut Command) {
    if env::var_os("GIT_NO_LAZY_FETCH").is_none() {
        // The second is for git before 2.45.
        command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "none");
    }
}

/// Passes on the repository of a hook. Its paths are relative to the hook's folder, so they become absolute.
/// With `GIT_DIR` but without `GIT_WORK_TREE`, git would take any folder for the top of the work tree
/// (git(1), "GIT_DIR").
fn pass_on_repository(command: &mut Command, folder: &Path) {
    let (Some(_), Ok(current)) = (env::var_os("GIT_DIR"), env::current_dir()) else { return };
    for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_WORK_TREE"] {
        if let Some(value) = env::var_os(name) {
            command.env(name, current.join(value));
        }
    }
    if env::var_os("GIT_WORK_TREE").is_none()
        && let Some(top) = folder.ancestors().find(|folder| folder.join(".git").exists())
    {
        command.env("GIT_WORK_TREE", top);
    }
}

/// Git is killed after this: it may wait forever.
#[cfg(feature = "write")]
const PATIENCE: Duration = Duration::from_secs(120);

/// `Command::output` panics if a pipe cannot be read.
#[cfg(feature = "write")]
pub(crate) fn answer(command: &mut Command) -> io::Result<(ExitStatus, Vec<u8>)> {
    answer_within(command, PATIENCE)
}

#[cfg(feature = "write")]
fn answer_within(command: &mut Command, patience: Duration) -> io::Result<(ExitStatus, Vec<u8>)> {
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let stdout = child.stdout.take();
    let (sender, read) = mpsc::channel();
    thread::spawn(move || {
        let mut printed = Vec::new();
        let read = stdout.map_or(Ok(0), |mut stdout| stdout.read_to_end(&mut printed));
        let _nobody_waits = sender.send(read.map(|_| printed));
    });
    let printed = read.recv_timeout(patience);
    if printed.is_err() {
        child.kill()?;
    }
    let status = child.wait()?;
    Ok((status, printed.map_err(|_| io::Error::new(ErrorKind::TimedOut, "git does not answer"))??))
}

#[cfg(feature = "write")]
pub(crate) fn printed(root: &Root, arguments: &[&str]) -> Option<String> {
    let (status, printed) = answer(&mut git(root.path(), arguments)).ok()?;
    status.success().then(|| String::from_utf8_lossy(&printed).into_owned())
}

/// Empty for exit status 1, as of `grep`. `None`: failed.
#[cfg(feature = "write")]
pub(crate) fn printed_or_empty(root: &Root, arguments: &[&str]) -> Option<String> {
    let (status, printed) = answer(&mut git(root.path(), arguments)).ok()?;
    let is_answer = status.success() || status.code() == Some(1);
    is_answer.then(|| String::from_utf8_lossy(&printed).into_owned())
}

pub(crate) fn is_repository(root: &Root) -> bool {
    root.path().ancestors().any(|folder| folder.join(".git").exists())
}

/// True for a full object name, which cannot be an option.
pub(crate) fn is_object_name(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Kills a process that only reads.
pub(crate) fn end(child: &mut Child) {
    // It may have ended already.
    let _ended = child.kill();
    let _reaped = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(all(unix, feature = "write"))]
    #[test]
    fn a_program_that_does_not_answer_is_ended() {
        let mut silent = Command::new("/bin/sh");
        let answered = answer_within(silent.args(["-c", "exec sleep 60"]), Duration::from_millis(100));
        assert_eq!(answered.unwrap_err().kind(), ErrorKind::TimedOut);
        let mut quick = Command::new("/bin/sh");
        let (status, printed) = answer_within(quick.args(["-c", "echo yes; exit 3"]), PATIENCE).unwrap();
        assert_eq!((status.code(), &printed[..]), (Some(3), &b"yes\n"[..]));
    }

    #[test]
    fn only_whole_object_names_are_passed_on() {
        assert!(is_object_name(&"0a".repeat(20)) && is_object_name(&"0a".repeat(32)));
        for text in ["", "HEAD", "--all", &"g".repeat(40), &"0".repeat(39)] {
            assert!(!is_object_name(text), "{text}");
        }
    }
}
