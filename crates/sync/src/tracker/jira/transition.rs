//! Ways from one status to another: which there are depends on the workflow and on the status that an issue
//! has now. Pure.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::status::{Category, JiraStatus, StatusGoal, resolutions, same_name, usual_names};
use crate::ticket::{CloseReason, TicketState};

/// A way out of the status that an issue has now (OpenAPI, schema `IssueTransition`).
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

/// The list of them (schema `Transitions`).
#[derive(Debug, Deserialize)]
pub(super) struct Transitions {
    #[serde(default)]
    pub(super) transitions: Vec<Transition>,
}

const RESOLUTION: &str = "resolution";

#[derive(Clone, Copy, Debug)]
pub(super) struct Choice<'t> {
    pub(super) way: &'t Transition,
    /// True where it leads to a status than which none is better; else the issue may be in a better one
    /// already, where others moved it.
    pub(super) is_best: bool,
}

/// The way to take: straight to such a status where there is one, else to another that is open and not among
/// `passed`, from which it may go on; `None` where there is none. A way that asks for what nobody here knows
/// is not taken.
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
            let usual = usual_names(*reason).iter().copied();
            let known = preferred.iter().copied().chain(usual).find_map(|name| named(&name));
            // Of finished work a status that nobody knows may be another thing than it seems.
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
    /// A way of which it is known that it asks for nothing.
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

    /// Returns whether it ends where `goal` is.
    pub(super) fn leads_to(&self, goal: &StatusGoal<'_>) -> bool {
        goal.is_met(&self.to.name, self.to.category())
    }

    fn says(&self, reason: CloseReason) -> bool {
        let allowed = self.fields.get(RESOLUTION).map(|field| field.allowed.as_slice()).unwrap_or_default();
        let names = || allowed.iter().filter_map(|value| value.name.as_deref());
        resolutions(reason).iter().any(|wanted| names().any(|name| name.eq_ignore_ascii_case(wanted)))
    }

    fn is_usable(&self) -> bool {
        let mut asked =
            self.fields.iter().filter(|(_, field)| field.required && field.has_default != Some(true));
        self.is_available != Some(false)
            && asked.all(|(name, field)| name == RESOLUTION && !field.allowed.is_empty())
    }
}

/// The resolution that says `reason`; any one, where the screen demands one and none says so.
fn resolution(field: &ScreenField, reason: CloseReason) -> Option<&str> {
    let allowed = || field.allowed.iter().filter_map(|value| value.name.as_deref());
    let mut names = resolutions(reason).iter();
    let named = names.find_map(|wanted| allowed().find(|name| name.eq_ignore_ascii_case(wanted)));
    named.or_else(|| allowed().next().filter(|_| field.required))
}

#[cfg(test)]
mod tests {
    use super::*;

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
