//! Statuses of Jira, and the one that a ticket should have. Every workflow names its own; what they have in
//! common are three categories.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::project_facts::TypeFacts;
use crate::ticket::{CloseReason, Observed, Ticket, TicketState};

/// A status as Jira tells it (OpenAPI, schema `StatusDetails`).
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct JiraStatus {
    #[serde(default)]
    pub(super) id: String,
    pub(super) name: String,
    #[serde(rename = "statusCategory")]
    category: JiraCategory,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct JiraCategory {
    key: String,
}

/// The categories of statuses (OpenAPI, schema `StatusCategory`), in the order in which work goes through
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Category {
    /// `new`.
    ToDo,
    /// `indeterminate`.
    InProgress,
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatusGoal<'s> {
    /// The one with this name: the configuration says so.
    Named(&'s str),
    /// One of the category `Done`. That of work which was given up is none of finished work, although Jira
    /// calls both done.
    Closed {
        reason: CloseReason,
        /// The one with this name, if it is known.
        preferred: Option<&'s str>,
    },
    In(Category),
}

impl JiraStatus {
    /// Its category. One that Jira calls undefined is of work that has not begun.
    pub(super) fn category(&self) -> Category {
        match self.category.key.as_str() {
            "done" => Category::Done,
            "indeterminate" => Category::InProgress,
            _ => Category::ToDo,
        }
    }

    /// Returns what it says about a ticket; `resolution` is the name of the reason why it is closed.
    pub(super) fn ticket_state(&self, resolution: Option<&str>) -> TicketState {
        match self.category() {
            Category::ToDo => TicketState::ToDo,
            Category::InProgress => TicketState::InProgress,
            Category::Done => TicketState::Closed(match resolution.map(reason_of) {
                None | Some(CloseReason::Completed) if is_given_up(&self.name) => CloseReason::NotPlanned,
                told => told.unwrap_or(CloseReason::Completed),
            }),
        }
    }
}

/// The names of the resolutions of Jira for a reason, the most usual first. A site may have others.
pub(super) const fn resolutions(reason: CloseReason) -> &'static [&'static str] {
    match reason {
        CloseReason::Completed => &["done", "fixed", "resolved", "complete", "completed"],
        CloseReason::NotPlanned => &["won't do", "wont do", "declined", "won't fix", "cannot reproduce"],
        CloseReason::Duplicate => &["duplicate"],
    }
}

/// The names that statuses of closed issues usually have for a reason, the most usual first. A site may have
/// others.
pub(super) const fn usual_names(reason: CloseReason) -> &'static [&'static str] {
    match reason {
        CloseReason::Completed => &["done", "closed", "resolved", "completed", "complete", "finished"],
        CloseReason::NotPlanned => &[
            "cancelled",
            "canceled",
            "won't do",
            "wont do",
            "won't fix",
            "not planned",
            "declined",
            "rejected",
            "abandoned",
            "withdrawn",
            "discarded",
            "obsolete",
            "invalid",
        ],
        CloseReason::Duplicate => &["duplicate"],
    }
}

pub(super) fn is_given_up(name: &str) -> bool {
    let reasons = [CloseReason::NotPlanned, CloseReason::Duplicate];
    reasons.into_iter().flat_map(usual_names).any(|usual| same_name(usual, name))
}

fn reason_of(resolution: &str) -> CloseReason {
    let is_of = |reason| resolutions(reason).iter().any(|name| name.eq_ignore_ascii_case(resolution));
    let reasons = [CloseReason::NotPlanned, CloseReason::Duplicate];
    reasons.into_iter().find(|reason| is_of(*reason)).unwrap_or(CloseReason::Completed)
}

impl<'s> StatusGoal<'s> {
    /// The status that `ticket` should have; `statuses` are the names that the configuration gives for status
    /// words. A name counts wherever the artifact says the word itself. A ticket that is closed for another
    /// reason, since its artifact is gone or since it is a duplicate, still has the word of before, and is
    /// closed whatever that is called.
    pub(super) fn of(ticket: &Ticket, statuses: &'s BTreeMap<String, String>) -> Self {
        let word = ticket.status.as_deref();
        let named = word.and_then(|word| {
            let same = statuses.iter().find(|(own, _)| own.eq_ignore_ascii_case(word));
            statuses.get(word).or(same.map(|(_, name)| name)).map(String::as_str)
        });
        match (ticket.state, named) {
            (TicketState::Closed(reason @ (CloseReason::NotPlanned | CloseReason::Duplicate)), preferred) => {
                Self::Closed { reason, preferred }
            }
            (_, Some(name)) => Self::Named(name),
            (TicketState::Closed(reason), None) => Self::Closed { reason, preferred: None },
            (TicketState::ToDo, None) => Self::In(Category::ToDo),
            (TicketState::InProgress, None) => Self::In(Category::InProgress),
        }
    }

