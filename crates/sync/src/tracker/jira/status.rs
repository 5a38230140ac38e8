//! Statuses of Jira, and transitions, which depend on the workflow and the current status. Names differ by
//! workflow; the three categories are common. Pure.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::project_facts::TypeFacts;
use crate::ticket::{CloseReason, Observed, Ticket, TicketState};

/// OpenAPI, schema `StatusDetails`.
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

/// OpenAPI, schema `StatusCategory`; in the order of work.
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
    Named(&'s str),
    /// Of the category `Done`, which Jira uses for finished work and for work given up.
    Closed {
        reason: CloseReason,
        preferred: Option<&'s str>,
    },
    In(Category),
}

impl JiraStatus {
    /// `undefined` counts as not begun.
    pub(super) fn category(&self) -> Category {
        match self.category.key.as_str() {
            "done" => Category::Done,
            "indeterminate" => Category::InProgress,
            _ => Category::ToDo,
        }
    }

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

/// The most usual first; a site may have others.
fn resolutions(reason: CloseReason) -> impl Iterator<Item = &'static str> {
    let names = match reason {
        CloseReason::Completed => "done|fixed|resolved|complete|completed",
        CloseReason::NotPlanned => "won't do|wont do|declined|won't fix|cannot reproduce",
        CloseReason::Duplicate => "duplicate",
    };
    names.split('|')
}

/// The most usual first; a site may have others.
pub(super) fn usual_names(reason: CloseReason) -> impl Iterator<Item = &'static str> {
    let names = match reason {
        CloseReason::Completed => "done|closed|resolved|completed|complete|finished",
        CloseReason::NotPlanned => {
            "cancelled|canceled|won't do|wont do|won't fix|not planned|declined|rejected|abandoned|withdrawn|\
             discarded|obsolete|invalid"
        }
        CloseReason::Duplicate => "duplicate",
    };
    names.split('|')
}

pub(super) fn is_given_up(name: &str) -> bool {
    let reasons = [CloseReason::NotPlanned, CloseReason::Duplicate];
    reasons.into_iter().flat_map(usual_names).any(|usual| same_name(usual, name))
}

fn reason_of(resolution: &str) -> CloseReason {
    let is_of = |reason| resolutions(reason).any(|name| name.eq_ignore_ascii_case(resolution));
    let reasons = [CloseReason::NotPlanned, CloseReason::Duplicate];
    reasons.into_iter().find(|reason| is_of(*reason)).unwrap_or(CloseReason::Completed)
}

impl<'s> StatusGoal<'s> {
    /// `statuses` maps status words to names. A name counts if the artifact says the word itself. A ticket
    /// closed for another reason (artifact gone, duplicate) still has the word of before, and is closed
    /// whatever that maps to.
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

/// Jira's own searches ignore case.
pub(super) fn same_name(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.trim().to_lowercase()
}

/// OpenAPI, schema `IssueTransition`.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Transition {
    pub(super) id: String,
    pub(super) to: JiraStatus,
    #[serde(default, rename = "isAvailable")]
    is_available: Option<bool>,
    #[serde(default)]
    fields: BTreeMap<String, ScreenField>,
}

#[derive(Clone, Debug, Deserialize)]
struct ScreenField {
    required: bool,
    #[serde(default, rename = "hasDefaultValue")]
    has_default: Option<bool>,
    #[serde(default, rename = "allowedValues")]
    allowed: Vec<NamedValue>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct NamedValue {
    name: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Transitions {
    #[serde(default)]
    pub(super) transitions: Vec<Transition>,
}

const RESOLUTION: &str = "resolution";

#[derive(Clone, Copy, Debug)]
pub(super) struct Choice<'t> {
    pub(super) way: &'t Transition,
    /// No status is better; else others may have moved the issue to a better one already.
    pub(super) is_best: bool,
}

/// Straight to such a status, else to another open one that is not in `passed`. Transitions that need unknown
/// input are skipped.
pub(super) fn choose<'t>(
    transitions: &'t [Transition],
    goal: &StatusGoal<'_>,
    passed: &BTreeSet<String>,
) -> Option<Choice<'t>> {
    let mut usable = transitions.iter().filter(|way| way.is_usable());
    let meets = |way: &&Transition| way.leads_to(goal);
    let straight: Vec<&Transition> = usable.clone().filter(meets).collect();
    let named = |name: &&str| straight.iter().copied().find(|way| same_name(&way.to.name, name));
    let first = match goal {
        StatusGoal::Closed { reason, preferred } => {
            let usual = || usual_names(*reason).find_map(|name| named(&name));
            let known = preferred.and_then(|name| named(&name)).or_else(usual);
            // An unknown status of category `Done` may mean given up.
            let says_why = || straight.iter().copied().find(|way| way.says(*reason));
            let any = || says_why().or(straight.first().copied());
            let unknown = || any().filter(|_| *reason != CloseReason::Completed);
            known.map(|way| (way, true)).or_else(|| Some((unknown()?, false)))
        }
        _ => straight.first().map(|way| (*way, true)),
    };
    if let Some((way, is_best)) = first {
        return Some(Choice { way, is_best });
    }
    let is_new = |way: &&Transition| !passed.contains(&way.to.name.to_lowercase());
    let is_open = |way: &&Transition| way.to.category() != Category::Done;
    // Work goes through what is in progress; only to what has not begun a way may lead over what has not
    // begun.
    let rank = |way: &&Transition| match goal.category() {
        Some(Category::ToDo) => way.to.category() as u8,
        _ => u8::from(way.to.category() != Category::InProgress),
    };
    let step = usable.by_ref().filter(is_new).filter(is_open).min_by_key(rank)?;
    Some(Choice { way: step, is_best: false })
}

