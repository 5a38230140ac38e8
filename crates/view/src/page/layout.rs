//! Common parts of pages.

use super::{Piece, marks, tickets, timeline};
use crate::{overview::Overview, wording::visible_in_html};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use jiff::Timestamp;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use stepmark_model::artifact::{FileHash, ProjectPath};

pub const STYLE: &str = include_str!("assets/page.css");

/// Search, filter and live updates; all pages work without it.
pub const SCRIPT: &str = include_str!("assets/page.js");

/// For a content security policy (CSP Level 3, "hash-source").
pub(super) fn hash_source(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(FileHash::of(text.as_bytes()).as_bytes()))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stale {
    pub since: Timestamp,
    pub why: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revision<'s> {
    pub number: u64,
    /// `None`: current.
    pub stale: Option<&'s Stale>,
}

pub(super) const NOTICES: &str = "notices";

impl Revision<'static> {
    pub const fn current(number: u64) -> Self {
        Self { number, stale: None }
    }
}

impl Stale {
    pub fn piece(&self) -> Piece {
        Piece { id: "stale".to_owned(), place: NOTICES, html: text(&self.notice()) }
    }

    pub(super) fn notice(&self) -> Markup {
        html! {
            p #stale role="alert" {
                span .tag.error { "not as it is now" } " Since " (marks::time(self.since)) " UTC the project cannot be looked at: "
                (marks::prose(&self.why)) " What is shown was seen before."
            }
        }
    }
}

/// Source of style and script, and rights of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form<'s> {
    /// Self-contained, with extra sections: address and name.
    File(&'s [(&'s str, &'s str)]),
    /// Served, with live updates. The response header holds its policy.
    Live {
        revision: Revision<'s>,
        has_memory: bool,
        /// Only the overview is updated in pieces; other pages reload.
        has_pieces: bool,
    },
}

pub(super) const GENERATOR: &str = "stepmark report";

const PAGES: [(&str, &str); 3] = [("/", "Overview"), ("/journal", "Journal"), ("/sync", "Sync")];

/// Linked only if there are records.
const MEMORY: [(&str, &str); 1] = [("/memory", "Memory")];

const PARTS: [(&str, &str); 7] = [
    ("#board", "Board"),
    ("#artifacts", "Artifacts"),
    ("#progress", "Progress"),
    ("#delegation", "Delegation"),
    ("#timeline", "Timeline"),
    ("#findings", "Findings"),
    ("#tickets", "Tickets"),
];

/// Makes characters visible that hide or reorder text, as in the terminal.
pub(super) fn text(markup: &Markup) -> String {
    visible_in_html(&markup.0)
}

pub(super) fn live(name: &str, overview: &Overview, revision: Revision<'_>, main: &Markup) -> String {
    let has_memory = overview.has_memory || name == MEMORY[0].1;
    let form = Form::Live { revision, has_memory, has_pieces: false };
    let title = format!("{name} – {}", overview.project);
    text(&page(&title, &overview.project, overview.at, form, main))
}

pub(super) fn page(title: &str, project: &str, at: Timestamp, form: Form<'_>, main: &Markup) -> Markup {
    let (revision, has_memory, has_pieces) = match form {
        Form::File(_) => (None, false, false),
        Form::Live { revision, has_memory, has_pieces } => (Some(revision), has_memory, has_pieces),
    };
    let own_parts = if let Form::File(parts) = form { parts } else { &[] };
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                @if revision.is_none() {
                    meta name="generator" content=(GENERATOR);
                    meta http-equiv="Content-Security-Policy" content=(policy());
                    meta name="referrer" content="no-referrer";
                }
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                @match form {
                    Form::File(_) => style { (PreEscaped(STYLE)) },
                    Form::Live { .. } => {
                        // Without it browsers request an icon.
                        link rel="icon" href="data:,";
                        link rel="stylesheet" href="/page.css";
                        script src="/page.js" defer {}
                    }
                }
            }
            body data-revision=[revision.map(|revision| revision.number)] data-pieces[has_pieces] {
                a .skip href="#main" { "Skip to the content" }
                header {
                    p .project { (project) }
                    @if revision.is_some() { (navigation("Pages", &PAGES, if has_memory { &MEMORY } else { &[] })) }
                    @else { (navigation("Parts of this page", own_parts, &PARTS)) }
                    p .quiet #generated { "generated at " (marks::time(at)) " UTC" @if revision.is_some() { span #connection {} } }
                }
                @if let Some(revision) = revision {
                    div id=(NOTICES) { @if let Some(stale) = revision.stale { (stale.notice()) } }
                }
                main #main tabindex="-1" { (main) }
                p #news .hidden-title role="status" aria-live="polite" {}
                footer { p .quiet { "Made by stepmark from the frontmatter of the project's artifacts. Nothing here can be changed." } }
                @if revision.is_none() { script { (PreEscaped(SCRIPT)) } }
            }
        }
    }
}

