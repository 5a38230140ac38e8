//! Every system call that a change needs is made to fail once, by `strace`: the old bytes stay, or the new
//! ones are there whole; the answer says what happened; the next run works.
#![cfg(target_os = "linux")]

use std::{fs, path::PathBuf, process::Command};

use insta::assert_snapshot;

use crate::harness::{
    Run, Sandbox, skip,
    sprint::{LEDGER, ledger, path, story},
    tool,
};

/// The file that the subjects change, in a project without workflows: few system calls, so few runs.
const ARTIFACT: &str = "docs/prd.md";
const OLD: &str =
    "---\n# state\nstepsCompleted: ['step-01-init'] # in order\nlastStep: 'step-01-init'\n---\n# PRD\n";

/// A command that writes one file, and that file before and after.
struct Subject {
    arguments: &'static [&'static str],
    file: &'static str,
    old: Option<Vec<u8>>,
    new: Vec<u8>,
}

impl Subject {
    fn new(arguments: &'static [&'static str], file: &'static str) -> Self {
        let sandbox = project();
        let old = fs::read(sandbox.place(file)).ok();
        let run = sandbox.stepmark(arguments);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run}");
        let new = sandbox.read(file);
        assert_ne!(old.as_ref(), Some(&new));
        Self { arguments, file, old, new }
    }

    fn complete() -> Self {
        Self::new(&["complete", ARTIFACT, "step-02-discovery"], ARTIFACT)
    }
}

fn project() -> Sandbox {
    let sandbox = Sandbox::empty();
    sandbox.write(ARTIFACT, OLD);
    sandbox.write("docs/other.md", "---\nstatus: draft\n---\n");
    let hour = std::time::Duration::from_secs(3600);
    let artifact = fs::File::options().write(true).open(sandbox.place(ARTIFACT)).unwrap();
    artifact.set_modified(std::time::SystemTime::now() - hour).unwrap();
    sandbox
}

/// Which calls fail, with which error, at which of their occurrences.
#[derive(Clone, Copy, Debug)]
struct Fault<'a> {
    calls: &'a str,
    error: &'a str,
    occurrence: usize,
}

struct Strace(PathBuf);

impl Strace {
    /// `None`, and a line on stderr, where the machine has no means.
    fn find(test: &str) -> Option<Self> {
        let strace = tool("strace", test)?;
        let probe = Run::of(Command::new(&strace).args([
            "-o",
            "/dev/null",
            "-e",
            "trace=none",
            "/bin/sh",
            "-c",
            ":",
        ]));
        if probe.code != 0 {
            skip(test, &format!("strace may trace nothing here: {}", probe.stderr.trim()));
            return None;
        }
        Some(Self(strace))
    }