impl Transition {
    /// Without required fields.
    pub(super) const fn to(id: String, to: JiraStatus) -> Self {
        Self { id, to, is_available: None, fields: BTreeMap::new() }
    }

    pub(super) fn request(&self, state: TicketState) -> Json {
        let mut body = json!({ "transition": { "id": self.id } });
        if let (TicketState::Closed(reason), Some(field)) = (state, self.fields.get(RESOLUTION))
            && self.to.category() == Category::Done
            && let Some(name) = resolution(field, reason)
        {
            body["fields"] = json!({ RESOLUTION: { "name": name } });
        }
        body
    }

    pub(super) fn leads_to(&self, goal: &StatusGoal<'_>) -> bool {
        goal.is_met(&self.to.name, self.to.category())
    }

    fn says(&self, reason: CloseReason) -> bool {
        let allowed = self.fields.get(RESOLUTION).map(|field| field.allowed.as_slice()).unwrap_or_default();
        let names = || allowed.iter().filter_map(|value| value.name.as_deref());
        resolutions(reason).any(|wanted| names().any(|name| name.eq_ignore_ascii_case(wanted)))
    }

    fn is_usable(&self) -> bool {
        let mut asked =
            self.fields.iter().filter(|(_, field)| field.required && field.has_default != Some(true));
        self.is_available != Some(false)
            && asked.all(|(name, field)| name == RESOLUTION && !field.allowed.is_empty())
    }
}

fn resolution(field: &ScreenField, reason: CloseReason) -> Option<&str> {
    let allowed = || field.allowed.iter().filter_map(|value| value.name.as_deref());
    let named =
        resolutions(reason).find_map(|wanted| allowed().find(|name| name.eq_ignore_ascii_case(wanted)));
    named.or_else(|| allowed().next().filter(|_| field.required))
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
            serde_json::from_value(json!({ "name": name, "statusCategory": { "key": key } })).unwrap()
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

    fn way(id: &str, to: &str, category: &str, more: Json) -> Transition {
        let mut way = json!({ "id": id, "to": { "name": to, "statusCategory": { "key": category } } });
        if let (Some(way), Json::Object(more)) = (way.as_object_mut(), more) {
            way.extend(more);
        }
        serde_json::from_value(way).unwrap()
    }

    fn ways() -> Vec<Transition> {
        let resolution =
            json!({ "required": true, "allowedValues": [{ "name": "Done" }, { "name": "Won't Do" }] });
        vec![
            way("1", "Backlog", "new", json!({})),
            way("2", "In Progress", "indeterminate", json!({})),
            way("3", "In Review", "indeterminate", json!({})),
            way("4", "Secret", "done", json!({ "isAvailable": false })),
            way("5", "Asking", "done", json!({ "fields": { "cause": { "required": true } } })),
            way("6", "Closed", "done", json!({ "fields": { "resolution": resolution } })),
            way("7", "Done", "done", json!({})),
            way("8", "Cancelled", "done", json!({})),
            way("9", "Shipped", "done", json!({})),
        ]
    }

    #[test]
    fn the_straightest_way_is_taken() {
        let all = ways();
        let open = &all[..3];
        let closed = |reason, preferred| StatusGoal::Closed { reason, preferred };
        let passed = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        for (ways, goal, passed, id) in [
            (&all[..], closed(CloseReason::Completed, None), passed(&[]), Some("7")),
            (&all[..], closed(CloseReason::NotPlanned, None), passed(&[]), Some("8")),
            (&all[..6], closed(CloseReason::Completed, None), passed(&[]), Some("6")),
            // What is known by no name may be of work that was given up.
            (&all[7..], closed(CloseReason::Completed, None), passed(&[]), None),
            (&all[7..], closed(CloseReason::Duplicate, None), passed(&[]), Some("8")),
            (&all[..], closed(CloseReason::Completed, Some("shipped")), passed(&[]), Some("9")),
            (&all[..], closed(CloseReason::NotPlanned, Some("done")), passed(&[]), Some("7")),
            (&all[..], StatusGoal::Named("in review"), passed(&[]), Some("3")),
            (&all[..], StatusGoal::In(Category::ToDo), passed(&[]), Some("1")),
            (open, closed(CloseReason::Completed, None), passed(&["in progress"]), Some("3")),
            (open, closed(CloseReason::Completed, None), passed(&["in progress", "in review"]), Some("1")),
            (open, StatusGoal::Named("Elsewhere"), passed(&["in progress", "in review", "backlog"]), None),
            (&all[6..7], StatusGoal::In(Category::ToDo), passed(&[]), None),
        ] {
            assert_eq!(
                choose(ways, &goal, &passed).map(|choice| choice.way.id.as_str()),
                id,
                "{goal:?} {passed:?}"
            );
        }
    }

    #[test]
    fn a_closed_ticket_says_why_where_it_is_asked() {
        let closed = |reason| TicketState::Closed(reason);
        let all = ways();
        for (at, state, resolution) in [
            (5, closed(CloseReason::NotPlanned), json!("Won't Do")),
            (5, closed(CloseReason::Completed), json!("Done")),
            (5, closed(CloseReason::Duplicate), json!("Done")),
            (6, closed(CloseReason::Completed), Json::Null),
            (1, closed(CloseReason::Completed), Json::Null),
        ] {
            let request = all[at].request(state);
            assert_eq!(request["fields"]["resolution"]["name"], resolution, "{request}");
        }
    }
}
