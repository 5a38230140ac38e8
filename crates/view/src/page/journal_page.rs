//! The journal as it grows.

use maud::html;

use super::{
    Links, Revision,
    layout::{self, Form},
    timeline,
};
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
    let form = Form::Live { revision, has_memory: overview.has_memory, has_pieces: false };
    let title = format!("Journal – {}", overview.project);
    layout::text(&layout::page(&title, &overview.project, overview.at, form, &main))
}