    /// Runs the program with `faults`, and tells whether any of them came to pass.
    fn run(&self, sandbox: &Sandbox, arguments: &[&str], faults: &[Fault<'_>]) -> (Run, bool) {
        let log = sandbox.outside().join("strace.log");
        let mut command = Command::new(&self.0);
        command.args(["-f", "-qq", "-o"]).arg(&log);
        let calls: Vec<&str> = faults.iter().map(|fault| fault.calls).collect();
        command.arg("-e").arg(format!("trace={}", calls.join(",")));
        for Fault { calls, error, occurrence } in faults {
            command.arg("-e").arg(format!("inject={calls}:error={error}:when={occurrence}"));
        }
        command.arg(env!("CARGO_BIN_EXE_stepmark")).args(arguments);
        sandbox.isolate(&mut command);
        let run = sandbox.run(&mut command);
        let happened = fs::read_to_string(&log).unwrap().contains("(INJECTED)");
        fs::remove_file(log).unwrap();
        (run, happened)
    }
}

/// Lets the first, then the second, … of `calls` fail in runs of their own, until there is none left; makes
/// sure that each leaves the file old or new, says so, and stops nobody. Returns how many runs failed with
/// exit 4.
fn every_occurrence(strace: &Strace, subject: &Subject, calls: &str, error: &str) -> usize {
    let mut refused = 0;
    for occurrence in 1.. {
        let fault = Fault { calls, error, occurrence };
        let sandbox = project();
        let (run, happened) = strace.run(&sandbox, subject.arguments, &[fault]);
        if !happened {
            assert_eq!(run.code, 0, "{run}");
            return refused;
        }
        assert!(occurrence < 200, "{calls} has no end");
        let is_refused = judge(&sandbox, subject, fault, &run);
        if is_refused {
            says_the_same_to_programs(strace, subject, fault);
        }
        refused += usize::from(is_refused);
    }
    unreachable!("the loop ends where no call is left to fail")
}

/// Whether the run failed; in any case nothing may be torn, hidden, or in the way of the next run.
fn judge(sandbox: &Sandbox, subject: &Subject, fault: Fault<'_>, run: &Run) -> bool {
    let found = fs::read(sandbox.place(subject.file)).ok();
    let is_new = found.as_ref() == Some(&subject.new);
    assert!(is_new || found == subject.old, "torn by {fault:?}: {:?} {run}", found.map(String::from_utf8));
    let never_started = run.code == 127 && run.stderr.contains("error while loading shared libraries");
    match run.code {
        0 => assert!(is_new, "acknowledged in spite of {fault:?}: {run}"),
        4 => {
            assert!(run.stderr.starts_with("error: "), "{fault:?}: {run}");
            assert!(run.stderr.contains("(os error "), "the cause of {fault:?}: {run}");
            let flushed = format!("`{}` has its new content", subject.file);
            let untold = format!("`{}` is changed, but the journal could not be written", subject.file);
            let uncleared = format!("`{}` is changed and history tells of it", subject.file);
            let says_new = [&flushed, &untold, &uncleared, "only the answer is lost"]
                .iter()
                .any(|words| run.stderr.contains(*words));
            // What is unknown the next run finishes, whatever it is asked for.
            let is_unknown = run.stderr.contains("so it is unknown which of its files are changed");
            if is_unknown {
                assert!(sandbox.stepmark(&["doctor", "--repair"]).code <= 1, "{fault:?}: {run}");
                assert_eq!(sandbox.read(subject.file), subject.new, "{fault:?}: {run}");
            } else {
                assert_eq!(says_new, is_new, "{fault:?}: {run}");
                // Nothing is done later that was said not to be done.
                assert!(sandbox.stepmark(&["doctor", "--repair"]).code <= 1, "{fault:?}: {run}");
                let later = fs::read(sandbox.place(subject.file)).ok();
                assert_eq!(later.as_ref() == Some(&subject.new), is_new, "{fault:?}: {run}");
            }
        }
        _ => assert!(never_started, "{fault:?}: {run}"),
    }
    let next = sandbox.stepmark(subject.arguments);
    assert_eq!((next.code, next.stderr.as_str()), (0, ""), "after {fault:?}: {next}");
    assert_eq!(sandbox.read(subject.file), subject.new, "after {fault:?}");
    if !is_new || run.code != 0 {
        let left = sandbox.tree().files_named(".stepmark-");
        assert!(left.is_empty() || is_new, "{left:?} after {fault:?}");
    }
    run.code == 4
}

/// The same fault again, whose error is JSON now.
fn says_the_same_to_programs(strace: &Strace, subject: &Subject, fault: Fault<'_>) {
    let sandbox = project();
    let (run, _) = strace.run(&sandbox, &[&["--json"], subject.arguments].concat(), &[fault]);
    if run.code == 0 {
        // It fell on a cache this time.
        return;
    }
    let error = run.json_error();
    let is_new = fs::read(sandbox.place(subject.file)).ok().as_ref() == Some(&subject.new);
    let is_about_it = error["error"].as_str().is_some_and(|message| message.contains(subject.file));
    match error["write_state"].as_str() {
        Some("written") if is_about_it => assert!(is_new, "{fault:?}: {run}"),
        Some("not_written") => assert!(!is_new, "{fault:?}: {run}"),
        Some(_) => {}
        // An answer that is lost, and what is read before anything is written.
        None => assert!(!is_new || run.stderr.contains("only the answer is lost"), "{fault:?}: {run}"),
    }
}

#[test]
fn a_disk_that_takes_no_bytes() {
    let Some(strace) = Strace::find("a_disk_that_takes_no_bytes") else { return };
    for error in ["ENOSPC", "EIO"] {
        // What makes git ignore the locks, the note in the lock file twice, the content, the redo record, the
        // event, and the answer. What the index of the journal cannot keep is no error.
        assert_eq!(every_occurrence(&strace, &Subject::complete(), "write", error), 7, "{error}");
    }
    assert!(every_occurrence(&strace, &Subject::complete(), "fsync,fdatasync", "EIO") >= 2);
}

#[test]
fn a_record_that_cannot_be_cleared_is_told_and_finished() {
    let Some(strace) = Strace::find("a_record_that_cannot_be_cleared") else { return };
    assert!(every_occurrence(&strace, &Subject::complete(), "ftruncate", "EIO") >= 1);
}

#[test]
fn names_that_cannot_be_given_or_taken() {
    let Some(strace) = Strace::find("names_that_cannot_be_given_or_taken") else { return };
    for error in ["EACCES", "EIO", "ENOSPC", "EROFS"] {
        let calls = "rename,renameat,renameat2";
        assert_eq!(every_occurrence(&strace, &Subject::complete(), calls, error), 1, "{error}");
    }
    every_occurrence(&strace, &Subject::complete(), "unlink,unlinkat", "EACCES");
    assert!(every_occurrence(&strace, &Subject::complete(), "mkdir,mkdirat", "EACCES") >= 2);
    assert_eq!(every_occurrence(&strace, &Subject::complete(), "flock", "ENOLCK"), 3);
}

#[test]
fn files_that_cannot_be_opened_or_read() {
    let Some(strace) = Strace::find("files_that_cannot_be_opened_or_read") else { return };
    assert!(every_occurrence(&strace, &Subject::complete(), "open,openat", "EACCES") > 3);
    assert!(every_occurrence(&strace, &Subject::complete(), "open,openat", "EMFILE") > 3);
    assert!(every_occurrence(&strace, &Subject::complete(), "read", "EIO") > 3);
}

#[test]
fn whole_files_are_made_whole_or_not_at_all() {
    let Some(strace) = Strace::find("whole_files_are_made_whole_or_not_at_all") else { return };
    let init = Subject::new(&["init", "--root", "."], ".stepmark/config.yaml");
    let manifest =
        Subject::new(&["manifest", "write", "--root", "."], ".stepmark/manifests/files-manifest.csv");
    for subject in [init, manifest] {
        // What a cache cannot keep is no error, and files of this very moment are not kept.
        assert!(every_occurrence(&strace, &subject, "write", "ENOSPC") >= 2);
        assert!(every_occurrence(&strace, &subject, "fsync,fdatasync", "EIO") > 2);
        assert!(every_occurrence(&strace, &subject, "link,linkat,rename,renameat,renameat2", "EIO") > 0);
    }
}

#[test]
fn a_file_system_that_exchanges_no_names() {
    let Some(strace) = Strace::find("a_file_system_that_exchanges_no_names") else { return };
    for error in ["EINVAL", "ENOSYS", "EPERM", "EOPNOTSUPP"] {
        let sandbox = project();
        let exchange = Fault { calls: "renameat2", error, occurrence: 1 };
        let (run, happened) = strace.run(&sandbox, Subject::complete().arguments, &[exchange]);
        assert!(happened);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "a plain rename does it: {run}");
        assert_eq!(sandbox.read(ARTIFACT), Subject::complete().new);
        assert_eq!(sandbox.tree().files_named(".stepmark-").len(), 0);

        let sandbox = project();
        let rename = Fault { calls: "rename,renameat", error: "EIO", occurrence: 1 };
        let (run, _) = strace.run(&sandbox, Subject::complete().arguments, &[exchange, rename]);
        assert!(judge(&sandbox, &Subject::complete(), rename, &run), "{run}");
    }
}

