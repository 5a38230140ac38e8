//! `stepmark sync apply` and whoever loses patience.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value as Json, json};

use crate::harness::{Background, Sandbox};

/// A GitHub without issues, which makes those that it is asked for.
struct GitHub {
    port: u16,
    made: Arc<AtomicU64>,
    /// True while creations get no answer.
    holds: Arc<AtomicBool>,
}

impl GitHub {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, made) = (listener.local_addr().unwrap().port(), Arc::new(AtomicU64::new(0)));
        let (counter, holds) = (Arc::clone(&made), Arc::<AtomicBool>::default());
        let held = Arc::clone(&holds);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { continue };
                let (line, body) = read(&mut stream);
                let answer = match line.split(' ').next() {
                    Some("POST") => {
                        let made = issue(counter.fetch_add(1, Ordering::SeqCst) + 1, &body);
                        while held.load(Ordering::SeqCst) {
                            thread::sleep(Duration::from_millis(5));
                        }
                        made
                    }
                    _ if line.contains("/issues") => json!([]),
                    _ => json!({"id": 1, "node_id": "R_1"}),
                };
                let (status, text) = (if answer["number"].is_u64() { 201 } else { 200 }, answer.to_string());
                let head = format!(
                    "HTTP/1.1 {status} OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
                );
                // A client that is gone was heard all the same.
                let _gone = write!(stream, "{head}Content-Length: {}\r\n\r\n{text}", text.len());
            }
        });
        Self { port, made, holds }
    }

    /// A project whose tickets are here, with the artifacts `names`.
    fn project(&self, names: &[&str], keys: &str) -> Sandbox {
        let sandbox = Sandbox::empty();
        let host = format!("http://127.0.0.1:{}", self.port);
        let binding = format!("credentials: {{{host}: {{variable: TOKEN, targets: [o/r]}}}}\n");
        sandbox.write_user_configuration(&binding);
        let keys = format!("    base_url: {host}\n    repository: o/r\n{keys}");
        sandbox.write(".stepmark/config.yaml", format!("project_id: demo\ntrackers:\n  github:\n{keys}"));
        for name in names {
            let text = format!("---\nid: {name}\nstatus: draft\n---\n\n# Of {name}\n");
            sandbox.write(&format!("docs/{name}.md"), text);
        }
        sandbox
    }

    /// An `apply` whose request to make a ticket has no answer yet.
    fn at_work(&self, sandbox: &Sandbox, name: &str) -> Background {
        self.holds.store(true, Ordering::SeqCst);
        let made = self.made.load(Ordering::SeqCst);
        let mut apply = Background::start_telling(sandbox, &mut apply(sandbox), name);
        apply.wait_until("an issue", |_| self.made.load(Ordering::SeqCst) > made);
        apply
    }

    fn goes_on(&self) {
        self.holds.store(false, Ordering::SeqCst);
    }
}

/// The first line and the body of a request.
fn read(stream: &mut TcpStream) -> (String, Json) {
    let (mut text, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let whole = String::from_utf8_lossy(&text).into_owned();
        if let Some((head, body)) = whole.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                let line = head.lines().next().unwrap_or_default().to_owned();
                return (line, serde_json::from_str(body).unwrap_or_default());
            }
        }
        match stream.read(&mut buffer) {
            Ok(count @ 1..) => text.extend_from_slice(&buffer[..count]),
            _ => return (whole, Json::Null),
        }
    }
}

fn issue(number: u64, wanted: &Json) -> Json {
    json!({
        "number": number, "id": number, "node_id": format!("I_{number}"), "html_url": format!("http://h/{number}"),
        "title": wanted["title"], "body": wanted["body"], "labels": wanted["labels"], "state": "open",
        "state_reason": null, "created_at": "2026-11-22T12:00:00Z", "comments": 0,
    })
}

/// `stepmark sync apply`; no other process has its name.
fn apply(sandbox: &Sandbox) -> Command {
    let mut command = sandbox.command(&["sync", "apply"]);
    command.env("TOKEN", "ghp_SECRET").env_remove("STEPMARK_TEST_ID");
    command
}

