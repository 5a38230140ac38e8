//! The rules of a Jira project (types, fields, statuses), and the obstacles known before anything is written.
//! Jira is asked before the first write, and again after a while.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, de::DeserializeOwned};

use super::{
    issue::{self, Field},
    service::{JiraSettings, JiraTracker},
    status::{Category, JiraStatus, StatusGoal, is_given_up, same_name, usual_names},
};
use crate::{
    moment,
    ticket::{CloseReason, RemoteTicket, Ticket},
    tracker::http::Refused,
};

const KEPT_MS: u64 = 15 * 60 * 1000;

const PAGES: usize = 20;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ProjectFacts {
    types: Vec<TypeFacts>,
}

/// OpenAPI, schema `IssueTypeWithStatus`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub(super) struct TypeFacts {
    pub(super) id: String,
    /// In the language of the account.
    pub(super) name: String,
    #[serde(default, rename = "subtask")]
    is_sub_task: bool,
    #[serde(default)]
    statuses: Vec<JiraStatus>,
    /// 1 for epics, 0 for stories; `None` if Jira does not say.
    #[serde(skip)]
    level: Option<i64>,
    #[serde(skip)]
    may_be_made: bool,
    /// For a new issue; `None` if they were not asked for.
    #[serde(skip)]
    fields: Option<Vec<Field>>,
}

pub(super) type KeptFacts = Option<(Timestamp, Arc<ProjectFacts>)>;

/// OpenAPI, schema `IssueTypeIssueCreateMetadata`.
#[derive(Debug, Deserialize)]
struct NewType {
    id: String,
    #[serde(default, rename = "hierarchyLevel")]
    level: Option<i64>,
}

/// Schemas `PageOfCreateMetaIssueTypes`, `PageOfCreateMetaIssueTypeWithField`.
#[derive(Debug, Deserialize)]
struct MetaPage<T> {
    #[serde(default = "Vec::new", rename = "issueTypes", alias = "fields", alias = "results")]
    items: Vec<T>,
    #[serde(default)]
    total: usize,
}

impl ProjectFacts {
    pub(super) fn type_called(&self, wanted: &str) -> Option<&TypeFacts> {
        self.types.iter().find(|own| own.is_called(wanted))
    }

    pub(super) fn type_of(&self, remote: &RemoteTicket) -> Option<&TypeFacts> {
        let told = |key: &str| remote.other_ids.get(key);
        told(super::issue::ISSUE_TYPE_ID)
            .or_else(|| told(super::issue::ISSUE_TYPE))
            .and_then(|own| self.type_called(own))
    }

    pub(super) fn status(&self, id: &str) -> Option<&JiraStatus> {
        self.types.iter().flat_map(|own| &own.statuses).find(|status| status.id == id)
    }
}

impl TypeFacts {
    pub(super) fn is_called(&self, wanted: &str) -> bool {
        self.id == wanted || same_name(&self.name, wanted)
    }

    /// The one with a usual name, else the only one that is not of work given up; `None` if several are left.
    pub(super) fn finished(&self) -> Option<&JiraStatus> {
        let is_finished =
            |status: &&JiraStatus| status.category() == Category::Done && !is_given_up(&status.name);
        let finished: Vec<&JiraStatus> = self.statuses.iter().filter(is_finished).collect();
        let named = |name: &str| finished.iter().copied().find(|status| same_name(&status.name, name));
        usual_names(CloseReason::Completed).find_map(named).or(match finished[..] {
            [only] => Some(only),
            _ => None,
        })
    }

    pub(super) fn field(&self, id: &str) -> Option<&Field> {
        self.fields.iter().flatten().find(|field| field.id == id)
    }

    fn status_names(&self, is_listed: impl Fn(&JiraStatus) -> bool) -> String {
        let listed = self.statuses.iter().filter(|status| is_listed(status));
        list(listed.map(|status| status.name.as_str()))
    }
}

