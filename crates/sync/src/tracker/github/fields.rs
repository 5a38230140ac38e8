//! Fields of issues that a project maps by itself (`ticket.fields`): `milestone`, `assignees` and `type`.

use std::{collections::BTreeSet, sync::PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use super::{
    GitHubTracker,
    refusal::{Asked, ask},
};
use crate::{
    breaker::{Failure, Reason},
    pace::Budget,
    ticket::{FieldDifference, Observed, Ticket},
    tracker::http::{HttpRequest, Refused},
};

/// The values of these fields in an issue (GitHub's OpenAPI, schema `issue`).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct IssueFields {
    milestone: Option<Milestone>,
    assignees: Option<Vec<Account>>,
    #[serde(rename = "type")]
    issue_type: Option<IssueType>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Milestone {
    number: u64,
    title: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Account {
    login: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct IssueType {
    name: String,
}

impl Milestone {
    fn is_called(&self, text: &str) -> bool {
        self.title.eq_ignore_ascii_case(text.trim()) || self.number.to_string() == text.trim()
    }
}

impl IssueFields {
    fn assignees(&self) -> BTreeSet<String> {
        self.assignees.iter().flatten().map(|account| account.login.to_lowercase()).collect()
    }

    fn type_name(&self) -> Option<&str> {
        self.issue_type.as_ref().map(|own| own.name.as_str())
    }

    pub(super) fn of(observed: &Observed) -> Option<Self> {
        Self::deserialize(observed.fields.as_ref()?).ok()
    }

    /// The fields that do not say what they should: without the right to push, GitHub drops them without a
    /// word.
    pub(super) fn missing(&self, desired: &Ticket) -> Vec<FieldDifference> {
        let missing = desired.fields.iter().filter_map(|(name, wanted)| {
            let (says, shown) = match name.as_str() {
                "milestone" => {
                    let own = self.milestone.as_ref();
                    (own.is_some_and(|own| own.is_called(wanted)), own.map(|own| own.title.clone()))
                }
                "assignees" => {
                    let own = self.assignees();
                    (logins(wanted).is_subset(&own), Some(own.into_iter().collect::<Vec<_>>().join(", ")))
                }
                _ => {
                    let own = self.type_name();
                    (own.is_some_and(|own| own.eq_ignore_ascii_case(wanted.trim())), own.map(str::to_owned))
                }
            };
            let (field, before, after) =
                (format!("fields.{name}"), Json::from(shown), wanted.as_str().into());
            (!says).then_some(FieldDifference { field, before, after })
        });
        missing.collect()
    }
}

/// The accounts that a value names: `ada, @ben`.
fn logins(text: &str) -> BTreeSet<String> {
    let names = text.split(|letter: char| letter == ',' || letter.is_whitespace());
    names.map(|name| name.trim_start_matches('@').to_lowercase()).filter(|name| !name.is_empty()).collect()
}

/// Returns whether a change is about any of these fields: GraphQL would want ids for all that they name.
pub(super) fn has_fields(desired: &Ticket, before: Option<&Ticket>) -> bool {
    !desired.fields.is_empty() || before.is_some_and(|before| !before.fields.is_empty())
}

impl GitHubTracker {
    /// Returns what a request gives so that an issue that says `current` says what it should. A value that a
    /// person gave where none is wanted stays, and so do accounts that stepmark did not assign.
    pub(super) async fn field_values(
        &self,
        desired: &Ticket,
        before: Option<&Ticket>,
        current: &IssueFields,
        heard: &mut Option<Budget>,
    ) -> Result<Map<String, Json>, Refused> {
        let mut values = Map::new();
        let wanted = |name: &str| desired.fields.get(name).map(String::as_str);
        let last = |name: &str| before.and_then(|before| before.fields.get(name)).map(String::as_str);
        let own = current.milestone.as_ref();
        match (wanted("milestone"), last("milestone")) {
            (Some(text), _) if !own.is_some_and(|own| own.is_called(text)) => {
                values.insert("milestone".to_owned(), self.milestone(text, heard).await?.into());
            }
            (None, Some(text)) if own.is_some_and(|own| own.is_called(text)) => {
                values.insert("milestone".to_owned(), Json::Null);
            }
            _ => {}
        }
        let own = current.assignees();
        let of = |text: Option<&str>| text.map(logins).unwrap_or_default();
        let (added, former) = (of(wanted("assignees")), of(last("assignees")));
        let assignees: BTreeSet<String> = own.difference(&former).chain(&added).cloned().collect();
        if assignees != own {
            values.insert("assignees".to_owned(), json!(assignees));
        }
        let is_own =
            |text: &str| current.type_name().is_some_and(|own| own.eq_ignore_ascii_case(text.trim()));
        match (wanted("type"), last("type")) {
            (Some(text), _) if !is_own(text) => drop(values.insert("type".to_owned(), text.trim().into())),
            (None, Some(text)) if is_own(text) => drop(values.insert("type".to_owned(), Json::Null)),
            _ => {}
        }
        Ok(values)
    }

    async fn milestone(&self, text: &str, heard: &mut Option<Budget>) -> Result<u64, Refused> {
        let known = |all: &[Milestone]| all.iter().find(|own| own.is_called(text)).map(|own| own.number);
        let found = known(&self.milestones.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some(number) = found {
            return Ok(number);
        }
        let mut all: Vec<Milestone> = Vec::new();
        for page in 1.. {
            let request = HttpRequest::get(self.addresses().milestones(page));
            let asked = ask::<Vec<Milestone>>(&self.http, request, Asked::Repository, || self.now(), heard);
            let (milestones, _) = asked.await?;
            let is_last = milestones.len() < PAGE;
            all.extend(milestones);
            if is_last {
                break;
            }
        }
        let found = known(&all);
        *self.milestones.lock().unwrap_or_else(PoisonError::into_inner) = all;
        found.ok_or_else(|| {
            let detail = format!(
                "the repository has no milestone `{text}`: make it, or change `ticket.fields.milestone`"
            );
            Refused::Failed(Failure::new(Reason::Invalid, &detail))
        })
    }
}

pub(super) const PAGE: usize = 100;
