//! The events, by session.

use maud::{Markup, html};

use super::{Links, marks};
use crate::{
    overview::{EventRow, Overview, SessionRow},
    wording,
};

const SESSIONS: usize = 20;
const EVENTS: usize = 12;
const OPEN: usize = 2;

/// `Known`: shown once above the list, not at each event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    Known,
    All,
}

pub(super) fn section(overview: &Overview, links: Links) -> Markup {
    let sessions = &overview.sessions;
    html! {
        section #timeline aria-labelledby="timeline-title" {
            h2 #timeline-title { "Timeline" }
            @if sessions.is_empty() { p .quiet { "Nothing is recorded yet." } }
            @for (place, session) in sessions.iter().take(SESSIONS).enumerate() {
                (one(session, place < OPEN, links))
            }
            @if sessions.len() > SESSIONS {
                p .more { "and " (wording::count(sessions.len() - SESSIONS, "session")) " more: " code { "stepmark session list" } }
            }
        }
    }
}

fn one(session: &SessionRow, is_open: bool, links: Links) -> Markup {
    // One actor is shown above the list.
    let whose = if session.actors.len() == 1 { Whose::Known } else { Whose::All };
    html! {
        details open[is_open] {
            summary {
                strong { (session.name.as_deref().unwrap_or("outside of sessions")) }
                @if session.is_open { " " span .tag.underway { "goes on" } }
                span .quiet {
                    " " (marks::time(session.first_at)) " – " (marks::time(session.last_at)) ", "
                    (wording::count(session.events.len(), "event")) ", "
                    (session.actors.iter().cloned().collect::<Vec<_>>().join(", "))
                }
            }
            ol .events { @for event in session.events.iter().take(EVENTS) { (event_item(event, links, whose)) } }
            @if session.events.len() > EVENTS {
                p .more { "and " (session.events.len() - EVENTS) " more: " code { "stepmark log" } }
            }
        }
    }
}

pub(super) fn event_item(event: &EventRow, links: Links, whose: Whose) -> Markup {
    html! {
        li {
            (marks::time(event.at)) " "
            @if let Whose::All = whose {
                strong .actor { (event.actor) } " "
                @if let Some(session) = &event.session { span .quiet { "in " (session) } " " }
            }
            @if event.kind != "change" { span .tag { (event.kind) } " " }
            @if let Some(path) = &event.path { a href=(links.to(path)) { (path.file_name()) } " " }
            (event.what)
            @if let Some(reason) = &event.reason { " " span .quiet { "(" (reason) ")" } }
        }
    }
}
