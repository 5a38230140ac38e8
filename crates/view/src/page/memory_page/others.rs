//! Records that are no decisions, by kind.

use maud::{Markup, html};
use stepmark_memory::{MemoryRecord, context::plain};

use super::{Places, TEXT, element_id, rest};
use crate::{observation::RememberedKind, page::marks, wording};

pub(super) fn section(kinds: &[&RememberedKind], places: &Places<'_>) -> Markup {
    html! {
        section #remembered aria-labelledby="remembered-title" {
            h2 #remembered-title { "Remembered besides" }
            @for RememberedKind { kind, newest, total } in kinds {
                h3 { (kind.name()) " " span .quiet { (wording::count(*total, "record")) } }
                ul .plain { @for (record, others) in newest { (one(record, others, places)) } }
                (rest(newest.len(), *total, &format!("stepmark memory recall --all --kind {}", kind.name())))
            }
        }
    }
}

fn one(record: &MemoryRecord, others: &[String], places: &Places<'_>) -> Markup {
    let content = plain(&record.content, TEXT);
    html! {
        li id=(element_id(&record.id)) {
            @if others.is_empty() { (content) } @else { s { (content) } " " (places.successors(others)) }
            @if record.is_expired(places.overview.at) { " " span .tag { "ended" } }
            @if let Some(reason) = &record.rationale { ", because " (plain(reason, TEXT)) }
            small {
                (marks::time(record.created_at)) ", " (places.origin(record))
                @if let Some(path) = &record.source.artifact { ", about " (places.about(path)) }
            }
        }
    }
}
