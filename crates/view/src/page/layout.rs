//! The parts that all pages share.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use jiff::Timestamp;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use stepmark_model::artifact::FileHash;

use super::{Piece, marks};
use crate::{overview::Overview, wording::visible_in_html};

pub const STYLE: &str = include_str!("assets/page.css");

/// The script of pages, where scripts run: search, filter, and follow changes. Everything can be read without
/// it.
pub const SCRIPT: &str = include_str!("assets/page.js");

/// The name of an inline script or style in a content security policy (CSP Level 3, "hash-source").
pub(super) fn hash_source(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(FileHash::of(text.as_bytes()).as_bytes()))
}

/// That the project cannot be looked at: what is shown was seen before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stale {
    /// Since when.
    pub since: Timestamp,
    pub why: String,
}

/// The state that a live page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revision<'s> {
    pub number: u64,
    /// The reason why it is not that of now; `None` where it is.
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

/// The form of a page: how it comes by its style and script, and what it may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form<'s> {
    /// One file, which holds all of it, with its parts beside those of every project: address and name.
    File(&'s [(&'s str, &'s str)]),
    /// A page of the server, which also follows changes. What it may do, the answer's header says.
    Live {
        revision: Revision<'s>,
        has_memory: bool,
        /// Set for the overview, whose parts come one by one; other pages are read again as a whole.
        has_pieces: bool,
    },
}

pub(super) const GENERATOR: &str = "stepmark report";

const PAGES: [(&str, &str); 3] = [("/", "Overview"), ("/journal", "Journal"), ("/sync", "Sync")];

/// The page of memory, where something is remembered.
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

/// A page or piece as it is handed out: characters that hide or turn text round are visible in it, as in the
/// terminal.
pub(super) fn text(markup: &Markup) -> String {
    visible_in_html(&markup.0)
}

/// The page `name` of the server, which is read again as a whole.
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
                        // No icon: a browser would ask for one.
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

/// The rights of a page in a file: nothing but to run its own script and be styled by its own style.
fn policy() -> String {
    let (script, style) = (hash_source(SCRIPT), hash_source(STYLE));
    format!(
        "default-src 'none'; script-src {script}; style-src {style}; img-src data:; base-uri 'none'; form-action 'none'"
    )
}
