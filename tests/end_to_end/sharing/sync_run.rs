//! `stepmark sync run`: a process beside the test. Nothing is proven by waiting for a while: each test waits
//! for what must happen.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::Value as Json;

use crate::harness::{Background, Sandbox};

const TICKETS: &str = "out/tickets.jsonl";

/// Settings under which only what is watched for can be the cause of a pass.
const NO_ROUNDS: &str = "    run: {pass_seconds: 86400, quiet_ms: 50}\n";

fn project(keys: &str) -> Sandbox {
    let sandbox = Sandbox::empty();
    configure(&sandbox, keys);
    sandbox.write("docs/a.md", "---\nid: A\nstatus: draft\n---\n\n# Alpha\n");
    sandbox
}

fn configure(sandbox: &Sandbox, keys: &str) {
    let text = format!("project_id: demo\ntrackers:\n  file:\n    path: {TICKETS}\n{keys}");
    sandbox.write(".stepmark/config.yaml", text);
}

fn command(sandbox: &Sandbox, arguments: &[&str]) -> Command {
    sandbox.command(&[&["sync", "run"], arguments].concat())
}

fn start(sandbox: &Sandbox, name: &str, arguments: &[&str]) -> Background {
    Background::start(sandbox, &mut command(sandbox, arguments), name)
}

