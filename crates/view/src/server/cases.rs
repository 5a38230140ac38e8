//! Revisions, what differs between them, and answers over a socket.

use std::{sync::Arc, time::Duration};

use serde_json::Value as Json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    time::timeout,
};

use super::*;
use crate::{observation::Observation, sample_project::SampleProject};

fn observed(project: &SampleProject) -> Observation {
    Observation { project: "sample".to_owned(), ..Observation::take(&project.workspace()).unwrap() }
}

/// Does what a page does with an update.
fn taken(before: &Shown, update: &Json) -> Vec<(String, String)> {
    let mut pieces: Vec<(String, String)> =
        before.page.pieces.iter().map(|piece| (piece.id.clone(), piece.html.clone())).collect();
    for id in update["removed"].as_array().unwrap() {
        pieces.retain(|(own, _)| own != id.as_str().unwrap());
    }
    for piece in update["changed"].as_array().unwrap() {
        let (id, html) = (piece["id"].as_str().unwrap(), piece["html"].as_str().unwrap());
        let new = (id.to_owned(), html.to_owned());
        if let Some(place) = pieces.iter().position(|(own, _)| own == id) {
            pieces[place] = new;
        } else if let Some(after) = piece["after"].as_str() {
            let place =
                pieces.iter().position(|(own, _)| own == after).expect("it comes after one that is there");
            pieces.insert(place + 1, new);
        } else {
            let first = pieces.iter().position(|(own, _)| own.starts_with("a-")).unwrap_or(pieces.len());
            pieces.insert(first, new);
        }
    }
    pieces
}

#[test]
fn an_update_leads_to_what_is_shown_however_much_was_missed() {
    let project = SampleProject::new();
    for name in ["b", "d"] {
        project.write(&format!("docs/{name}.md"), "---\nstepsCompleted: [outline]\n---\n");
    }
    let mut shown = vec![Shows::first(observed(&project))];
    let steps: [&dyn Fn(); 5] = [
        &|| project.write("docs/a.md", "---\nstepsCompleted: []\n---\n"),
        &|| project.write("docs/e.md", "---\nstepsCompleted: [outline]\n---\n"),
        &|| project.write("docs/b.md", "---\nstepsCompleted: [outline, draft, review]\n---\n"),
        &|| project.remove("docs/d.md"),
        &|| project.write("docs/c.md", "---\nstatus: [\n---\n"),
    ];
    for step in steps {
        step();
        let next = Shows::next(shown.last().unwrap(), observed(&project)).expect("something changed");
        shown.push(next);
    }
    let last = shown.last().unwrap();
    let wanted: Vec<_> =
        last.page.pieces.iter().map(|piece| (piece.id.clone(), piece.html.clone())).collect();
    for before in &shown {
        let update = last.update(before.revision);
        assert_eq!(update["revision"], last.revision);
        assert_eq!(taken(before, &update), wanted, "from {}", before.revision);
    }
    assert_eq!(last.update(0)["reload"], true);
    assert_eq!(last.update(99)["reload"], true);
}

#[test]
fn where_nothing_looks_different_there_is_no_revision() {
    let project = SampleProject::new();
    project.write("docs/a.md", "---\nstepsCompleted: [outline]\n---\nOne\n");
    let shown = Shows::first(observed(&project));
    assert!(Shows::next(&shown, observed(&project)).is_none());
    project.write("docs/a.md", "---\nstepsCompleted: [outline]\n---\nTwo\n");
    assert!(Shows::next(&shown, observed(&project)).is_some(), "its own page shows the text");
}

/// A server on a socket, and what it is told through.
struct Running {
    sender: Option<watch::Sender<Arc<Shown>>>,
    end: Option<watch::Sender<()>>,
    port: u16,
    server: tokio::task::JoinHandle<std::io::Result<()>>,
}

