//! `stepmark exec`
#![cfg(unix)]

use std::{path::PathBuf, process::Command};

use insta::assert_snapshot;

use crate::harness::{Run, Sandbox, demo::PRD, skip, tool};

/// `stepmark ARGUMENTS…` with this machine's search path, at a fixed time.
fn command(sandbox: &Sandbox, arguments: &[&str]) -> Command {
    let mut command = sandbox.command(arguments);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("STEPMARK_TEST_TIME", "2026-11-22T10:15:00Z");
    command
}

fn kinds(sandbox: &Sandbox, session: &str) -> Vec<String> {
    let shown = sandbox.stepmark(&["session", "show", session, "--json"]).json("stepmark.session/1");
    let events = shown["event_list"].as_array().unwrap();
    events.iter().map(|event| event["kind"].as_str().unwrap().to_owned()).collect()
}

const SESSION: &str = "s-20261122-1015-000001";

#[test]
fn the_program_takes_the_place_of_the_process() {
    let demo = Sandbox::demo();
    let script = "echo $STEPMARK_SESSION; echo $STEPMARK_ROOT; exit 7";
    assert_snapshot!(demo.run(&mut command(&demo, &["exec", "--", "sh", "-c", script])), @r"
    exit 7
    ── stdout
    s-20261122-1015-000001
    [ROOT]
    ");
    assert_eq!(kinds(&demo, SESSION), ["session-start", "hand-off"]);
    let mut child = command(&demo, &["exec", "--", "sh", "-c", "echo $$"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let id = child.id().to_string();
    let mut printed = String::new();
    std::io::Read::read_to_string(child.stdout.as_mut().unwrap(), &mut printed).unwrap();
    child.wait().unwrap();
    assert_eq!(printed.trim(), id, "the same process");
}

#[test]
fn a_real_program_finds_all_state_in_files() {
    let Some(python) = tool("python3", "a program that reads the state") else { return };
    let demo = Sandbox::demo();
    demo.stepmark(&["complete", PRD, "4"]);
    let script = "
import glob, json, os
root = os.environ['STEPMARK_ROOT']
text = open(os.path.join(root, '_bmad-output/planning-artifacts/prd.md')).read()
print([line.strip(\" -'\") for line in text.split('---')[1].splitlines() if line.startswith('  - ') and 'step' in line][-1])
lines = [json.loads(line) for name in glob.glob(os.path.join(root, '.stepmark/local/journal/*.jsonl')) for line in open(name)]
print(sorted(line['event']['kind'] for line in lines if 'event' in line))
";
    let python = python.to_str().unwrap();
    let run = demo.run(&mut command(&demo, &["exec", "--", python, "-c", script]));
    assert_snapshot!(run, @r"
    exit 0
    ── stdout
    step-04-journeys
    ['change', 'first-seen', 'hand-off', 'session-start']
    ");
}

#[test]
fn sessions_are_passed_on_or_left_out() {
    let demo = Sandbox::demo();
    let script = "echo ${STEPMARK_SESSION-none}";
    let mut attached = command(&demo, &["exec", "--", "sh", "-c", script]);
    assert_eq!(demo.run(attached.env("STEPMARK_SESSION", "s-mine")).stdout, "s-mine\n");
    assert_eq!(kinds(&demo, "s-mine"), ["hand-off"]);
    let mut left_out = command(&demo, &["exec", "--no-session", "--", "sh", "-c", script]);
    assert_eq!(demo.run(left_out.env("STEPMARK_SESSION", "s-mine")).stdout, "none\n");
    assert_eq!(kinds(&demo, "s-mine"), ["hand-off"], "the second belongs to none");
    assert_eq!(demo.tree().files_named("main-").len(), 1);
}

#[test]
fn says_why_it_could_not() {
    let demo = Sandbox::demo();
    assert_snapshot!(demo.run(&mut command(&demo, &["exec", "--", "no-such-program", "--secret=x"])), @r"
    exit 4
    ── stderr
    error: cannot become `no-such-program`: No such file or directory (os error 2)
      help: no such program is on the search path; all state is on the disk
    ");
    let journal = demo.tree().files_named(SESSION);
    let text = String::from_utf8(demo.read(journal[0].to_str().unwrap())).unwrap();
    assert!(text.contains("no-such-program") && !text.contains("secret"), "arguments are nobody's business");
    assert_eq!(demo.reads_only(&["exec"]).code, 2);
    assert_eq!(demo.reads_only(&["exec", "sh"]).code, 2);
}

/// Killed between the write of the hand-off and the new program: all that was acknowledged is there.
#[cfg(target_os = "linux")]
#[test]
fn killed_in_between_nothing_is_lost() {
    let test = "exec under kill";
    let Some(strace) = strace(test) else { return };
    let demo = Sandbox::demo();
    demo.stepmark(&["complete", PRD, "4"]);
    let before = demo.read(PRD);
    let mut killed = Command::new(strace);
    let log = demo.outside().join("strace.log");
    killed.args(["-f", "-qq", "-o"]).arg(&log);
    // The start of stepmark itself is no call that strace can meddle with: the first is the one that replaces
    // it.
    killed.args(["-e", "trace=execve", "-e", "inject=execve:signal=KILL:when=1"]);
    killed.arg(env!("CARGO_BIN_EXE_stepmark")).args([
        "exec",
        "--",
        "/bin/sh",
        "-c",
        "echo reached > reached",
    ]);
    demo.isolate(&mut killed);
    let run = Run::of(killed.env("STEPMARK_TEST_TIME", "2026-11-22T10:15:00Z"));
    assert_eq!(run.code, 128 + 9, "{run}");
    assert!(!demo.place("reached").exists(), "it was killed before");
    assert_eq!(demo.read(PRD), before);
    assert_eq!(kinds(&demo, SESSION), ["session-start", "hand-off"]);
    assert_eq!(demo.stepmark(&["doctor"]).code, 0);
    let answer = demo.stepmark(&["resume", PRD, "--json"]).json("stepmark.resume/2");
    assert_eq!(answer["next"][0]["id"], "step-05-domain");
}

#[cfg(target_os = "linux")]
fn strace(test: &str) -> Option<PathBuf> {
    let strace = tool("strace", test)?;
    let probe =
        Run::of(Command::new(&strace).args(["-o", "/dev/null", "-e", "trace=none", "/bin/sh", "-c", ":"]));
    if probe.code != 0 {
        skip(test, &format!("strace may trace nothing here: {}", probe.stderr.trim()));
        return None;
    }
    Some(strace)
}
