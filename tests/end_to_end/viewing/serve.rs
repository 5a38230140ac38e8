//! `stepmark serve`: a process beside the test. What a browser makes of it stands in tests/interop/page.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    time::Duration,
};

use crate::harness::{Sandbox, demo::PRD};

/// How long something that must happen may take; far longer than it does.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that ends with the test.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(sandbox: &Sandbox) -> Self {
        let root = sandbox.root().to_str().unwrap();
        let mut command = sandbox.command(&["serve", "--port", "0", "--json", "--root", root]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(told["schema"], "stepmark.serve/1");
        let url = told["url"].as_str().unwrap();
        let address = url.strip_prefix("http://").and_then(|url| url.strip_suffix('/')).unwrap().to_owned();
        assert!(address.starts_with("127.0.0.1:"), "{url}");
        Self { child, address }
    }

    fn ask(&self, request: &str) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(stream, "{request} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address).unwrap();
        BufReader::new(stream)
    }

    fn answer(&self, request: &str) -> String {
        let mut answer = String::new();
        self.ask(request).read_to_string(&mut answer).unwrap();
        answer
    }

    fn told_to_end(mut self) -> i32 {
        let id = self.child.id().to_string();
        assert!(Command::new("/bin/kill").args(["-TERM", &id]).status().unwrap().success());
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ended = self.child.kill();
        let _code = self.child.wait();
    }
}

/// Reads lines of a stream of events until one of them is about another revision, and answers which.
fn next_revision(stream: &mut BufReader<TcpStream>) -> u64 {
    loop {
        let mut line = String::new();
        assert!(stream.read_line(&mut line).unwrap() > 0, "the stream ended");
        if let Some(revision) = line.trim().strip_prefix("data: ") {
            return revision.parse().unwrap();
        }
    }
}

#[test]
fn whoever_listens_hears_of_changes_until_it_ends() {
    let demo = Sandbox::demo();
    let server = Server::start(&demo);
    let page = server.answer("GET /");
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("step-04-journeys"), "{page}");
    let mut events = server.ask("GET /events");
    let first = next_revision(&mut events);
    assert_eq!(demo.stepmark(&["complete", PRD, "step-04-journeys"]).code, 0);
    let second = next_revision(&mut events);
    assert!(second > first);
    let update = server.answer(&format!("GET /update?from={first}"));
    assert!(update.contains("step-05-domain") && update.contains("\"changed\""), "{update}");
    // What is recorded shows without any change of an artifact.
    assert_eq!(demo.stepmark(&["session", "start"]).code, 0);
    while !server.answer("GET /journal").contains("session-start") {
        next_revision(&mut events);
    }
    assert_eq!(server.told_to_end(), 0);
}

#[test]
fn another_configuration_counts_without_a_new_start() {
    let sandbox = Sandbox::empty();
    sandbox.write(".stepmark/config.yaml", "project_id: demo\n");
    sandbox.write("docs/a.md", "---\nstatus: draft\n---\n");
    let server = Server::start(&sandbox);
    let mut events = server.ask("GET /events");
    next_revision(&mut events);
    sandbox.write(
        ".stepmark/config.yaml",
        "project_id: demo\ntrackers:\n  later:\n    path: out/t.jsonl\n    kind: file\n",
    );
    next_revision(&mut events);
    assert!(server.answer("GET /sync").contains("later"));
}

#[test]
fn a_port_that_is_taken_is_said_to_be() {
    let demo = Sandbox::demo();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let run = demo.reads_only(&["serve", "--port", &port]);
    assert_eq!((run.code, run.stdout.as_str()), (4, ""));
    assert!(run.stderr.contains(&port) && run.stderr.contains("--port 0"), "{run}");
    assert_eq!(demo.reads_only(&["serve", "--port", "70000"]).code, 2);
    fs::remove_dir_all(demo.place("_bmad-output")).unwrap();
    fs::write(demo.place("_bmad-output"), "no folder").unwrap();
    let server = Server::start(&demo);
    assert!(server.answer("GET /").contains("There is no artifact with workflow state yet."));
}

#[test]
fn memory_has_a_page_as_soon_as_something_is_remembered() {
    let sandbox = Sandbox::empty();
    sandbox.write("docs/a.md", "---\nstatus: draft\n---\n");
    let server = Server::start(&sandbox);
    let mut events = server.ask("GET /events");
    next_revision(&mut events);
    assert!(server.answer("GET /memory").starts_with("HTTP/1.1 404"));
    assert!(!server.answer("GET /journal").contains("/memory"));
    let told = ["memory", "decide", "Which store?", "--chosen", "SQLite", "--because", "small"];
    assert_eq!(sandbox.stepmark(&told).code, 0);
    while !server.answer("GET /journal").contains("<a href=\"/memory\">Memory</a>") {
        next_revision(&mut events);
    }
    let page = server.answer("GET /memory");
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("<strong>Which store?</strong>"), "{page}");
}

#[test]
fn every_page_says_that_it_is_stale_until_it_is_not() {
    let demo = Sandbox::demo();
    let server = Server::start(&demo);
    let mut events = server.ask("GET /events");
    let before = next_revision(&mut events);
    let mut wait_until = |is_stale: bool| {
        let page = |target: &str| server.answer(&format!("GET {target}"));
        while page("/").contains("role=\"alert\"") != is_stale {
            next_revision(&mut events);
        }
        for target in ["/journal", "/sync", &format!("/artifact/{PRD}")] {
            let page = page(target);
            assert_eq!(page.contains("the project cannot be looked at"), is_stale, "{target}: {page}");
        }
        page("/")
    };
    demo.write(".stepmark/config.yaml", "workflows: 3\n");
    assert!(wait_until(true).contains("config.yaml"));
    assert!(server.answer(&format!("GET /update?from={before}")).contains("\"place\":\"notices\""));
    fs::remove_file(demo.place(".stepmark/config.yaml")).unwrap();
    wait_until(false);
    let elsewhere = demo.outside().join("moved");
    fs::rename(demo.root(), &elsewhere).unwrap();
    wait_until(true);
    fs::rename(&elsewhere, demo.root()).unwrap();
    let page = wait_until(false);
    assert!(page.contains("step-04-journeys"), "{page}");
}
