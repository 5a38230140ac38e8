//! The page of memory in `stepmark report`; what of it is served stands in `serve`.

use crate::harness::Sandbox;

const STORY: &str = "docs/story-7.md";

/// A project with an artifact, and a place for its memory.
fn project() -> Sandbox {
    let sandbox = Sandbox::empty();
    sandbox.write(
        ".stepmark/config.yaml",
        "project_id: demo\nworkflows:\n- name: paper\n  artifacts: ['docs/*.md']\n  steps: [outline, draft]\n",
    );
    sandbox.write(STORY, "---\nid: STORY-7\nstepsCompleted: [outline]\n---\n# Lend\n");
    sandbox
}

fn report(sandbox: &Sandbox) -> String {
    let run = sandbox.stepmark(&["report", "-"]);
    assert_eq!(run.code, 0, "{run}");
    run.stdout
}

#[test]
fn what_was_told_stands_in_the_report_and_around_its_artifact() {
    let sandbox = project();
    assert!(!report(&sandbox).to_lowercase().contains("memory"));
    let store = sandbox.place(".stepmark/local/cache/memory.db");
    assert!(!store.exists(), "nothing is paid for what is not used");
    let told = |words: &[&str]| {
        let run = sandbox.stepmark(&[&["memory"], words, &["--artifact", STORY, "--json"]].concat());
        assert_eq!(run.code, 0, "{run}");
        run.json("stepmark.memory-told/1")["id"].as_str().unwrap().to_owned()
    };
    let old = told(&["decide", "Which store?", "--chosen", "Postgres", "--because", "known"]);
    told(&[
        "decide",
        "Which store?",
        "--chosen",
        "SQLite",
        "--because",
        "nothing to install",
        "--rejected",
        "Postgres",
        "--supersedes",
        &old,
    ]);
    let hostile = format!("</svg><script>alert(1)</script>\u{1b}[31m{}", "x".repeat(10_000));
    told(&["remember", &hostile, "--kind", "error"]);
    let page = report(&sandbox);
    for part in [
        "<h2 id=\"decisions-title\">",
        "<s>Which store?</s> <span class=\"tag warning\">superseded</span> by <a href=\"#m-",
        "<dd>nothing to install</dd>",
        "‹/svg›‹script›alert(1)‹/script› [31mxxx",
        "aria-label=\"Graph of docs/story-7.md\"",
        "aria-label=\"Which store? Post…: superseded memory, Which store? Postgres\"",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("<script>alert") && !page.contains('\u{1b}') && !page.contains(&"x".repeat(501)));
    assert_eq!(page.matches("<svg width").count(), 1);
    assert!(store.exists());
}
