//! Tickets: sent, waiting, blocked.

use maud::{Markup, html};

use super::marks;
use crate::{
    observation::{TicketLink, TrackerState},
    overview::Overview,
    wording,
};

pub(super) fn section(overview: &Overview) -> Markup {
    html! {
        section #tickets aria-labelledby="tickets-title" {
            h2 #tickets-title { "Tickets" }
            @if overview.trackers.is_empty() { p .quiet { "The configuration names no tracker." } }
            @for tracker in &overview.trackers { (one(tracker)) }
        }
    }
}

fn one(tracker: &TrackerState) -> Markup {
    html! {
        h3 { (tracker.name) span .quiet { " " (tracker.place) } }
        dl {
            dt { "Tickets" } dd { (tracker.tickets.len()) }
            dt { "Queue" }
            dd {
                @if tracker.queue.is_empty() { "nothing to do" }
                @for (at, (kind, count)) in tracker.queue.iter().enumerate() {
                    @if at > 0 { ", " } (count) " to " (kind)
                }
                @if tracker.in_doubt > 0 { ", " (tracker.in_doubt) " in doubt" }
            }
            dt { "Breakers" }
            dd { @if tracker.breakers.is_empty() { "all closed" } @else { (tracker.breakers.len()) " open" } }
            dt { "Leader" }
            dd {
                @if let Some(leader) = &tracker.leader { (leader.holder) " until " (marks::time(leader.until)) }
                @else { "nobody" }
            }
            @if let Some(at) = tracker.listed_at { dt { "Looked through" } dd { (marks::time(at)) } }
        }
        @if !tracker.breakers.is_empty() || !tracker.deliveries.is_empty() {
            ul .plain {
                @for breaker in &tracker.breakers {
                    li {
                        span .tag.error { "breaker open" } " " code { (breaker.scope) } " since " (marks::time(breaker.since))
                        ", tried again after " (marks::time(breaker.until)) ": " (breaker.why)
                        @if let Some(remedy) = &breaker.remedy { small { (remedy) } }
                    }
                }
                @for delivery in &tracker.deliveries {
                    li {
                        @match delivery.until {
                            Some(until) => { span .tag.warning { "waiting" } " " (delivery.name) " until " (marks::time(until)) },
                            None => { span .tag.error { "parked" } " " (delivery.name) },
                        }
                        ", " (wording::count(delivery.attempts, "attempt")) ": " (delivery.why)
                    }
                }
            }
        }
    }
}

/// Links only to web addresses.
pub(super) fn link(ticket: &TicketLink) -> Markup {
    let is_web = ["https://", "http://"].iter().any(|scheme| ticket.url.starts_with(scheme));
    html! {
        @if is_web { a href=(ticket.url) rel="noopener noreferrer" { (ticket.key) } } @else { (ticket.key) }
        @if !ticket.is_in_step { small { "to be brought in step" } }
    }
}