async fn running(project: &SampleProject, places: usize) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, shown) = watch::channel(Arc::new(Shows::first(observed(project))));
    let (end, mut ended) = watch::channel(());
    let served = Served { shown, workspace: Arc::new(project.workspace()), port };
    let listener = BoundedListener::new(listener, Arc::new(Semaphore::new(places)));
    let server = tokio::spawn(serve(listener, served, async move { while ended.changed().await.is_ok() {} }));
    Running { sender: Some(sender), end: Some(end), port, server }
}

impl Running {
    async fn ask(&self, target: &str) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        let request = format!("GET {target} HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", self.port);
        stream.write_all(request.as_bytes()).await.unwrap();
        stream
    }

    async fn finish(mut self) {
        drop((self.sender.take(), self.end.take()));
        timeout(Duration::from_secs(10), self.server).await.expect("it ends").unwrap().unwrap();
    }
}

/// Reads until `text` has come.
async fn until(stream: &mut TcpStream, text: &str) -> String {
    let mut read = Vec::new();
    let found = async {
        let mut part = [0; 4096];
        while !String::from_utf8_lossy(&read).contains(text) {
            let count = stream.read(&mut part).await.unwrap();
            assert!(count > 0, "it ended without `{text}`: {}", String::from_utf8_lossy(&read));
            read.extend_from_slice(&part[..count]);
        }
    };
    timeout(Duration::from_secs(10), found).await.unwrap_or_else(|_| panic!("no `{text}` came"));
    String::from_utf8_lossy(&read).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_listens_hears_of_the_latest_and_is_let_go_at_the_end() {
    let project = SampleProject::new();
    project.write("docs/a.md", "---\nstepsCompleted: [outline]\n---\n");
    let running = running(&project, CONNECTIONS).await;
    let mut streams = Vec::new();
    for _ in 0..20 {
        streams.push(running.ask("/events").await);
    }
    for stream in &mut streams {
        let head = until(stream, "data: 1").await;
        assert!(head.contains("text/event-stream") && head.contains("no-store"), "{head}");
    }
    let sender = running.sender.as_ref().unwrap();
    for steps in ["[]", "[outline, draft]"] {
        project.write("docs/a.md", &format!("---\nstepsCompleted: {steps}\n---\n"));
        let before = Arc::clone(&sender.borrow());
        sender.send_replace(Arc::new(Shows::next(&before, observed(&project)).unwrap()));
    }
    for stream in &mut streams {
        until(stream, "data: 3").await;
    }
    running.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_finds_no_place_waits_for_one() {
    let project = SampleProject::new();
    let running = running(&project, 1).await;
    let mut first = running.ask("/events").await;
    until(&mut first, "data: 1").await;
    let mut second = running.ask("/page.css").await;
    let mut byte = [0; 1];
    let early = timeout(Duration::from_millis(100), second.read(&mut byte)).await;
    assert!(early.is_err(), "there is no second place");
    drop(first);
    until(&mut second, "200 OK").await;
    drop(second);
    running.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_artifacts_are_those_of_the_overview() {
    let project = SampleProject::new();
    project.write(
        "docs/a b.md",
        "---\ntitle: One\nstepsCompleted: [outline]\n---\n# Heading\n\n<script>x</script>\n",
    );
    project.write("docs/secret.txt", "secret");
    let running = running(&project, CONNECTIONS).await;
    let page = until(&mut running.ask("/artifact/docs/a%20b.md").await, "</html>").await;
    assert!(page.contains("<h3>Heading</h3>") && !page.contains("<script>x"), "{page}");
    for target in
        ["/artifact/docs/secret.txt", "/artifact/docs/none.md", "/artifact/../a", "/artifact/%2e%2e/x", "/x"]
    {
        let answer = until(&mut running.ask(target).await, "such page").await;
        assert!(answer.starts_with("HTTP/1.1 404") && answer.contains("default-src 'none'"), "{answer}");
    }
    for (target, part) in [("/journal", "Journal"), ("/sync", "no tracker"), ("/page.js", "use strict")] {
        assert!(until(&mut running.ask(target).await, part).await.starts_with("HTTP/1.1 200"), "{target}");
    }
    running.finish().await;
}
