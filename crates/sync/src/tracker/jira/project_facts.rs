//! The rules of a project of Jira: its types of issues, the fields that each wants, and its statuses. Jira is
//! asked once and again after a while, before anything is written, and never for a round in which nothing is.

use std::sync::Arc;

use jiff::Timestamp;
use serde::Deserialize;

use super::{
    JiraTracker,
    field::Field,
    status::{Category, JiraStatus, is_given_up, same_name},
};
use crate::{
    moment,
    ticket::{CloseReason, RemoteTicket},
    tracker::http::{HttpRequest, Refused},
};

const KEPT_MS: u64 = 15 * 60 * 1000;

/// The number of pages of types or fields that are asked for at most.
const PAGES: usize = 20;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ProjectFacts {
    pub(super) types: Vec<TypeFacts>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TypeFacts {
    pub(super) id: String,
    /// Its name, in the language of the account.
    pub(super) name: String,
    /// True where its issues hang below others always.
    pub(super) is_sub_task: bool,
    /// Its level, where Jira says so: 1 for epics, 0 for what hangs below them.
    pub(super) level: Option<i64>,
    /// True where the account may make such issues.
    pub(super) may_be_made: bool,
    /// The fields that a new one may have; `None` where they were not asked for.
    pub(super) fields: Option<Vec<Field>>,
    pub(super) statuses: Vec<JiraStatus>,
}

pub(super) type KeptFacts = Option<(Timestamp, Arc<ProjectFacts>)>;

/// A type and its statuses (OpenAPI, schema `IssueTypeWithStatus`).
#[derive(Debug, Deserialize)]
struct TypeWithStatuses {
    id: String,
    name: String,
    #[serde(default)]
    subtask: bool,
    #[serde(default)]
    statuses: Vec<JiraStatus>,
}

/// A type of which new issues can be made (schema `IssueTypeIssueCreateMetadata`).
#[derive(Debug, Deserialize)]
struct NewType {
    id: String,
    #[serde(default, rename = "hierarchyLevel")]
    level: Option<i64>,
}

/// A page of them (schema `PageOfCreateMetaIssueTypes`).
#[derive(Debug, Deserialize)]
struct NewTypes {
    #[serde(default, rename = "issueTypes")]
    types: Vec<NewType>,
    #[serde(default)]
    total: usize,
}

/// A page of fields (schema `PageOfCreateMetaIssueTypeWithField`).
#[derive(Debug, Deserialize)]
struct NewFields {
    #[serde(default, alias = "results")]
    fields: Vec<Field>,
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

    /// The one status of finished work: the one with a usual name, else the only one that is not of work that
    /// was given up. Of several with names of their own nobody knows which is meant.
    pub(super) fn finished(&self) -> Option<&JiraStatus> {
        let finished = || {
            self.statuses
                .iter()
                .filter(|status| status.category() == Category::Done && !is_given_up(&status.name))
        };
        let usual = super::status::usual_names(CloseReason::Completed).iter();
        let named = usual.filter_map(|name| finished().find(|status| same_name(&status.name, name))).next();
        named.or_else(|| finished().next().filter(|_| finished().count() == 1))
    }

    pub(super) fn field(&self, id: &str) -> Option<&Field> {
        self.fields.iter().flatten().find(|field| field.id == id)
    }
}

impl JiraTracker {
    /// Returns what the project allows, as it was told a while ago at most.
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

    /// Asks again next time: something was refused that should have been taken.
    pub(super) async fn forget_facts(&self) {
        *self.facts.lock().await = None;
    }

    async fn ask_facts(&self) -> Result<ProjectFacts, Refused> {
        let project = &self.settings.project;
        let told: Vec<TypeWithStatuses> =
            self.ask(HttpRequest::get(self.addresses().statuses(project))).await?;
        let types = told.into_iter().map(|told| TypeFacts {
            id: told.id,
            name: told.name,
            is_sub_task: told.subtask,
            statuses: told.statuses,
            ..TypeFacts::default()
        });
        let mut facts = ProjectFacts { types: types.collect() };
        let new = self
            .pages(
                |start| self.addresses().new_types(project, start),
                |page: NewTypes| (page.types, page.total),
            )
            .await?;
        for new in new {
            if let Some(own) = facts.types.iter_mut().find(|own| own.id == new.id) {
                (own.may_be_made, own.level) = (true, new.level);
            }
        }
        let names = self.settings.types.names();
        for own in facts.types.iter_mut().filter(|own| own.may_be_made) {
            if !names.iter().any(|name| own.is_called(name)) {
                continue;
            }
            let address = |start| self.addresses().new_fields(project, &own.id, start);
            let fields = self.pages(address, |page: NewFields| (page.fields, page.total)).await?;
            own.fields = Some(fields);
        }
        Ok(facts)
    }

    /// All of a list that Jira tells in pages; `part` takes a page apart: what stands on it, and how much
    /// there is in all.
    async fn pages<P: serde::de::DeserializeOwned, T>(
        &self,
        address: impl Fn(usize) -> url::Url,
        part: impl Fn(P) -> (Vec<T>, usize),
    ) -> Result<Vec<T>, Refused> {
        let mut all = Vec::new();
        for _ in 0..PAGES {
            let (page, total) = part(self.ask(HttpRequest::get(address(all.len()))).await?);
            let is_last = page.is_empty();
            all.extend(page);
            if is_last || all.len() >= total {
                break;
            }
        }
        Ok(all)
    }
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