fn navigation(label: &str, first: &[(&str, &str)], then: &[(&str, &str)]) -> Markup {
    html! {
        nav aria-label=(label) { ul { @for (address, name) in first.iter().chain(then) { li { a href=(address) { (name) } } } } }
    }
}

fn policy() -> String {
    let (script, style) = (hash_source(SCRIPT), hash_source(STYLE));
    format!(
        "default-src 'none'; script-src {script}; style-src {style}; img-src data:; base-uri 'none'; form-action 'none'"
    )
}

/// Unescaped bytes of a path (RFC 3986 `pchar`, without those special in HTML or a shell).
const PLAIN: &[u8] = b"-._~/";

/// Of the hash that names an artifact on a page: a collision among 100,000 artifacts has odds of 1 in 50,000.
const NAME_DIGITS: usize = 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    Rows,
    Pages,
}

impl Links {
    pub fn to(self, path: &ProjectPath) -> String {
        match self {
            Self::Rows => format!("#{}", row_id(path)),
            Self::Pages => format!("/artifact/{}", encoded(path.as_str())),
        }
    }

    pub fn to_rule(self, id: &str) -> String {
        match self {
            Self::Rows => format!("#rule-{id}"),
            Self::Pages => format!("/#rule-{id}"),
        }
    }
}

pub(super) fn row_id(path: &ProjectPath) -> String {
    let hash = FileHash::of(path.as_str().as_bytes()).to_string();
    format!("a-{}", hash.get(..NAME_DIGITS).unwrap_or_default())
}

fn encoded(text: &str) -> String {
    let mut address = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || PLAIN.contains(&byte) {
            address.push(char::from(byte));
        } else {
            address.push_str(&format!("%{byte:02X}"));
        }
    }
    address
}

const SHOWN: usize = 300;

pub fn journal_page(overview: &Overview, revision: Revision<'_>) -> String {
    let events = &overview.events;
    let main = html! {
        h1 #name { "Journal" }
        section #journal aria-label="Events" {
            @if events.is_empty() { p .quiet { "Nothing is recorded yet." } }
            ol .events { @for event in events.iter().take(SHOWN) { (timeline::event_item(event, Links::Pages, timeline::Whose::All)) } }
            @if events.len() > SHOWN { p .more { "and more: " code { "stepmark log" } } }
        }
    };
    live("Journal", overview, revision, &main)
}

pub fn sync_page(overview: &Overview, revision: Revision<'_>) -> String {
    let main = html! {
        h1 #name { "Sync" }
        (tickets::section(overview))
        @for tracker in overview.trackers.iter().filter(|tracker| !tracker.tickets.is_empty()) {
            section id={ "tickets-of-" (tracker.name) } aria-label={ "Tickets of " (tracker.name) } {
                h2 { "Tickets of " (tracker.name) }
                table {
                    thead { tr { th scope="col" { "Artifact" } th scope="col" { "Ticket" } } }
                    tbody {
                        @for ticket in &tracker.tickets {
                            tr {
                                th scope="row" {
                                    @match &ticket.path {
                                        Some(path) => a href=(Links::Pages.to(path)) { (path) },
                                        None => span .quiet { "its artifact is gone" },
                                    }
                                }
                                td { (tickets::link(ticket)) }
                            }
                        }
                    }
                }
            }
        }
    };
    live("Sync", overview, revision, &main)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_hold_no_byte_that_means_something() {
        for (path, address) in [
            ("docs/prd.md", "/artifact/docs/prd.md"),
            ("a b/\"<script>&?#%.md", "/artifact/a%20b/%22%3Cscript%3E%26%3F%23%25.md"),
            ("dé.md", "/artifact/d%C3%A9.md"),
        ] {
            assert_eq!(Links::Pages.to(&ProjectPath::new(path).unwrap()), address);
        }
        let row = Links::Rows.to(&ProjectPath::new("docs/prd.md").unwrap());
        assert!(row.starts_with("#a-") && row.len() == 3 + NAME_DIGITS, "{row}");
    }
}
