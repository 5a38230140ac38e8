//! Memory with text of others. Its graph needs a journal: tests/end_to_end/viewing/memory_page.rs.

use stepmark_memory::{Decision, MemoryKind, MemoryRecord, Source};

use crate::observation::{ObservedMemory, RememberedKind};
use crate::page::{OverviewPage, Revision, journal_page, memory_page, report};
use crate::sample_project::SampleProject;

const HOSTILE: &str = "a\n</li><script>alert(1)</script>\u{1b}[31m\u{202e}\"'><img src=x onerror=alert(2)>";

fn record(kind: MemoryKind, id: &str, at: &str, text: &str) -> MemoryRecord {
    let source = Source {
        event: id.to_owned(),
        artifact: Some(text.to_owned()),
        session: Some(text.to_owned()),
        agent: text.to_owned(),
        ..Source::default()
    };
    let mut record = MemoryRecord::new(kind, text.to_owned(), source, at.parse().unwrap());
    record.rationale = Some(text.to_owned());
    let (question, chosen) = (text.to_owned(), text.to_owned());
    let alternatives = vec![text.to_owned(); 10];
    record.decision = (kind == MemoryKind::Decision).then_some(Decision { question, chosen, alternatives });
    record
}

fn remembered(kind: MemoryKind, newest: Vec<(MemoryRecord, Vec<String>)>, total: usize) -> ObservedMemory {
    let kinds = vec![RememberedKind { kind, newest, total }];
    ObservedMemory { kinds, graphs: Vec::new(), more_artifacts: 0 }
}

#[test]
fn decisions_stand_by_month_and_lead_to_what_took_their_place() {
    let project = SampleProject::new();
    project.write("docs/a.md", "---\nstepsCompleted: [outline]\n---\n# A\n");
    let overview = project.overview();
    let decision = |id, at| record(MemoryKind::Decision, id, at, "docs/a.md");
    let (new, old) = (decision("new", "2026-11-02T00:00:00Z"), decision("old", "2026-10-31T23:59:00Z"));
    let newest = vec![(new, vec![]), (old, vec!["new".to_owned(), "unseen".to_owned()])];
    let memory = remembered(MemoryKind::Decision, newest, 7);
    let html = memory_page(&overview, Ok(&memory), Revision::current(1));
    let months: Vec<_> = html.match_indices("<h3>").map(|(at, _)| &html[at + 4..at + 16]).collect();
    assert_eq!(months, ["November 202", "October 2026"], "{html}");
    let place = html.split("<li id=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    assert!(html.contains("<s>docs/a.md</s> <span class=\"tag warning\">superseded</span> by <a href=\"#"));
    assert!(html.contains(&format!("href=\"#{place}\">new</a> <code>unseen</code>")), "{html}");
    assert!(
        html.contains("… and 5 more, <code>stepmark memory decisions</code>")
            && html.contains("… and 2 more</dd>")
    );
    assert!(html.contains("<a href=\"/artifact/docs/a.md\">docs/a.md</a>"));
    assert!(html.contains("<a href=\"/memory\">Memory</a>"));
    let file = report(&overview, Some(&memory));
    assert!(file.contains("<a href=\"#decisions\">Memory</a>") && file.contains("id=\"decisions\""));
}

#[test]
fn what_was_told_is_text_on_one_line_and_bounded() {
    let overview = SampleProject::new().overview();
    for text in [HOSTILE.to_owned(), format!("{HOSTILE}{}", "long ".repeat(2_000))] {
        for kind in MemoryKind::all() {
            let newest =
                vec![(record(kind, HOSTILE, "2026-11-02T00:00:00Z", &text), vec![HOSTILE.to_owned()])];
            let html = memory_page(&overview, Ok(&remembered(kind, newest, 1)), Revision::current(1));
            assert!(html.contains("a ‹/li›‹script›alert(1)‹/script› [31m"), "{html}");
            for bad in ["<script>", "<img", "\u{1b}", "\u{202e}", &"long ".repeat(101)] {
                assert!(!html.contains(bad), "{bad}: {html}");
            }
        }
    }
}

#[test]
fn who_remembers_nothing_sees_nothing_of_it() {
    let project = SampleProject::new();
    let overview = project.overview();
    assert!(!overview.has_memory);
    let live = OverviewPage::live(&overview, Revision::current(1)).html;
    for html in [live, journal_page(&overview, Revision::current(1)), report(&overview, None)] {
        assert!(!html.to_lowercase().contains("memory"), "{html}");
    }
    let html = memory_page(&overview, Err("no <place>"), Revision::current(1));
    assert!(html.contains("memory cannot be read: no &lt;place&gt;"));
}
