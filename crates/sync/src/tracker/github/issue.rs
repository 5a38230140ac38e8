//! An issue in REST, and the fields of `ticket.fields`: `milestone`, `assignees` and `type`.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::PoisonError,
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::{Map, Value as Json, json};

use super::{GitHubTracker, request::Asked, rest::number_of};
use crate::{
    Error, Result,
    breaker::{Failure, Reason},
    ticket::{
        CloseReason, Differences, FieldDifference, ManagedSection, Marker, Observed, RemoteTicket, Ticket,
        TicketState,
    },
    tracker::{
        Change,
        http::{HttpRequest, Refused},
    },
};

/// Key in [`RemoteTicket::other_ids`]: GraphQL's id.
pub(super) const NODE_ID: &str = "node_id";

/// Key in [`RemoteTicket::other_ids`]: requests name a sub-issue by it.
pub(super) const DATABASE_ID: &str = "database_id";

/// GitHub's OpenAPI, schema `issue`.
#[derive(Debug, Deserialize)]
pub(super) struct RestIssue {
    pub(super) number: u64,
    id: u64,
    node_id: String,
    html_url: String,
    title: String,
    body: Option<String>,
    state: String,
    state_reason: Option<String>,
    labels: Vec<RestLabel>,
    created_at: Timestamp,
    #[serde(flatten)]
    pub(super) fields: IssueFields,
    #[serde(default)]
    comments: Option<u64>,
    #[serde(default)]
    parent_issue_url: Option<String>,
    #[serde(default)]
    pull_request: Option<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum RestLabel {
    Name(String),
    Object { name: Option<String> },
}

impl RestIssue {
    /// Pull requests are in the same lists.
    pub(super) const fn is_issue(&self) -> bool {
        self.pull_request.is_none()
    }

    pub(super) fn marker(&self) -> Option<Marker> {
        Marker::in_body(self.body.as_deref().unwrap_or_default())
    }

    pub(super) fn titled(self) -> (String, RemoteTicket) {
        (self.title, remote(self.number, self.id, self.node_id, self.html_url))
    }

    pub(super) fn observed(self, marker: Marker) -> Observed {
        let labels = self.labels.into_iter().filter_map(|label| match label {
            RestLabel::Name(name) => Some(name),
            RestLabel::Object { name } => name,
        });
        let parent_id = self.parent_issue_url.and_then(|url| {
            let (_, number) = url.rsplit_once('/')?;
            number.parse::<u64>().ok().map(|number| number.to_string())
        });
        let body = self.body.unwrap_or_default();
        Observed {
            remote: remote(self.number, self.id, self.node_id, self.html_url),
            stamp: marker.stamp_in(&body),
            is_untouched: self.comments == Some(0) && marker.is_alone_in(&body),
            marker,
            created_at: self.created_at,
            title: self.title,
            body,
            labels: labels.collect::<BTreeSet<_>>(),
            state: ticket_state(&self.state, self.state_reason.as_deref()),
            status: None,
            parent_id,
            fields: serde_json::to_value(&self.fields).ok(),
        }
    }
}

pub(super) fn remote(number: u64, database_id: u64, node_id: String, url: String) -> RemoteTicket {
    let other_ids =
        BTreeMap::from([(NODE_ID.to_owned(), node_id), (DATABASE_ID.to_owned(), database_id.to_string())]);
    RemoteTicket { id: number.to_string(), key: format!("#{number}"), url, other_ids }
}

/// In the case of REST or of GraphQL. An open issue has no progress there.
pub(super) fn ticket_state(state: &str, reason: Option<&str>) -> TicketState {
    if !state.eq_ignore_ascii_case("closed") {
        return TicketState::ToDo;
    }
    TicketState::Closed(match reason.map(str::to_ascii_lowercase).as_deref() {
        Some("not_planned") => CloseReason::NotPlanned,
        Some("duplicate") => CloseReason::Duplicate,
        // Issues that were closed before there were reasons have none.
        _ => CloseReason::Completed,
    })
}

pub(super) const fn reason_word(reason: CloseReason) -> &'static str {
    match reason {
        CloseReason::Completed => "completed",
        CloseReason::NotPlanned => "not_planned",
        CloseReason::Duplicate => "duplicate",
    }
}

pub(super) const BODY_LIMIT: usize = 65_536;

/// The marker is in text and label from the begin: no crash parts them.
pub(super) fn creation(ticket: &Ticket) -> Result<Json, Failure> {
    let body = ManagedSection::of(ticket).alone(BODY_LIMIT).map_err(|error| no_room(&error))?.body;
    Ok(json!({ "title": ticket.title, "body": body, "labels": ticket.labels }))
}

