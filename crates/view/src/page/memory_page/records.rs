//! Decisions by month, newest first, and other records by kind.

use maud::{Markup, html};
use stepmark_memory::{Decision, MemoryRecord, context::plain};

use super::{Places, TEXT, element_id, rest};
use crate::{observation::RememberedKind, page::marks, wording};

const REJECTED: usize = 8;

pub(super) fn decisions(kind: Option<&RememberedKind>, places: &Places<'_>) -> Markup {
    let newest = kind.map(|kind| kind.newest.as_slice()).unwrap_or_default();
    let month = |(record, _): &(MemoryRecord, _)| record.created_at.strftime("%B %Y").to_string();
    html! {
        section #decisions aria-labelledby="decisions-title" {
            h2 #decisions-title { "Decisions" }
            @if newest.is_empty() { p .quiet { "No decision is remembered." } }
            @for decided in newest.chunk_by(|one, other| month(one) == month(other)) {
                @if let Some(first) = decided.first() { h3 { (month(first)) } }
                ol .events { @for (record, others) in decided { (decision(record, others, places)) } }
            }
            (rest(newest.len(), kind.map_or(0, |kind| kind.total), "stepmark memory decisions"))
        }
    }
}

fn decision(record: &MemoryRecord, others: &[String], places: &Places<'_>) -> Markup {
    let (question, chosen) = match &record.decision {
        Some(Decision { question, chosen, .. }) => (plain(question, TEXT), plain(chosen, TEXT)),
        None => (plain(&record.content, TEXT), String::new()),
    };
    let rejected = record.decision.as_ref().map(|own| own.alternatives.as_slice()).unwrap_or_default();
    html! {
        li id=(element_id(&record.id)) {
            (marks::time(record.created_at)) " "
            @if others.is_empty() { strong { (question) } } @else { s { (question) } " " (places.successors(others)) }
            dl {
                @if !chosen.is_empty() {
                    dt { "Chosen" } dd { @if others.is_empty() { (chosen) } @else { s { (chosen) } } }
                }
                @if let Some(reason) = &record.rationale { dt { "Because" } dd { (plain(reason, TEXT)) } }
                @if !rejected.is_empty() {
                    dt { "Rejected" }
                    dd {
                        @for (at, answer) in rejected.iter().take(REJECTED).enumerate() {
                            @if at > 0 { "; " } (plain(answer, TEXT))
                        }
                        @if rejected.len() > REJECTED { "; … and " (rejected.len() - REJECTED) " more" }
                    }
                }
                @if let Some(path) = &record.source.artifact { dt { "About" } dd { (places.about(path)) } }
                dt { "Decided by" } dd { (places.origin(record)) }
            }
        }
    }
}

pub(super) fn others(kinds: &[&RememberedKind], places: &Places<'_>) -> Markup {
    html! {
        section #remembered aria-labelledby="remembered-title" {
            h2 #remembered-title { "Remembered besides" }
            @for RememberedKind { kind, newest, total } in kinds {
                h3 { (kind.name()) " " span .quiet { (wording::count(*total, "record")) } }
                ul .plain { @for (record, others) in newest { (other(record, others, places)) } }
                (rest(newest.len(), *total, &format!("stepmark memory recall --all --kind {}", kind.name())))
            }
        }
    }
}

fn other(record: &MemoryRecord, others: &[String], places: &Places<'_>) -> Markup {
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