/// The lines of the tracker's file.
fn tickets(sandbox: &Sandbox) -> Vec<Json> {
    let text = fs::read_to_string(sandbox.place(TICKETS)).unwrap_or_default();
    // The last line may be half written.
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn wait_for_tickets(sandbox: &Sandbox, run: &mut Background, count: usize) {
    run.wait_until(&format!("{count} lines of tickets"), |_| tickets(sandbox).len() >= count);
}

#[test]
fn tickets_follow_edits_until_it_is_told_to_end() {
    let sandbox = project(NO_ROUNDS);
    let mut run = start(&sandbox, "run", &[]);
    wait_for_tickets(&sandbox, &mut run, 1);
    // By stepmark.
    assert_eq!(sandbox.stepmark(&["set", "docs/a.md", "status=review"]).code, 0);
    wait_for_tickets(&sandbox, &mut run, 2);
    // By an editor that writes another file and puts it in the place of the first.
    sandbox.write("docs/a.md~", "---\nid: A\nstatus: done\n---\n\n# Alpha\n");
    fs::rename(sandbox.place("docs/a.md~"), sandbox.place("docs/a.md")).unwrap();
    wait_for_tickets(&sandbox, &mut run, 3);
    // In a folder that was not there.
    sandbox.write("docs/new/deep/b.md", "---\nid: B\nstatus: draft\n---\n\n# Beta\n");
    wait_for_tickets(&sandbox, &mut run, 4);
    // In that folder, once more: it is watched now.
    sandbox.write("docs/new/deep/b.md", "---\nid: B\nstatus: done\n---\n\n# Beta\n");
    wait_for_tickets(&sandbox, &mut run, 5);
    let done: Vec<Json> = tickets(&sandbox).iter().map(|line| line["done"].clone()).collect();
    assert_eq!(done, ["created", "updated", "updated", "created", "updated"]);
    // Both are named, in one line.
    sandbox.write("docs/copy.md", sandbox.read("docs/a.md"));
    run.wait_for_lines("no ticket follows it", 1);
    assert!(
        run.lines_with("artifact=\"docs/a.md, docs/copy.md\"") == 1 && !run.log().contains("demo/id"),
        "{}",
        run.log()
    );
    run.signal("TERM");
    assert_eq!(run.end(), 0, "{}", run.log());
    assert_eq!((run.lines_with("leading"), run.lines_with("stopped")), (1, 1), "{}", run.log());
    let status = sandbox.stepmark(&["sync", "status"]);
    assert!(!status.stdout.contains("leader"), "the lease was given back: {status}");
}

#[test]
fn what_is_not_watched_is_found_by_the_next_round() {
    let sandbox = project("    run: {pass_seconds: 1}\n");
    // The file behind a link stands where nothing is watched.
    sandbox.write(".stepmark/local/linked.md", "---\nid: L\nstatus: draft\n---\n\n# Linked\n");
    std::os::unix::fs::symlink("../.stepmark/local/linked.md", sandbox.place("docs/linked.md")).unwrap();
    let mut run = start(&sandbox, "run", &[]);
    wait_for_tickets(&sandbox, &mut run, 2);
    sandbox.write(".stepmark/local/linked.md", "---\nid: L\nstatus: done\n---\n\n# Linked\n");
    wait_for_tickets(&sandbox, &mut run, 3);
}

#[test]
fn of_two_one_works_and_the_other_takes_over_when_the_first_is_killed() {
    let sandbox = project("    run: {pass_seconds: 86400, quiet_ms: 50, lease_seconds: 2}\n");
    let mut first = start(&sandbox, "first", &[]);
    wait_for_tickets(&sandbox, &mut first, 1);
    let mut second = start(&sandbox, "second", &[]);
    second.wait_for_lines("waits to take over", 1);
    let status = sandbox.stepmark(&["sync", "status"]);
    assert!(status.stdout.contains(&format!("leader     stepmark sync run {} ", first.id())), "{status}");
    let status: Json = sandbox.stepmark(&["sync", "status", "--json"]).json("stepmark.sync-status/2");
    assert!(status["leader"]["holder"].as_str().unwrap().contains("stepmark sync run"), "{status}");
    assert_eq!(sandbox.stepmark(&["set", "docs/a.md", "status=review"]).code, 0);
    wait_for_tickets(&sandbox, &mut first, 2);
    assert_eq!(second.lines_with("done"), 0, "{}", second.log());
    first.signal("KILL");
    assert_eq!(first.end(), 128 + 9);
    assert_eq!(sandbox.stepmark(&["set", "docs/a.md", "status=done"]).code, 0);
    wait_for_tickets(&sandbox, &mut second, 3);
    assert_eq!(
        (second.lines_with("another process leads"), second.lines_with("leading")),
        (1, 1),
        "{}",
        second.log()
    );
    // A line of the tracker stands there before the ledger knows of it; what is told is known.
    second.wait_for_lines(" done ", 1);
    // A person may still work at the same time.
    assert_eq!(sandbox.stepmark(&["sync", "apply"]).stdout, "0 actions, 0 requests\n");
    second.signal("INT");
    assert_eq!(second.end(), 0);
    assert_eq!(tickets(&sandbox).iter().filter(|line| line["done"] == "created").count(), 1);
}

#[test]
fn the_configuration_is_read_again_and_a_broken_one_is_not_used() {
    let sandbox = project(NO_ROUNDS);
    let mut run = start(&sandbox, "run", &[]);
    wait_for_tickets(&sandbox, &mut run, 1);
    configure(&sandbox, "    drift: nonsense\n");
    run.signal("HUP");
    run.wait_for_lines("the configuration cannot be used; the old one stays", 1);
    assert!(run.log().contains("`overwrite` or `report` is wanted"), "{}", run.log());
    assert_eq!(sandbox.stepmark(&["set", "docs/a.md", "status=review"]).code, 0);
    wait_for_tickets(&sandbox, &mut run, 2);
    let other = format!("{NO_ROUNDS}  other: {{kind: file, path: out/other.jsonl}}\n");
    configure(&sandbox, &other);
    run.signal("HUP");
    run.wait_for_lines("the configuration was read again", 1);
    run.wait_until("a ticket of the other tracker", |_| sandbox.place("out/other.jsonl").exists());
    assert_eq!(sandbox.stepmark(&["set", "docs/a.md", "status=done"]).code, 0);
    wait_for_tickets(&sandbox, &mut run, 3);
    run.signal("TERM");
    assert_eq!(run.end(), 0);
}

#[test]
fn a_project_that_cannot_be_read_is_told_of_and_tried_again() {
    let sandbox = project("    run: {pass_seconds: 1, quiet_ms: 50}\n");
    let mut run = start(&sandbox, "run", &["--log-format", "json"]);
    wait_for_tickets(&sandbox, &mut run, 1);
    fs::rename(sandbox.root(), sandbox.outside().join("away")).unwrap();
    run.wait_for_lines("no pass can be made", 1);
    fs::rename(sandbox.outside().join("away"), sandbox.root()).unwrap();
    run.wait_for_lines("passes are made again", 1);
    for line in run.log().lines() {
        let line: Json = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(line["message"].is_string() && line["level"].is_string(), "{line}");
    }
}

#[test]
fn a_server_that_is_down_is_told_of_once_and_no_credential_ever() {
    const TOKEN: &str = "ghp_SECRETsecretSECRETsecretSECRETsecret1234";
    let sandbox = project("");
    // Whoever comes is sent away.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (port, tries) = (listener.local_addr().unwrap().port(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&tries);
    std::thread::spawn(move || {
        for _sent_away in listener.incoming() {
            counted.fetch_add(1, Ordering::Relaxed);
        }
    });
    let text = format!(
        "project_id: demo\ntrackers:\n  github:\n    base_url: http://127.0.0.1:{port}\n    repository: o/r\n    \
         breaker: {{failures: 2, wait_seconds: 1, longest_wait_seconds: 1}}\n    run: {{pass_seconds: 1, quiet_ms: 50}}\n    \
         pace: {{credential: {{write_interval_ms: 0, limits: []}}}}\n"
    );
    sandbox.write(".stepmark/config.yaml", text);
    bind(&sandbox, port);
    let mut command = command(&sandbox, &[]);
    let mut run = Background::start(&sandbox, command.env("GH_TOKEN", TOKEN), "run");
    run.wait_until("four requests", |_| tries.load(Ordering::Relaxed) >= 4);
    assert_eq!(run.lines_with("cannot be used"), 1, "{}", run.log());
    assert_eq!(sandbox.stepmark(&["set", "docs/a.md", "status=done"]).code, 0);
    run.signal("TERM");
    assert_eq!(run.end(), 0);
    assert!(!run.log().contains("SECRET"), "{}", run.log());
    for file in fs::read_dir(sandbox.place(".stepmark/local")).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap_or_default();
        assert!(!bytes.windows(6).any(|window| window == b"SECRET"));
    }
}

