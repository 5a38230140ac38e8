//! Decisions, the newest first, by month.

use maud::{Markup, html};
use stepmark_memory::{Decision, MemoryRecord, context::plain};

use super::{Places, TEXT, element_id, rest};
use crate::{observation::RememberedKind, page::marks};

const REJECTED: usize = 8;

pub(super) fn section(decisions: Option<&RememberedKind>, places: &Places<'_>) -> Markup {
    let newest = decisions.map(|decisions| decisions.newest.as_slice()).unwrap_or_default();
    let month = |(record, _): &(MemoryRecord, _)| record.created_at.strftime("%B %Y").to_string();
    html! {
        section #decisions aria-labelledby="decisions-title" {
            h2 #decisions-title { "Decisions" }
            @if newest.is_empty() { p .quiet { "No decision is remembered." } }
            @for decided in newest.chunk_by(|one, other| month(one) == month(other)) {
                @if let Some(first) = decided.first() { h3 { (month(first)) } }
                ol .events { @for (record, others) in decided { (one(record, others, places)) } }
            }
            (rest(newest.len(), decisions.map_or(0, |decisions| decisions.total), "stepmark memory decisions"))
        }
    }
}

fn one(record: &MemoryRecord, others: &[String], places: &Places<'_>) -> Markup {
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
