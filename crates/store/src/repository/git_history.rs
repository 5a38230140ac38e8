//! Facts from git about commits and earlier versions of a file, within a time limit.

use std::{
    io::{self, BufRead, BufReader, Write},
    process::{ChildStdin, ChildStdout, Stdio},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use jiff::Timestamp;

use crate::disk::root::Root;
pub(crate) use crate::git::process::is_repository;
use crate::git::{
    process::end, process::git, process::is_object_name, version::Object, version::read_object,
};
use stepmark_model::artifact::ProjectPath;

/// The versions of a file to search: older damage is where nobody ever looked.
const VERSIONS: &str = "1000";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ancestry {
    Ancestor,
    Stranger,
    Unknown(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Version {
    pub(crate) commit: String,
    pub(crate) at: Timestamp,
    pub(crate) bytes: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VersionSearch {
    pub(crate) found: Option<Version>,
    pub(crate) looked_at: usize,
    pub(crate) is_cut_off: bool,
}

/// `None` outside of git, before the first commit, or if git fails.
#[cfg(feature = "write")]
pub(crate) fn head_commit(root: &Root) -> Option<String> {
    if !is_repository(root) {
        return None;
    }
    let commit = crate::git::process::printed(root, &["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])?
        .trim()
        .to_owned();
    is_object_name(&commit).then_some(commit)
}

/// Is `commit` in HEAD's history?
pub(crate) fn ancestry(root: &Root, commit: &str) -> Ancestry {
    if !is_object_name(commit) {
        return Ancestry::Unknown(format!("`{commit}` is no name of a commit"));
    }
    if !is_repository(root) {
        return Ancestry::Unknown("the project is in no git repository".to_owned());
    }
    match git(root.path(), &["merge-base", "--is-ancestor", commit, "HEAD"]).status() {
        Ok(status) if status.success() => Ancestry::Ancestor,
        Ok(status) if status.code() == Some(1) => Ancestry::Stranger,
        Ok(_) => Ancestry::Unknown("git does not know it, or nothing is committed".to_owned()),
        Err(error) => Ancestry::Unknown(format!("git cannot be started: {error}")),
    }
}

pub(crate) fn newest_version(
    root: &Root,
    path: &ProjectPath,
    limit: Duration,
    is_wanted: impl Fn(&[u8]) -> bool,
) -> io::Result<VersionSearch> {
    let log_arguments = ["log", "--format=%H %ct", "-n", VERSIONS, "HEAD", "--", path.as_str()];
    let mut log = git(root.path(), &log_arguments).stdout(Stdio::piped()).spawn()?;
    let mut objects =
        match git(root.path(), &["cat-file", "--batch"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()
        {
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
            // Even if not all was read, the rest ends here.
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

/// Searches versions until one is wanted, or the pipe ends.
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
        if let (Object::Blob(bytes), Some(at)) = (answer, at)
            && is_wanted(&bytes)
        {
            return (Some(Version { commit: commit.to_owned(), at, bytes }), looked_at);
        }
    }
    (None, looked_at)
}
