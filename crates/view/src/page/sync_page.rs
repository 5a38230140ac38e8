//! Tickets: trackers, queue, breakers, and every ticket.

use maud::html;

use super::{
    Links, Revision,
    layout::{self, Form},
    tickets,
};
use crate::overview::Overview;

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
    let form = Form::Live { revision, has_memory: overview.has_memory, has_pieces: false };
    let title = format!("Sync – {}", overview.project);
    layout::text(&layout::page(&title, &overview.project, overview.at, form, &main))
}