    pub(super) fn knowing(self, own: Option<&'s TypeFacts>) -> Self {
        match self {
            Self::Closed { reason: reason @ CloseReason::Completed, preferred: None } => {
                let finished = own.and_then(TypeFacts::finished);
                Self::Closed { reason, preferred: finished.map(|status| status.name.as_str()) }
            }
            other => other,
        }
    }

    pub(super) fn is_met(&self, name: &str, category: Category) -> bool {
        match self {
            Self::Named(wanted) => same_name(wanted, name),
            Self::Closed { reason: CloseReason::Completed, .. } => {
                category == Category::Done && !is_given_up(name)
            }
            Self::Closed { .. } => category == Category::Done,
            Self::In(wanted) => category == *wanted,
        }
    }

    pub(super) fn is_met_by(&self, observed: &Observed) -> bool {
        let category = match observed.state {
            TicketState::ToDo => Category::ToDo,
            TicketState::InProgress => Category::InProgress,
            TicketState::Closed(_) => Category::Done,
        };
        self.is_met(observed.status.as_deref().unwrap_or_default(), category)
    }

    pub(super) const fn category(&self) -> Option<Category> {
        match self {
            Self::Named(_) => None,
            Self::Closed { .. } => Some(Category::Done),
            Self::In(category) => Some(*category),
        }
    }
}

/// Returns whether two names of statuses are one. Jira's own searches do not look at case.
pub(super) fn same_name(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ticket::sample::ticket;

    #[test]
    fn the_configuration_names_statuses_and_categories_do_the_rest() {
        use CloseReason::{Completed, Duplicate, NotPlanned};
        let statuses = BTreeMap::from([("in-review".to_owned(), "In Review".to_owned())]);
        for (state, word, goal) in [
            (TicketState::ToDo, None, StatusGoal::In(Category::ToDo)),
            (TicketState::InProgress, Some("draft"), StatusGoal::In(Category::InProgress)),
            (TicketState::InProgress, Some("In-Review"), StatusGoal::Named("In Review")),
            (
                TicketState::Closed(Completed),
                Some("done"),
                StatusGoal::Closed { reason: Completed, preferred: None },
            ),
            (TicketState::Closed(Completed), Some("in-review"), StatusGoal::Named("In Review")),
            (
                TicketState::Closed(NotPlanned),
                Some("in-review"),
                StatusGoal::Closed { reason: NotPlanned, preferred: Some("In Review") },
            ),
            (TicketState::Closed(Duplicate), None, StatusGoal::Closed { reason: Duplicate, preferred: None }),
        ] {
            let ticket = Ticket { state, status: word.map(str::to_owned), ..ticket("a", |_| {}) };
            assert_eq!(StatusGoal::of(&ticket, &statuses), goal);
        }
        assert!(StatusGoal::Named("In Review").is_met("in review", Category::ToDo));
        assert!(!StatusGoal::Named("In Review").is_met("Review", Category::InProgress));
        for (reason, status, is_met) in [
            (Completed, "y", true),
            (Completed, "Cancelled", false),
            (NotPlanned, "Cancelled", true),
            (NotPlanned, "y", true),
        ] {
            assert_eq!(
                StatusGoal::Closed { reason, preferred: Some("x") }.is_met(status, Category::Done),
                is_met
            );
        }
    }

    #[test]
    fn a_resolution_says_why_a_ticket_is_closed() {
        let named = |name: &str, key: &str| -> JiraStatus {
            serde_json::from_value(serde_json::json!({ "name": name, "statusCategory": { "key": key } }))
                .unwrap()
        };
        let status = |key: &str| named("S", key);
        let given_up = TicketState::Closed(CloseReason::NotPlanned);
        assert_eq!(named("Cancelled", "done").ticket_state(None), given_up);
        assert_eq!(named("Cancelled", "done").ticket_state(Some("Done")), given_up);
        for (key, resolution, state) in [
            ("new", None, TicketState::ToDo),
            ("undefined", None, TicketState::ToDo),
            ("indeterminate", None, TicketState::InProgress),
            ("done", None, TicketState::Closed(CloseReason::Completed)),
            ("done", Some("Won't Do"), TicketState::Closed(CloseReason::NotPlanned)),
            ("done", Some("Duplicate"), TicketState::Closed(CloseReason::Duplicate)),
            ("done", Some("Shipped"), TicketState::Closed(CloseReason::Completed)),
        ] {
            assert_eq!(status(key).ticket_state(resolution), state, "{key} {resolution:?}");
        }
    }
}
