//! Tests of how much is served at a time, and who loses a place.

use std::{sync::Arc, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use super::{super::*, running, until};
use crate::sample_project::SampleProject;

/// Reads until the other side ends. Without a limit of time: the clock of these tests runs as soon as all
/// wait.
async fn all(stream: &mut TcpStream) -> String {
    let mut read = Vec::new();
    // Who is cut off while there is still something to read may be told so as an error.
    let _ended = stream.read_to_end(&mut read).await;
    String::from_utf8_lossy(&read).into_owned()
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

#[tokio::test(start_paused = true)]
async fn who_asks_nothing_loses_the_place() {
    let project = SampleProject::new();
    let running = running(&project, 3).await;
    let mut silent = running.send("").await;
    let mut half = running.send("GET /page.css HT").await;
    let mut idle = running.ask("/page.css").await;
    let mut fourth =
        running.send(&format!("GET /page.js HTTP/1.0\r\nHost: localhost:{}\r\n\r\n", running.port)).await;
    assert!(all(&mut fourth).await.contains("200 OK"));
    assert_eq!(all(&mut silent).await, "");
    assert!(!all(&mut half).await.contains("200 OK"));
    assert!(
        all(&mut idle).await.starts_with("HTTP/1.1 200 OK"),
        "it was answered, and then asked nothing more"
    );
    running.finish().await;
}

#[tokio::test(start_paused = true)]
async fn who_takes_nothing_loses_the_place() {
    let project = SampleProject::new();
    let running = running(&project, 1).await;
    let request = running.request("/page.js");
    let mut greedy = running.send("").await;
    // More answers than fit between the two.
    let asking = tokio::spawn(async move {
        while greedy.write_all(request.as_bytes()).await.is_ok() {}
        greedy
    });
    let mut second = running.ask("/page.css").await;
    let mut head = [0; 15];
    second.read_exact(&mut head).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 200 OK");
    drop((second, asking.await.unwrap()));
    running.finish().await;
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_the_last_answer_of_a_connection() {
    let project = SampleProject::new();
    let running = running(&project, CONNECTIONS).await;
    for head in [
        "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        "GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ] {
        let started = tokio::time::Instant::now();
        let answer = all(&mut running.send(head).await).await;
        assert!(answer.starts_with("HTTP/1.1 421") && answer.contains("connection: close"), "{answer}");
        assert_eq!(started.elapsed(), Duration::ZERO, "it was not waited for another request");
    }
    running.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_answered_however_many_listen() {
    let project = SampleProject::new();
    let running = running(&project, CONNECTIONS).await;
    let mut listeners = Vec::new();
    while running.served.listening.available_permits() > 0 {
        let mut listener = running.ask("/events").await;
        until(&mut listener, "data: 1").await;
        listeners.push(listener);
    }
    let answer = until(&mut running.ask("/events").await, "too many listen").await;
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("default-src 'none'"), "{answer}");
    until(&mut running.ask("/").await, "</html>").await;
    // Who ends makes room.
    drop(listeners.pop());
    let mut again = running.ask("/events").await;
    while !until(&mut again, "\n").await.starts_with("HTTP/1.1 200") {
        again = running.ask("/events").await;
    }
    running.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn long_texts_are_cut_and_few_are_drawn_at_a_time() {
    let project = SampleProject::new();
    let text = "A line, and another one.\n".repeat(200_000);
    project.write("docs/long.md", &format!("---\nstepsCompleted: [outline]\n---\n{text}The end\n"));
    let running = running(&project, CONNECTIONS).await;
    let drawing = Arc::clone(&running.served.drawing);
    let places = u32::try_from(drawing.available_permits()).unwrap();
    let held = drawing.acquire_many_owned(places).await.unwrap();
    let mut page = running.ask("/artifact/docs/long.md").await;
    let early = timeout(Duration::from_millis(100), page.read(&mut [0])).await;
    assert!(early.is_err(), "others are drawn");
    until(&mut running.ask("/").await, "</html>").await;
    drop(held);
    let page = until(&mut page, "</html>").await;
    assert!(page.contains("The first 1023 of 4882 KiB are shown"), "{}", &page[..4000]);
    assert!(page.len() < 1_200_000 && !page.contains("The end"), "{}", page.len());
    running.finish().await;
}
