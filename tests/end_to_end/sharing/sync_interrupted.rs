//! `stepmark sync apply` and whoever loses patience.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use serde_json::{Value as Json, json};

use crate::harness::{Background, Sandbox};

/// A GitHub without issues, which makes those that it is asked for.
struct GitHub {
    port: u16,
    made: Arc<AtomicU64>,
}

impl GitHub {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, made) = (listener.local_addr().unwrap().port(), Arc::new(AtomicU64::new(0)));
        let counter = Arc::clone(&made);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { continue };
                let (line, body) = read(&mut stream);
                let answer = match line.split(' ').next() {
                    Some("POST") => issue(counter.fetch_add(1, Ordering::SeqCst) + 1, &body),
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
        Self { port, made }
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

#[cfg(unix)]
#[test]
fn who_interrupts_is_told_what_was_done() {
    let (github, sandbox) = (GitHub::start(), Sandbox::empty());
    let host = format!("http://127.0.0.1:{}", github.port);
    sandbox
        .write_user_configuration(&format!("credentials: {{{host}: {{variable: TOKEN, targets: [o/r]}}}}\n"));
    let keys = format!(
        "    base_url: {host}\n    repository: o/r\n    pace: {{credential: {{write_interval_ms: 600000}}}}\n"
    );
    sandbox.write(".stepmark/config.yaml", format!("project_id: demo\ntrackers:\n  github:\n{keys}"));
    for name in ["a", "b", "c"] {
        sandbox.write(
            &format!("docs/{name}.md"),
            format!("---\nid: {name}\nstatus: draft\n---\n\n# Of {name}\n"),
        );
    }
    let mut command = sandbox.command(&["sync", "apply"]);
    let mut apply = Background::start_telling(&sandbox, command.env("TOKEN", "ghp_SECRET"), "apply");
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
