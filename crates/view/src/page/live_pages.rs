//! The journal as it grows, and tickets: trackers, queue, breakers, and every ticket.

use maud::html;

use super::{Links, Revision, layout, tickets, timeline};
use crate::overview::Overview;

const SHOWN: usize = 300;

/// The latest events, the last first.
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
    layout::live("Journal", overview, revision, &main)
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
    layout::live("Sync", overview, revision, &main)
}
