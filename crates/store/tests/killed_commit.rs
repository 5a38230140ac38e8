//! A commit of three files (one replaced, one made, one removed) killed with `kill -9` at every one of its
//! system calls, by `strace`: after the next opening for writing all three are done and told, or none is.
//!
//! This test is its own child: a process without threads makes the same calls in the same order every time.
#![expect(clippy::disallowed_methods, reason = "an edge: files are made and processes started here")]
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says what it did"
)]

use std::{
    env, fs,
    path::Path,
    process::{Command, ExitCode, Stdio},
};

use stepmark_model::{
    artifact::ProjectPath,
    journal::{EventDraft, Kind, Line},
};
use stepmark_store::commit::FileDecision;
use stepmark_store::workspace::Workspace;

const CHILD: &str = "STEPMARK_KILLED_COMMIT";
const FILES: [&str; 3] = ["docs/a.md", "docs/b.md", "docs/c.md"];
const OLD: &str = "---\nstepsCompleted: [1]\n---\n# Text\n";
const NEW: &str = "---\nstepsCompleted: [1, 2]\n---\n# Text\n";

fn main() -> ExitCode {
    if let Ok(project) = env::var(CHILD) {
        commit(Path::new(&project));
        return ExitCode::SUCCESS;
    }
    if !cfg!(target_os = "linux") || !traces() {
        println!("skipped: strace is not here, or may trace nothing");
        return ExitCode::SUCCESS;
    }
    let (mut killed, mut done) = (0, 0);
    for occurrence in 1.. {
        let project = tempfile::tempdir().unwrap();
        prepare(project.path());
        let inject = format!("inject=all:signal=KILL:when={occurrence}");
        let status = Command::new("strace")
            .args(["-f", "-qq", "-o", "/dev/null", "-e", &inject])
            .arg(env::current_exe().unwrap())
            .env(CHILD, project.path())
            .stdout(Stdio::null())
            .status()
            .unwrap();
        let is_whole = status.success();
        done += usize::from(judge(project.path(), occurrence));
        if is_whole {
            break;
        }
        killed += 1;
    }
    println!("killed at {killed} system calls: {done} times everything was done and told, else nothing");
    assert!(done > 5 && killed - done > 50, "the kills hit the commit on both sides");
    ExitCode::SUCCESS
}

fn traces() -> bool {
    let probe = Command::new("strace").args(["-o", "/dev/null", "-e", "trace=none", "/bin/true"]).output();
    probe.is_ok_and(|probe| probe.status.success())
}

fn prepare(project: &Path) {
    fs::create_dir_all(project.join("docs")).unwrap();
    for file in [FILES[0], FILES[2]] {
        fs::write(project.join(file), OLD).unwrap();
        // Long ago, so that nobody waits for an editor to finish.
        let file = fs::File::options().write(true).open(project.join(file)).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    }
}

fn commit(project: &Path) {
    let workspace = Workspace::open(project).unwrap();
    let paths = FILES.map(|path| ProjectPath::new(path).unwrap());
    let decisions = [FileDecision::Write(NEW.into()), FileDecision::Write(NEW.into()), FileDecision::Delete];
    let draft = |_: &ProjectPath| EventDraft::new(Kind::CHANGE);
    workspace.change_files(&paths, draft, |_| Ok(decisions.to_vec())).unwrap();
}

/// Opens the project for writing, and tells whether the commit was done; it must be whole, or not there at
/// all.
fn judge(project: &Path, occurrence: usize) -> bool {
    let before = FILES.map(|file| fs::read_to_string(project.join(file)).ok());
    for state in &before {
        assert!(
            state.as_deref().is_none_or(|text| text == OLD || text == NEW),
            "call {occurrence}: a torn file: {state:?}"
        );
    }
    let workspace = Workspace::open(project).unwrap();
    workspace.history().append(&[]).unwrap();
    let files = FILES.map(|file| fs::read_to_string(project.join(file)).ok());
    let files = files.each_ref().map(|file| file.as_deref());
    let changes = told(project).into_iter().filter(|kind| *kind == Kind::CHANGE).count();
    let names = fs::read_dir(project.join("docs")).unwrap().count();
    if files == [Some(NEW), Some(NEW), None] {
        assert_eq!((changes, names), (3, 2), "call {occurrence}: done, but not told");
        return true;
    }
    assert_eq!(files, [Some(OLD), None, Some(OLD)], "call {occurrence}: half of the commit");
    assert_eq!(changes, 0, "call {occurrence}: told, but not done");
    // What is left beside the files is removed by the next holder of their locks.
    commit(project);
    assert_eq!(fs::read_dir(project.join("docs")).unwrap().count(), 2, "call {occurrence}: a stray file");
    false
}

/// The kinds of all events, once each.
fn told(project: &Path) -> Vec<Kind> {
    let Ok(segments) = fs::read_dir(project.join(".stepmark/local/journal")) else { return Vec::new() };
    let mut kinds = Vec::new();
    for segment in segments {
        let bytes = fs::read(segment.unwrap().path()).unwrap();
        let lines = bytes.split(|byte| *byte == b'\n').skip(1).filter(|line| !line.is_empty());
        kinds.extend(
            lines.filter_map(|line| serde_json::from_slice::<Line>(line).ok()).map(|line| line.event.kind),
        );
    }
    kinds
}