/// In order; none if nothing differs. A reason counts only if the state changes (GitHub's OpenAPI,
/// `state_reason`), so an issue closed for another reason is opened first.
pub(super) fn patches(differences: &[FieldDifference], before: TicketState, after: TicketState) -> Vec<Json> {
    let mut fields = Map::new();
    let mut patches = Vec::new();
    for difference in differences {
        match difference.field.as_str() {
            name @ ("title" | "body" | "labels") => {
                fields.insert(name.to_owned(), difference.after.clone());
            }
            "state" => {
                if let (TicketState::Closed(_), TicketState::Closed(_)) = (before, after) {
                    patches.push(json!({ "state": "open", "state_reason": "reopened" }));
                }
                let (state, reason) = match after {
                    TicketState::ToDo | TicketState::InProgress => ("open", "reopened"),
                    TicketState::Closed(reason) => ("closed", reason_word(reason)),
                };
                fields.insert("state".to_owned(), state.into());
                fields.insert("state_reason".to_owned(), reason.into());
            }
            // The parent has requests of its own; GitHub has no other fields that are managed.
            _ => {}
        }
    }
    if !fields.is_empty() {
        patches.push(Json::Object(fields));
    }
    patches
}

/// Adds the body to any change: it names the commit that it was written from.
pub(super) fn stamped(
    mut differences: Vec<FieldDifference>,
    desired: &Ticket,
    current: &Observed,
) -> Differences {
    let says_more = differences.iter().any(|own| own.field != "parent");
    if says_more && differences.iter().all(|own| own.field != "body") {
        let body = ManagedSection::of(desired).merged_into(&current.body, BODY_LIMIT)?.body;
        differences.extend(FieldDifference::between("body", current.body.as_str().into(), body.into()));
    }
    Ok(differences)
}

/// GitHub answers with the issue's new place after it was moved.
pub(super) fn moved(number: u64, current: &Observed) -> Option<Failure> {
    let detail = format!("issue #{number} was moved to {}", current.remote.url);
    (current.remote.id != number.to_string()).then(|| Failure::new(Reason::Gone, &detail))
}

pub(super) fn not_ours(change: &Change, current: &Observed) -> Option<Failure> {
    let number = match number_of(&change.remote) {
        Ok(number) => number,
        Err(failure) => return Some(failure),
    };
    let markers: Vec<Marker> = Marker::all_in(&current.body).collect();
    moved(number, current).or_else(|| change.refusal(&markers, current))
}

pub(super) fn no_room(error: &Error) -> Failure {
    Failure::new(Reason::Invalid, &error.to_string())
}

/// GitHub's OpenAPI, schema `issue`.
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

    /// Without the right to push, GitHub silently drops these fields.
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

fn logins(text: &str) -> BTreeSet<String> {
    let names = text.split(|letter: char| letter == ',' || letter.is_whitespace());
    names.map(|name| name.trim_start_matches('@').to_lowercase()).filter(|name| !name.is_empty()).collect()
}

/// GraphQL would want ids for all that these fields name.
pub(super) fn has_fields(desired: &Ticket, before: Option<&Ticket>) -> bool {
    !desired.fields.is_empty() || before.is_some_and(|before| !before.fields.is_empty())
}

impl GitHubTracker {
    /// Keeps a person's value if none is wanted, and accounts that stepmark did not assign.
    pub(super) async fn field_values(
        &self,
        desired: &Ticket,
        before: Option<&Ticket>,
        current: &IssueFields,
    ) -> Result<Map<String, Json>, Refused> {
        let mut values = Map::new();
        let wanted = |name: &str| desired.fields.get(name).map(String::as_str);
        let last = |name: &str| before.and_then(|before| before.fields.get(name)).map(String::as_str);
        let own = current.milestone.as_ref();
        match (wanted("milestone"), last("milestone")) {
            (Some(text), _) if !own.is_some_and(|own| own.is_called(text)) => {
                values.insert("milestone".to_owned(), self.milestone(text).await?.into());
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

    async fn milestone(&self, text: &str) -> Result<u64, Refused> {
        let known = |all: &[Milestone]| all.iter().find(|own| own.is_called(text)).map(|own| own.number);
        let found = known(&self.milestones.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some(number) = found {
            return Ok(number);
        }
        let mut all: Vec<Milestone> = Vec::new();
        for page in 1.. {
            let request = HttpRequest::get(self.addresses().milestones(page));
            let asked = self.ask::<Vec<Milestone>>(request, Asked::Repository);
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