/// The user lets the server at `port` have a credential for `o/r`.
fn bind(sandbox: &Sandbox, port: u16) {
    let host = format!("http://127.0.0.1:{port}: {{variable: GH_TOKEN, targets: [o/r]}}");
    sandbox.write_user_configuration(&format!("credentials:\n  {host}\n"));
}

/// A server that takes a request and answers when it is told to: `/graphql` is not there, lists are empty,
/// and a creation is kept waiting.
struct SlowServer {
    port: u16,
    /// Told once a creation has come.
    came: std::sync::mpsc::Receiver<()>,
    /// Tells that it may be answered.
    go: std::sync::mpsc::Sender<()>,
}

impl SlowServer {
    fn start() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let ((tell, came), (go, wait)) = (std::sync::mpsc::channel(), std::sync::mpsc::channel());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let (line, body) = request(&mut stream);
                let (status, answer) = if line.starts_with("GET /repos/o/r ") {
                    ("200 OK", "{\"id\":1}".to_owned())
                } else if line.starts_with("GET ") {
                    ("200 OK", "[]".to_owned())
                } else if line.starts_with("POST /repos/o/r/issues ") {
                    tell.send(()).unwrap();
                    wait.recv().unwrap();
                    ("201 Created", created(&body))
                } else {
                    ("404 Not Found", "{\"message\":\"Not Found\"}".to_owned())
                };
                let length = answer.len();
                write!(
                    stream,
                    "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{answer}"
                )
                .unwrap();
            }
        });
        Self { port, came, go }
    }
}

/// The first line of a request, and its body.
fn request(stream: &mut TcpStream) -> (String, Json) {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer).unwrap();
        bytes.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length =
            head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
        if count == 0 || body.len() >= length.unwrap_or(0) {
            let line = head.lines().next().unwrap_or_default().to_owned();
            return (line, serde_json::from_str(body).unwrap_or_default());
        }
    }
}

/// The issue that GitHub makes of what was sent.
fn created(sent: &Json) -> String {
    let labels: Vec<Json> = sent["labels"]
        .as_array()
        .map(|labels| labels.iter().map(|label| serde_json::json!({ "name": label })).collect())
        .unwrap_or_default();
    serde_json::json!({
        "id": 1, "node_id": "I_1", "number": 1, "html_url": "http://127.0.0.1/o/r/issues/1", "state": "open", "state_reason": null,
        "title": sent["title"], "body": sent["body"], "labels": labels, "created_at": "2026-11-22T12:00:00Z",
        "updated_at": "2026-11-22T12:00:00Z", "user": { "login": "ada" },
    })
    .to_string()
}