#[test]
fn the_answers_say_what_was_intended_and_why_it_failed() {
    let Some(strace) = Strace::find("the_answers_say_what_was_intended_and_why_it_failed") else { return };
    let answer = |calls, error, occurrence| {
        let (run, happened) =
            strace.run(&project(), Subject::complete().arguments, &[Fault { calls, error, occurrence }]);
        assert!(happened);
        run
    };
    assert_snapshot!(answer("write", "ENOSPC", 1), @r"
    exit 4
    ── stderr
    error: cannot lock `docs/prd.md`: its lock file `[ROOT]/.stepmark/local/locks/dd2990c9c673842d3b5019a6607bb35e.lock` cannot be opened for writing
      cause: cannot make the folder `[ROOT]/.stepmark/local/locks` for the state of this clone: allow writing there, and run the command again
      cause: No space left on device (os error 28)
    ");
    assert_snapshot!(answer("write", "ENOSPC", 3), @r"
    exit 4
    ── stderr
    error: cannot write the new content of `docs/prd.md` to a temporary file beside it; that file is as it was
      cause: No space left on device (os error 28)
    ");
    assert_snapshot!(answer("fsync", "EIO", 2), @r"
    exit 4
    ── stderr
    error: cannot flush the new content of `docs/prd.md` to the disk; that file is as it was
      cause: Input/output error (os error 5)
    ");
    assert_snapshot!(answer("renameat2", "EACCES", 1), @r"
    exit 4
    ── stderr
    error: cannot put the new content of `docs/prd.md` in place; that file is as it was
      cause: Permission denied (os error 13)
    ");
    assert_snapshot!(answer("fsync", "EIO", 3), @r"
    exit 4
    ── stderr
    error: `docs/prd.md` has its new content, but its folder could not be flushed: a loss of power may undo the change
      cause: Input/output error (os error 5)
    ");
    assert_snapshot!(answer("fdatasync", "EIO", 2), @r"
    exit 4
    ── stderr
    error: `docs/prd.md` is changed, but the journal could not be written: the next command that writes completes the history
      cause: Input/output error (os error 5)
    ");
    assert_snapshot!(answer("flock", "ENOLCK", 1), @r"
    exit 4
    ── stderr
    error: cannot lock `docs/prd.md`: the file system refuses; keep the project on a disk of this machine
      cause: No locks available (os error 37)
    ");
}

/// A story that moves, and the ledger that comes along in its commit.
struct Move {
    sandbox: Sandbox,
    story: String,
}

impl Move {
    const WORDS: [&str; 2] = ["in-progress", "review"];

    fn new() -> Self {
        let (sandbox, story) = (Sandbox::empty(), path("1-1-a"));
        sandbox.write(&story, Self::story(0));
        sandbox.write(LEDGER, Self::ledger(0));
        Self { sandbox, story }
    }

    fn story(state: usize) -> String {
        story("1-1-a", Some(Self::WORDS[state]), Some(Self::WORDS[state]))
    }

    fn ledger(state: usize) -> String {
        ledger(&[("epic-1", "in-progress"), ("1-1-a", Self::WORDS[state])])
    }

    fn arguments(&self) -> [&str; 3] {
        ["transition", &self.story, Self::WORDS[1]]
    }

    /// Whether story and ledger are the new ones; anything but old or new is torn.
    fn states(&self) -> [bool; 2] {
        let state = |file: &str, of: fn(usize) -> String| {
            let found = String::from_utf8(self.sandbox.read(file)).unwrap();
            let state = [0, 1].into_iter().find(|state| found == of(*state));
            state.unwrap_or_else(|| panic!("{file} is torn: {found}")) == 1
        };
        [state(&self.story, Self::story), state(LEDGER, Self::ledger)]
    }
}

#[test]
fn a_story_and_its_ledger_end_up_the_same_whatever_fails() {
    let Some(strace) = Strace::find("a_story_and_its_ledger_end_up_the_same_whatever_fails") else { return };
    let (mut refused, mut left) = (0, 0);
    for (calls, error) in [
        ("write", "ENOSPC"),
        ("fsync,fdatasync", "EIO"),
        ("rename,renameat,renameat2", "EIO"),
        ("open,openat", "EACCES"),
        ("flock", "ENOLCK"),
    ] {
        for occurrence in 1.. {
            let moved = Move::new();
            let fault = Fault { calls, error, occurrence };
            let (run, happened) = strace.run(&moved.sandbox, &moved.arguments(), &[fault]);
            if !happened {
                break;
            }
            assert!(occurrence < 300, "{calls} has no end");
            let [story_is_new, ledger_is_new] = moved.states();
            let warns = run.stderr.contains("a ledger stays behind");
            match run.code {
                0 => assert!(story_is_new && (ledger_is_new || warns), "hidden by {fault:?}: {run}"),
                4 => assert!(run.stderr.contains("(os error "), "the cause of {fault:?}: {run}"),
                _ => assert_eq!(run.code, 127, "{fault:?}: {run}"),
            }
            refused += usize::from(run.code == 4);
            left += usize::from(warns && !ledger_is_new);
            let next = moved.sandbox.stepmark(&moved.arguments());
            assert_eq!((next.code, next.stderr.as_str()), (0, ""), "after {fault:?}: {next}");
            let projected = moved.sandbox.stepmark(&["project", "--ledgers"]);
            assert_eq!((projected.code, projected.stderr.as_str()), (0, ""), "after {fault:?}: {projected}");
            assert_eq!(moved.states(), [true, true], "after {fault:?}");
        }
    }
    assert!(refused > 5 && left > 2, "{refused} refused, {left} without their ledger");
}

#[test]
fn tickets_whose_flush_failed_are_looked_up_and_not_doubled() {
    let Some(strace) = Strace::find("tickets_whose_flush_failed_are_looked_up_and_not_doubled") else {
        return;
    };
    let tracked = || {
        let sandbox = project();
        sandbox.write(
            ".stepmark/config.yaml",
            "project_id: demo\ntrackers: {file: {path: out/tickets.jsonl}}\n",
        );
        sandbox.write("docs/a.md", "---\nid: A\nstatus: draft\n---\n# Alpha\n");
        sandbox.write("docs/b.md", "---\nid: B\nstatus: draft\n---\n# Beta\n");
        sandbox
    };
    let kinds = |sandbox: &Sandbox| -> Vec<String> {
        let bytes = fs::read(sandbox.place("out/tickets.jsonl")).unwrap_or_default();
        let lines = String::from_utf8(bytes).unwrap();
        let kind = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["done"].to_string();
        lines.lines().map(kind).collect()
    };
    let mut in_doubt = 0;
    for (calls, error) in [("fsync,fdatasync", "EIO"), ("write", "ENOSPC")] {
        for occurrence in 1.. {
            let sandbox = tracked();
            let (run, happened) =
                strace.run(&sandbox, &["sync", "apply"], &[Fault { calls, error, occurrence }]);
            if !happened {
                break;
            }
            assert!(occurrence < 200, "{calls} has no end");
            in_doubt += usize::from(run.stdout.contains("in-doubt"));
            // Later than any wait for the next try.
            let mut again = sandbox.command(&["sync", "apply"]);
            let next = sandbox.run(again.env("STEPMARK_TEST_TIME", "2099-01-01T00:00:00Z"));
            assert_eq!(next.code, 0, "after {calls} {occurrence}: {run} {next}");
            assert_eq!(kinds(&sandbox), ["\"created\""; 2], "{calls} {occurrence}: {run} {next}");
        }
    }
    assert!(in_doubt > 0, "a flush that failed leaves a doubt");
}

#[test]
fn a_call_that_a_signal_interrupts_is_made_again() {
    let Some(strace) = Strace::find("a_call_that_a_signal_interrupts_is_made_again") else { return };
    // A rename is not: when it was interrupted, nobody knows whether it was done.
    for calls in ["flock", "fsync,fdatasync", "ftruncate", "open,openat,openat2", "read", "write"] {
        assert_eq!(every_occurrence(&strace, &Subject::complete(), calls, "EINTR"), 0, "{calls}");
    }
}