impl JiraTracker {
    pub(super) async fn facts(&self) -> Result<Arc<ProjectFacts>, Refused> {
        let mut kept = self.facts.lock().await;
        if let Some((told_at, facts)) = &*kept
            && self.now() < moment::after(*told_at, KEPT_MS)
            && *told_at <= self.now()
        {
            return Ok(Arc::clone(facts));
        }
        let facts = Arc::new(self.ask_facts().await?);
        *kept = Some((self.now(), Arc::clone(&facts)));
        Ok(facts)
    }

    /// Something was refused that should have been accepted.
    pub(super) async fn forget_facts(&self) {
        *self.facts.lock().await = None;
    }

    async fn ask_facts(&self) -> Result<ProjectFacts, Refused> {
        let mut types: Vec<TypeFacts> =
            self.get(&["project", &self.settings.project, "statuses"], &[]).await?;
        for new in self.createmeta::<NewType>(&[]).await? {
            if let Some(own) = types.iter_mut().find(|own| own.id == new.id) {
                (own.may_be_made, own.level) = (true, new.level);
            }
        }
        let names = self.settings.types.names();
        for own in types.iter_mut().filter(|own| own.may_be_made) {
            if names.iter().any(|name| own.is_called(name)) {
                own.fields = Some(self.createmeta(&[&own.id]).await?);
            }
        }
        Ok(ProjectFacts { types })
    }

    /// Types of the project, or the fields of one of them.
    async fn createmeta<T: DeserializeOwned>(&self, below: &[&str]) -> Result<Vec<T>, Refused> {
        let path = [&["issue", "createmeta", &self.settings.project, "issuetypes"], below].concat();
        let mut all = Vec::new();
        for _ in 0..PAGES {
            let start = all.len().to_string();
            let page: MetaPage<T> = self.get(&path, &[("startAt", &start), ("maxResults", "200")]).await?;
            let is_last = page.items.is_empty();
            all.extend(page.items);
            if is_last || all.len() >= page.total {
                break;
            }
        }
        Ok(all)
    }
}

const GIVEN: [&str; 3] = ["summary", "description", "labels"];

impl JiraSettings {
    pub(super) fn creation_obstacle(
        &self,
        facts: &ProjectFacts,
        ticket: &Ticket,
        parent: Option<&RemoteTicket>,
    ) -> Option<String> {
        let (wanted, below) = self.types.of_new(ticket, parent);
        let Some(own) = facts.type_called(wanted).filter(|own| own.may_be_made) else {
            let known = facts.types.iter().filter(|own| own.may_be_made).map(|own| own.name.as_str());
            return Some(format!(
                "the project {} has no type of issue `{wanted}` that this account may make; it has {}",
                self.project,
                list(known)
            ));
        };
        let name = &own.name;
        let is_type = |named: &Option<String>| named.as_ref().is_some_and(|named| own.is_called(named));
        if own.is_sub_task && below.is_none() {
            return Some(format!("an issue of the type `{name}` cannot be without one above it"));
        }
        if is_type(&self.types.child) && below.is_some() && !own.is_sub_task {
            return Some(format!(
                "`child_issue_type: {name}` is no type of sub-tasks, so nothing of it hangs below an issue"
            ));
        }
        if is_type(&self.types.epic) && own.level.is_some_and(|level| level < 1) {
            return Some(format!(
                "`epic_issue_type: {name}` is no type of epics, so no story hangs below an issue of it"
            ));
        }
        self.field_obstacle(own, ticket)
    }

    pub(super) fn status_obstacle(&self, own: &TypeFacts, ticket: &Ticket) -> Option<String> {
        let name = &own.name;
        match StatusGoal::of(ticket, &self.statuses) {
            StatusGoal::Closed { reason: CloseReason::Completed, .. } if own.finished().is_none() => {
                let closed = own.status_names(|status| status.category() == Category::Done);
                let word = ticket.status.as_deref().unwrap_or("done");
                Some(format!(
                    "issues of the type `{name}` have no status that is known to be of finished work among {closed}: name the one that is meant, `statuses: {{{word}: NAME}}`"
                ))
            }
            goal if own.statuses.iter().any(|status| goal.is_met(&status.name, status.category())) => None,
            goal => {
                let (goal, known) = (called(&goal), own.status_names(|_| true));
                Some(format!("issues of the type `{name}` have no {goal}; they have {known}"))
            }
        }
    }