#[test]
fn the_request_in_flight_is_finished_before_it_ends() {
    let server = SlowServer::start();
    let sandbox = project("");
    sandbox.write("docs/b.md", "---\nid: B\nstatus: draft\n---\n\n# Beta\n");
    let text = format!(
        "project_id: demo\ntrackers:\n  github:\n    base_url: http://127.0.0.1:{}\n    repository: o/r\n    \
         pace: {{credential: {{write_interval_ms: 0, limits: []}}}}\n",
        server.port
    );
    sandbox.write(".stepmark/config.yaml", text);
    bind(&sandbox, server.port);
    let mut command = command(&sandbox, &[]);
    let mut run = Background::start(&sandbox, command.env("GH_TOKEN", "ghp_secret"), "run");
    server
        .came
        .recv_timeout(std::time::Duration::from_secs(60))
        .unwrap_or_else(|error| panic!("{error}: {}", run.log()));
    run.signal("TERM");
    run.wait_for_lines("told to end", 1);
    server.go.send(()).unwrap();
    assert_eq!(run.end(), 0, "{}", run.log());
    assert_eq!((run.lines_with("done"), run.lines_with("stopped")), (1, 1), "{}", run.log());
    let status = sandbox.stepmark(&["sync", "status", "--json"]).json("stepmark.sync-status/2");
    assert_eq!((&status["tickets"], &status["in_doubt"]), (&1.into(), &serde_json::json!([])), "{status}");
    assert_eq!(status["to_do"], serde_json::json!({ "create": 1 }), "no other request began");
}

#[cfg(target_os = "linux")]
#[test]
fn systemd_is_told_what_it_does() {
    let sandbox = project(NO_ROUNDS);
    let place = sandbox.outside().join("notify");
    let socket = std::os::unix::net::UnixDatagram::bind(&place).unwrap();
    socket.set_read_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
    let next = |wanted: &str| {
        let mut buffer = [0; 4096];
        loop {
            let count = socket.recv(&mut buffer).unwrap_or_else(|error| panic!("no {wanted}: {error}"));
            let text = String::from_utf8_lossy(&buffer[..count]).into_owned();
            if text.contains(wanted) {
                return text;
            }
            assert!(text.contains("WATCHDOG=1"), "{text} before {wanted}");
        }
    };
    let mut command = command(&sandbox, &[]);
    command.env("NOTIFY_SOCKET", &place).env("WATCHDOG_USEC", "100000");
    let mut run = Background::start(&sandbox, &mut command, "run");
    next("READY=1");
    next("WATCHDOG=1");
    run.signal("HUP");
    assert!(next("RELOADING=1").contains("MONOTONIC_USEC="));
    next("READY=1");
    next("WATCHDOG=1");
    run.signal("TERM");
    next("STOPPING=1");
    assert_eq!(run.end(), 0, "{}", run.log());
}

#[test]
fn silent_agents_of_asdd_are_looked_for() {
    let sandbox = project(NO_ROUNDS);
    assert_eq!(sandbox.stepmark(&["asdd", "init"]).code, 0);
    assert_eq!(sandbox.stepmark(&["asdd", "add", "Sign-in"]).code, 0);
    let keys = "asdd:\n  folder: .asdd\n  monitor: {every_seconds: 1, timeout_seconds: 1, retries: 1}\n";
    configure(&sandbox, &format!("{NO_ROUNDS}{keys}"));
    let beat = ["asdd", "heartbeat", "discovery", "--slice", "SLICE-001"];
    assert_eq!(sandbox.stepmark(&beat).code, 0);
    let mut run = start(&sandbox, "run", &[]);
    run.wait_for_lines("a slice was blocked", 1);
    let slice = String::from_utf8(sandbox.read(".asdd/slices/SLICE-001.md")).unwrap();
    assert!(slice.contains("status: BLOCKED") && slice.contains("kind: TIMEOUT"), "{slice}");
    run.signal("TERM");
    assert_eq!(run.end(), 0, "{}", run.log());
}
