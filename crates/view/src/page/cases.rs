//! Pages of projects.

use super::{layout::hash_source, *};
use crate::sample_project::SampleProject;

const PAYLOAD: &str = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>";

#[test]
fn a_report_needs_nobody_and_runs_only_its_own_script() {
    let project = SampleProject::new();
    project.write("docs/a.md", "---\ntitle: One\nstepsCompleted: [outline]\n---\n# A\n");
    let html = report(&project.overview(), None);
    assert_eq!(html, report(&project.overview(), None), "the same state gives the same bytes");
    assert_eq!(html.matches("<script>").count(), 1);
    assert!(html.contains(&format!("<script>{SCRIPT}</script>")));
    assert!(html.contains(&format!("<style>{STYLE}</style>")));
    assert!(html.contains(&hash_source(SCRIPT)) && html.contains(&hash_source(STYLE)));
    for request in ["src=", "<link", "@import", "url(", "http://"] {
        assert!(!html.contains(request), "{request}");
    }
    assert!(html.contains("2026-11-22 10:00"));
    for id in ["summary", "artifacts", "progress", "delegation", "timeline", "findings", "tickets", "rules"] {
        assert_eq!(html.matches(&format!(" id=\"{id}\"")).count(), 1, "{id}");
    }
}

#[test]
fn the_inline_script_and_style_cannot_end_early() {
    assert!(!SCRIPT.contains("</") && !STYLE.contains("</") && !SCRIPT.contains("<!--"));
}

#[test]
fn what_files_say_is_text() {
    let project = SampleProject::new();
    let quoted = PAYLOAD.replace('\'', "''");
    project.write(
        "docs/a.md",
        &format!(
            "---\ntitle: '{quoted}'\nstatus: '{quoted}'\nstepsCompleted: ['{quoted}']\n---\n{PAYLOAD}\n"
        ),
    );
    project.write("docs/<img src=x onerror=alert(3)>.md", "---\nstatus: blocked\n---\n");
    let overview = project.overview();
    let live = OverviewPage::live(&overview, Revision::current(1));
    let pieces: String = live.pieces.iter().map(|piece| piece.html.as_str()).collect();
    for html in [report(&overview, None), live.html, pieces] {
        assert!(html.contains("&lt;script&gt;alert(1)"), "the title is there");
        assert!(!html.contains("<img") && !html.contains("<script>alert"), "and cannot run");
    }
}

/// The same as in the terminal (`wording::visible`).
#[test]
fn what_hides_or_turns_text_round_is_visible() {
    let project = SampleProject::new();
    let path = "docs/a\u{202E}dm.md";
    project.write(
        path,
        "---\ntitle: \"Don\u{202E}e \\e[31m\"\nstatus: do\u{200B}ne\nstepsCompleted: [\"\u{2066}1\"]\n---\n# B\u{FEFF}ody\u{61C}\n",
    );
    let overview = project.overview();
    let live = OverviewPage::live(&overview, Revision::current(1));
    let pieces: String = live.pieces.iter().map(|piece| piece.html.as_str()).collect();
    let stale = Stale { since: overview.at, why: "no \u{202E}way".to_owned() }.piece().html;
    let journal = journal_page(&overview, Revision::current(1));
    for html in [&report(&overview, None), &live.html, &pieces, &stale, &journal] {
        let hidden = html
            .chars()
            .filter(|character| "\u{202E}\u{200B}\u{2066}\u{FEFF}\u{61C}\u{1b}\u{9b}".contains(*character));
        assert_eq!(hidden.count(), 0, "{html}");
    }
    assert!(live.html.contains("Don&lt;U+202E&gt;e") && pieces.contains("do&lt;U+200B&gt;ne"), "{pieces}");
    assert!(stale.contains("no &lt;U+202E&gt;way"), "{stale}");
}

#[test]
fn every_piece_is_on_the_page() {
    let project = SampleProject::new();
    project.write("docs/a.md", "---\nstepsCompleted: [outline]\n---\n");
    project.write("docs/b.md", "---\nstepsCompleted: [outline]\n---\n");
    let page = OverviewPage::live(&project.overview(), Revision::current(3));
    for piece in &page.pieces {
        assert!(page.html.contains(&piece.html), "{}", piece.id);
        assert_eq!(page.html.matches(&format!(" id=\"{}\"", piece.id)).count(), 1, "{}", piece.id);
        assert!(page.html.contains(&format!(" id=\"{}\"", piece.place)), "{}", piece.place);
    }
    assert!(page.html.contains("data-revision=\"3\""));
}