    /// One line for each cause.
    pub(super) fn obstacles(&self, facts: &ProjectFacts, tickets: &[(&Ticket, bool)]) -> Vec<String> {
        let mut obstacles: Vec<String> = Vec::new();
        for (ticket, is_new) in tickets {
            let (wanted, _) = self.types.of_new(ticket, None);
            let creation = is_new.then(|| self.creation_obstacle(facts, ticket, None)).flatten();
            let status = facts.type_called(wanted).and_then(|own| self.status_obstacle(own, ticket));
            obstacles.extend([creation, status].into_iter().flatten());
        }
        obstacles.sort();
        obstacles.dedup();
        obstacles
    }

    fn field_obstacle(&self, own: &TypeFacts, ticket: &Ticket) -> Option<String> {
        let new = format!("new issues of the type `{}`", own.name);
        let all = own.fields.as_ref()?;
        let given: Vec<(&str, &str)> = issue::given(ticket).collect();
        for (id, text) in &given {
            let Some(field) = own.field(id) else {
                return Some(format!(
                    "{new} have no field `{id}`: take it out of `ticket.fields`, or let it onto their screen"
                ));
            };
            if let Err(why) = field.value(text) {
                return Some(format!("`ticket.fields.{id}` (\"{}\"): {why}", field.name));
            }
        }
        if let Some(missing) = GIVEN.iter().find(|id| own.field(id).is_none()) {
            return Some(format!(
                "{new} have no field `{missing}`, which stepmark writes: let it onto their screen"
            ));
        }
        let is_filled =
            |id: &str| issue::OWN_FIELDS.contains(&id) || given.iter().any(|(given, _)| *given == id);
        let missing =
            all.iter().find(|field| field.required && !field.has_default && !is_filled(&field.id))?;
        let (id, field) = (&missing.id, &missing.name);
        if self.mapped.contains(id) {
            let file = ticket.file.shown();
            return Some(format!(
                "{file} lacks what `ticket.fields.{id}` makes the field \"{field}\" from, which {new} need"
            ));
        }
        Some(format!("{new} need the field \"{field}\": give it by `ticket.fields: {{{id}: VALUE}}`"))
    }
}

pub(super) fn called(goal: &StatusGoal<'_>) -> String {
    match goal {
        StatusGoal::Named(name) | StatusGoal::Closed { preferred: Some(name), .. } => {
            format!("status `{name}`")
        }
        StatusGoal::Closed { .. } => "status of closed issues".to_owned(),
        StatusGoal::In(Category::ToDo) => "status of work that has not begun".to_owned(),
        StatusGoal::In(_) => "status of work in progress".to_owned(),
    }
}

fn list<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let all: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    if all.is_empty() { "none".to_owned() } else { all.join(", ") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn statuses(own: &[(&str, &str)]) -> TypeFacts {
        let told = own
            .iter()
            .map(|(name, key)| json!({ "id": name, "name": name, "statusCategory": { "key": key } }));
        TypeFacts { statuses: serde_json::from_value(told.collect()).unwrap(), ..TypeFacts::default() }
    }

    #[test]
    fn finished_work_is_not_what_was_given_up() {
        for (own, expected) in [
            (vec![("Cancelled", "done"), ("Done", "done")], Some("Done")),
            (vec![("Released", "done"), ("Closed", "done"), ("Done", "done")], Some("Done")),
            (vec![("Cancelled", "done"), ("Shipped", "done")], Some("Shipped")),
            (vec![("Cancelled", "done"), ("Open", "new")], None),
            (vec![("Erledigt", "done"), ("Verworfen", "done")], None),
        ] {
            assert_eq!(statuses(&own).finished().map(|own| own.name.as_str()), expected, "{own:?}");
        }
    }
}
