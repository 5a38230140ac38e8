//! Tests of what each address answers.

use std::sync::Arc;

use super::{super::*, observed, running, until};
use crate::sample_project::SampleProject;

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
