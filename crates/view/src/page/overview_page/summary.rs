//! The short answer: done, next, wrong.

use maud::{Markup, html};

use crate::page::{Links, marks};
use crate::{
    observation::Entry,
    overview::{Overview, Trouble},
    wording,
};

const SHOWN: usize = 6;

pub(super) fn summary(overview: &Overview, links: Links) -> Markup {
    let counts = overview.counts;
    html! {
        section #summary aria-labelledby="summary-title" {
            h2 #summary-title .hidden-title { "At a glance" }
            div .glance {
                div .block.done {
                    h3 { "Done" }
                    p .count { (counts.done) span .of { " of " (wording::count(counts.artifacts, "artifact")) } }
                    (list(overview, &overview.done, links, done))
                    (more(overview.done.len(), "#artifacts"))
                }
                div .block.next {
                    h3 { "Next" }
                    p .count { (counts.next) span .of { " to go on with" } }
                    @if let Some(waiting) = wording::waiting_stories(overview.waiting()) { p { (marks::prose(&waiting)) } }
                    (list(overview, &overview.next, links, next))
                    (more(overview.next.len(), "#artifacts"))
                }
                div .block.wrong {
                    h3 { "Wrong" }
                    p .count {
                        (counts.errors + counts.warnings)
                        span .of { " (" (wording::count(counts.errors, "error")) ", " (wording::count(counts.warnings, "warning")) ")" }
                    }
                    (troubles(&overview.wrong, links))
                    (more(overview.wrong.len(), "#findings"))
                }
            }
        }
    }
}

fn list(overview: &Overview, places: &[usize], links: Links, one: fn(&Entry) -> Markup) -> Markup {
    html! {
        @if places.is_empty() { p .quiet { "Nothing." } }
        @else {
            ul {
                @for entry in places.iter().take(SHOWN).filter_map(|place| overview.entries.get(*place)) {
                    li { a href=(links.to(&entry.path)) { (entry.name()) } " " (one(entry)) }
                }
            }
        }
    }
}

fn done(entry: &Entry) -> Markup {
    html! {
        span .quiet {
            @if let Some(at) = entry.changed_at { (marks::time(at)) }
            @else if let Some(status) = &entry.status { (status) }
            @else if let Some(bar) = &entry.bar { (bar.done) "/" (bar.total) }
        }
    }
}

fn next(entry: &Entry) -> Markup {
    html! {
        @if let Some(next) = &entry.next { code { (next) } }
        @else if let Some(status) = &entry.status { span .tag { (status) } }
    }
}

fn troubles(troubles: &[Trouble], links: Links) -> Markup {
    html! {
        @if troubles.is_empty() { p .quiet { "Nothing." } }
        @else {
            ul {
                @for trouble in troubles.iter().take(SHOWN) {
                    li {
                        (marks::severity(trouble.severity)) " "
                        @if let Some(path) = &trouble.path { a href=(links.to(path)) { (path.file_name()) } ": " }
                        (marks::prose(&trouble.what))
                        @if let Some(rule) = trouble.rule { " " a .rule href=(links.to_rule(rule)) { (rule) } }
                    }
                }
            }
        }
    }
}

fn more(count: usize, place: &str) -> Markup {
    html! {
        @if count > SHOWN { p .more { a href=(place) { "and " (count - SHOWN) " more" } } }
    }
}