#[cfg(unix)]
#[test]
fn who_interrupts_is_told_what_was_done() {
    let github = GitHub::start();
    let keys = "    pace: {credential: {write_interval_ms: 600000}}\n";
    let sandbox = github.project(&["a", "b", "c"], keys);
    let mut apply = Background::start_telling(&sandbox, &mut apply(&sandbox), "apply");
    apply.wait_until("an issue", |_| github.made.load(Ordering::SeqCst) == 1);
    apply.signal("INT");
    assert_eq!(apply.end(), 1, "{}", apply.log());
    let expected = "create          done      docs/a.md #1\n\
                    interrupted: 2 actions not begun; `stepmark sync apply` goes on with what is left\n";
    assert!(apply.log().contains(expected), "{}", apply.log());
    assert_eq!(apply.lines_with("waits until"), 1, "{}", apply.log());
    let status = sandbox.stepmark(&["sync", "status"]);
    assert!(status.stdout.starts_with("github: 1 ticket, 2 to create\n"), "nothing is in doubt: {status}");
}

/// Nothing in a project that was made a moment ago is waited for.
const AT_ONCE: &str =
    "    look_up_wait_seconds: 1\n    pace: {credential: {write_interval_ms: 0, limits: []}}\n";

/// Runs `apply`, and makes sure that it did not wait for a lease of two minutes.
#[track_caller]
fn goes_on_at_once(sandbox: &Sandbox) {
    let begun = Instant::now();
    let run = sandbox.run(&mut apply(sandbox));
    assert!(run.code == 0 && !run.stderr.contains("works on"), "{run}");
    assert!(begun.elapsed() < Duration::from_secs(60), "it waited {:?}: {run}", begun.elapsed());
}

#[cfg(unix)]
#[test]
fn nobody_waits_for_a_process_that_somebody_insisted_to_end() {
    let github = GitHub::start();
    let sandbox = github.project(&["a"], AT_ONCE);
    let mut first = github.at_work(&sandbox, "first");
    first.signal("INT");
    thread::sleep(Duration::from_millis(500));
    first.signal("INT");
    assert_eq!(first.end(), 5, "{}", first.log());
    github.goes_on();
    // A retry does not wait either, and stands in nobody's way.
    let retried = sandbox.stepmark(&["sync", "retry", "docs/a.md"]);
    assert_eq!(retried.code, 0, "{retried}");
    goes_on_at_once(&sandbox);
}

#[test]
fn nobody_waits_for_a_process_that_could_not_write_its_ledger() {
    let github = GitHub::start();
    let sandbox = github.project(&["a"], AT_ONCE);
    let mut first = github.at_work(&sandbox, "first");
    let ledger = rusqlite::Connection::open(sandbox.place(".stepmark/local/sync.db")).unwrap();
    let fault =
        "CREATE TRIGGER fault BEFORE INSERT ON leases BEGIN SELECT RAISE(ABORT, 'the disk is full'); END";
    ledger.execute_batch(fault).unwrap();
    github.goes_on();
    assert_ne!(first.end(), 0, "{}", first.log());
    assert!(first.log().contains("the disk is full"), "{}", first.log());
    ledger.execute_batch("DROP TRIGGER fault").unwrap();
    goes_on_at_once(&sandbox);
}

#[cfg(unix)]
#[test]
fn who_waits_is_told_for_whom_and_goes_on_when_that_one_ends() {
    let github = GitHub::start();
    let sandbox = github.project(&["a"], AT_ONCE);
    let mut first = github.at_work(&sandbox, "first");
    let mut second = Background::start_telling(&sandbox, &mut apply(&sandbox), "second");
    let told = format!("`stepmark, process {} (", first.id());
    second.wait_for_lines(&told, 1);
    assert!(second.log().contains("works on `github` until 2") && second.log().contains("end that process"));
    first.signal("KILL");
    first.end();
    github.goes_on();
    assert_eq!((second.end(), second.lines_with(&told)), (0, 1), "{}", second.log());
}
