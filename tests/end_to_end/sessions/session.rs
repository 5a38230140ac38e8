//! `stepmark session`, and who acts.

use insta::assert_snapshot;

use crate::harness::{
    Run, Sandbox,
    demo::{ARCHITECTURE, PRD},
};

const TIME: &str = "2026-11-22T10:15:00Z";
const ID: &str = "s-20261122-1015-000001";

/// Runs the program at a fixed time, as Ada, in a session if one is given.
fn at(sandbox: &Sandbox, session: Option<&str>, arguments: &[&str]) -> Run {
    let mut command = sandbox.command(arguments);
    command.env("STEPMARK_TEST_TIME", TIME).env("USER", "ada");
    if let Some(session) = session {
        command.env("STEPMARK_SESSION", session);
    }
    sandbox.run(&mut command)
}

#[test]
fn a_session_is_begun_worked_in_and_ended() {
    let demo = Sandbox::demo();
    assert_snapshot!(at(&demo, None, &["session", "list"]), @r"
    exit 0
    ── stdout
    no session yet: `stepmark session start` begins one
    ");
    assert_snapshot!(at(&demo, None, &["session", "start", "--name", "Night"]), @r"
    exit 0
    ── stdout
    # session s-20261122-1015-000001: Night
    export STEPMARK_SESSION=s-20261122-1015-000001
    ");
    assert_snapshot!(at(&demo, None, &["session", "list"]), @r"
    exit 0
    ── stdout
    SESSION                 NAME   STATE        BEGAN                 LAST EVENT                          EVENTS  ACTOR
    s-20261122-1015-000001  Night  interrupted  2026-11-22T10:15:00Z  2026-11-22T10:15:00Z session-start  1       human:ada
    ");
    assert_eq!(at(&demo, Some(ID), &["complete", PRD, "4"]).code, 0);
    let shown = at(&demo, Some(ID), &["session", "show", "--json"]).json("stepmark.session/1");
    assert_eq!((&shown["state"], &shown["events"]), (&"current".into(), &3.into()));
    let kinds: Vec<_> = shown["event_list"].as_array().unwrap().iter().map(|event| &event["kind"]).collect();
    assert_eq!(kinds, ["session-start", "first-seen", "change"]);
    assert_snapshot!(at(&demo, Some(ID), &["session", "end"]), @r"
    exit 0
    ── stdout
    session s-20261122-1015-000001 has ended; its part of the journal is in `.stepmark/journal`
    ");
    let segments = demo.tree().files_named(ID);
    assert_eq!(segments.len(), 2, "one segment, which is sealed, and its copy: {segments:?}");
    assert!(
        segments[0].starts_with(".stepmark/journal") && segments[1].starts_with(".stepmark/local/sealed")
    );
    assert_snapshot!(at(&demo, Some(ID), &["session", "end"]), @r"
    exit 1
    ── stderr
    error: the session `s-20261122-1015-000001` has ended already, at 2026-11-22T10:15:00Z
    ");
    let list = at(&demo, None, &["session", "list", "--json"]).json("stepmark.session/1");
    assert_eq!(list["sessions"][0]["state"], "ended");
}

#[test]
fn flags_come_before_the_environment() {
    let demo = Sandbox::demo();
    let run =
        at(&demo, Some("s-env"), &["complete", PRD, "4", "--session", "s-flag", "--actor", "agent:writer"]);
    assert_eq!(run.code, 0, "{run}");
    let shown = at(&demo, None, &["session", "show", "s-flag", "--json"]).json("stepmark.session/1");
    assert_eq!(shown["last_event"]["actor"], "agent:writer");
    assert_eq!((&shown["state"], &shown["name"]), (&"interrupted".into(), &serde_json::Value::Null));
    assert_eq!(at(&demo, None, &["session", "show", "s-env"]).code, 1);
}

#[test]
fn what_the_environment_says_must_make_sense() {
    let demo = Sandbox::demo();
    for (variable, value) in [
        ("STEPMARK_SESSION", "a/b"),
        ("STEPMARK_SESSION", "main"),
        ("STEPMARK_ACTOR", "writer"),
        ("STEPMARK_FENCE", "x"),
        ("STEPMARK_TEST_TIME", "noon"),
    ] {
        let mut command = demo.command(&["status"]);
        command.env(variable, value);
        let run = demo.changes_nothing(&mut command);
        assert_eq!(run.code, 2, "{variable}={value}: {run}");
        assert!(run.stderr.contains(variable), "{run}");
    }
    let mut command = demo.command(&["status"]);
    command.env("STEPMARK_ACTOR", "writer");
    assert_snapshot!(demo.run(&mut command), @r"
    exit 2
    ── stderr
    error: the environment variable STEPMARK_ACTOR cannot be used: `writer` names no actor: write KIND:NAME with the kind human, agent or tool, for instance `agent:writer`
      help: correct it, or take it away: unset STEPMARK_ACTOR
    ");
    assert_eq!(demo.reads_only(&["status", "--actor", "robot:x"]).code, 2);
    assert_eq!(demo.reads_only(&["status", "--session", "a b"]).code, 2);
}

#[test]
fn sessions_beside_each_other_do_not_mix() {
    let demo = Sandbox::demo();
    for (session, artifact, step) in [("s-one", PRD, "4"), ("s-two", ARCHITECTURE, "6"), ("s-one", PRD, "5")]
    {
        assert_eq!(at(&demo, Some(session), &["complete", artifact, step]).code, 0);
    }
    assert_eq!(at(&demo, Some("s-one"), &["session", "end"]).code, 0);
    let tree = demo.tree();
    let folder_of = |session: &str| tree.files_named(session)[0].parent().unwrap().to_owned();
    assert!(folder_of("s-one").ends_with(".stepmark/journal"));
    assert!(folder_of("s-two").ends_with(".stepmark/local/journal"));
    let answer = at(&demo, Some("s-two"), &["session", "list", "--json"]).json("stepmark.session/1");
    let states: Vec<_> = answer["sessions"].as_array().unwrap().iter().map(|one| &one["state"]).collect();
    assert_eq!(states.len(), 2);
    assert!(states.contains(&&"ended".into()) && states.contains(&&"current".into()), "{answer}");
    assert_eq!(demo.stepmark(&["session", "end"]).code, 2, "none is current");
}

/// Begins a session as Ada, and answers its id.
fn begun(demo: &Sandbox, more: &[&str]) -> String {
    let mut command = demo.command(&[&["session", "start", "--json"], more].concat());
    let run = demo.run(command.env("USER", "ada"));
    run.json("stepmark.session/1")["session"].as_str().unwrap().to_owned()
}

#[test]
fn the_actor_of_a_session_counts_for_its_commands() {
    let demo = Sandbox::demo();
    let id = begun(&demo, &["--actor", "agent:writer"]);
    let run = |arguments: &[&str]| {
        let mut command = demo.command(arguments);
        demo.run(command.env("STEPMARK_SESSION", &id).env("USER", "ada"))
    };
    assert_eq!(run(&["complete", PRD, "4"]).code, 0);
    let log = demo.stepmark(&["log", PRD]);
    assert!(log.stdout.contains("agent:writer") && !log.stdout.contains("human:ada"), "{log}");
    assert_eq!(run(&["complete", PRD, "5", "--actor", "human:eve"]).code, 0);
    let log = demo.stepmark(&["log", PRD]);
    assert!(log.stdout.contains("human:eve"), "whoever is named counts: {log}");
}

#[test]
fn in_a_container_the_machine_is_known_again() {
    let demo = Sandbox::demo();
    let run = |arguments: &[&str]| {
        let mut command = demo.command(arguments);
        demo.run(command.env("STEPMARK_TEST_HOST", "box"))
    };
    assert_eq!(run(&["gate", "lease", "take", PRD]).code, 0);
    assert_eq!(run(&["complete", PRD, "4"]).code, 0, "nobody is locked out by himself");
    let log = demo.stepmark(&["log", PRD]);
    assert!(log.stdout.contains("unknown@box"), "{log}");
}

#[test]
fn a_session_that_ends_gives_its_leases_back() {
    let demo = Sandbox::demo();
    let id = begun(&demo, &[]);
    let run = |arguments: &[&str], session: &str| {
        let mut command = demo.command(arguments);
        demo.run(command.env("STEPMARK_SESSION", session).env("USER", "ada"))
    };
    assert_eq!(run(&["gate", "lease", "take", PRD], &id).code, 0);
    assert_eq!(run(&["complete", PRD, "4"], "").code, 3, "it is held");
    assert_eq!(run(&["session", "end"], &id).code, 0);
    assert_eq!(run(&["complete", PRD, "4"], "").code, 0);
}

/// What ended is closed: an agent that did not hear of it is told, and changes nothing.
#[test]
fn an_ended_session_takes_no_writes() {
    let demo = Sandbox::demo();
    let session = begun(&demo, &[]);
    assert_eq!(at(&demo, Some(&session), &["complete", PRD, "4"]).code, 0);
    assert_eq!(at(&demo, Some(&session), &["session", "end"]).code, 0);
    let before = demo.read(PRD);
    for command in [
        &["complete", PRD, "5"][..],
        &["set", PRD, "title=x"],
        &["delegate", PRD, "--to", "writer"],
        &["exec", "--", "true"],
        &["gate", "check", PRD, "4", "--exclusive"],
        &["gate", "lease", "take", PRD],
    ] {
        let refused = at(&demo, Some(&session), command);
        assert_eq!(refused.code, 1, "{refused}");
        assert!(refused.stderr.contains(&format!("the session `{session}` has ended, at ")), "{refused}");
    }
    assert_eq!(demo.read(PRD), before);
    assert_eq!(at(&demo, Some(&session), &["next", PRD]).code, 0, "who only reads is not refused");
    assert_eq!(at(&demo, None, &["complete", PRD, "5"]).code, 0);
}

/// Seen from another shell a session runs as long as the process that began it, or that it was handed to.
#[cfg(target_os = "linux")]
#[test]
fn a_session_runs_as_long_as_its_process() {
    let demo = Sandbox::demo();
    let begin = |arguments: &[&str]| {
        let mut command = demo.command(arguments);
        command.env("STEPMARK_TEST_HOST", "lab");
        command
    };
    let run = demo.run(begin(&["session", "start", "--json"]).env_remove("STEPMARK_TEST_ID"));
    assert_eq!(run.code, 0, "{run}");
    let mut handed =
        begin(&["exec", "--", "/bin/sleep", "60"]).env_remove("STEPMARK_TEST_ID").spawn().unwrap();
    let states = |demo: &Sandbox| -> Vec<String> {
        let listed = demo.run(demo.command(&["session", "list", "--json"]).env("STEPMARK_TEST_HOST", "lab"));
        let sessions = listed.json("stepmark.session/1")["sessions"].clone();
        sessions.as_array().unwrap().iter().map(|own| own["state"].as_str().unwrap().to_owned()).collect()
    };
    // The test began the one, and the other is the program.
    while states(&demo).len() < 2 {
        std::thread::yield_now();
    }
    assert_eq!(states(&demo), ["running", "running"]);
    handed.kill().unwrap();
    handed.wait().unwrap();
    let mut left = states(&demo);
    left.sort();
    assert_eq!(left, ["interrupted", "running"]);
}

/// Agents start a shell for each command, and shells copy themselves for `$(…)`: neither is what a session
/// belongs to.
#[cfg(target_os = "linux")]
#[test]
fn a_session_outlives_the_shell_of_one_command() {
    for script in [
        "\"$0\" session start --json; true",
        "s=$(\"$0\" session start --json | { read -r line; true; }); true",
    ] {
        let demo = Sandbox::demo();
        let mut shell = std::process::Command::new("/bin/sh");
        let own = demo.command(&[]);
        shell.args(["-c", script]).arg(own.get_program()).current_dir(demo.root());
        shell.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.env("STEPMARK_TEST_HOST", "lab").env_remove("STEPMARK_TEST_ID");
        assert!(shell.output().unwrap().status.success());
        let listed = demo.run(demo.command(&["session", "list", "--json"]).env("STEPMARK_TEST_HOST", "lab"));
        assert_eq!(listed.json("stepmark.session/1")["sessions"][0]["state"], "running", "{script}");
    }
}
