//! Making issues.

use std::collections::BTreeMap;

use reqwest::Method;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::{
    adf::{Description, Section},
    fetch::Found,
    fields::{self, summary},
    issue::{ISSUE_TYPE, ISSUE_TYPE_ID, JiraIssue, all_spelled, property, remote},
    project_facts::ProjectFacts,
    request::{ErrorCollection, reason, refusal},
    service::{JiraSettings, JiraTracker},
};
use crate::{
    breaker::{Failure, Reason},
    tracker::{
        Creation, Delivered, Outcome,
        http::{Effect, HttpReply, HttpRequest, Refused},
    },
};

/// The number of issues that are made in one request at most (docs/formats.md, "Trackers").
pub(super) const CREATE_BATCH: usize = 50;

/// The results of creations (OpenAPI, schema `CreatedIssues`).
#[derive(Debug, Default, Deserialize)]
struct CreatedIssues {
    #[serde(default)]
    issues: Vec<CreatedIssue>,
    #[serde(default)]
    errors: Vec<ElementError>,
}

#[derive(Clone, Debug, Deserialize)]
struct CreatedIssue {
    id: String,
    key: String,
}

/// An issue that was not made (schema `BulkOperationErrorResult`).
#[derive(Debug, Deserialize)]
struct ElementError {
    #[serde(rename = "failedElementNumber")]
    at: usize,
    #[serde(default)]
    status: Option<u16>,
    #[serde(default, rename = "elementErrors")]
    errors: ErrorCollection,
}

impl JiraTracker {
    /// Makes issues, at most [`CREATE_BATCH`]. They are read back at once: the answer to their creation tells
    /// their ids alone.
    pub(super) async fn create_issues(&self, creations: &[Creation]) -> Vec<Outcome<Delivered>> {
        let facts = match self.facts().await {
            Ok(facts) => facts,
            Err(refused) => {
                return creations.iter().map(|_| Outcome::Failed(refused.failure().clone())).collect();
            }
        };
        let mut outcomes: BTreeMap<usize, Outcome<Delivered>> = BTreeMap::new();
        let (mut bodies, mut sent) = (Vec::new(), Vec::new());
        for (at, creation) in creations.iter().enumerate() {
            match self.settings.creation(creation, &facts) {
                Ok(body) => {
                    bodies.push(body);
                    sent.push(at);
                }
                Err(error) => {
                    let failure = Failure::new(Reason::Invalid, &error);
                    outcomes.insert(at, Outcome::Failed(failure));
                }
            }
        }
        if !sent.is_empty() {
            let wanted: Vec<&Creation> = sent.iter().map(|at| &creations[*at]).collect();
            let made = self.make(&wanted, bodies, &facts).await;
            if made.iter().any(is_invalid) {
                self.forget_facts().await;
            }
            outcomes.extend(sent.into_iter().zip(made));
        }
        outcomes.into_values().collect()
    }

    async fn make(
        &self,
        wanted: &[&Creation],
        bodies: Vec<Json>,
        facts: &ProjectFacts,
    ) -> Vec<Outcome<Delivered>> {
        let body = json!({ "issueUpdates": bodies });
        let request = HttpRequest::write(Method::POST, self.url(&["issue", "bulk"], &[]), body);
        let made = self.http.send(request).await.and_then(|reply| created(&reply, self.now()));
        let made = match made {
            Ok(made) => made,
            Err(refused) => return wanted.iter().map(|_| refused.clone().outcome()).collect(),
        };
        let ids: Vec<&str> = made.issues.iter().map(|issue| issue.id.as_str()).collect();
        // Where they cannot be read back, they are made all the same.
        let found =
            if ids.is_empty() { Found::default() } else { self.fetch(&ids).await.unwrap_or_default() };
        self.matched((wanted, facts), made, &found, self.site().await)
    }

    /// The outcomes of the creations, each with its own issue: the marker tells which. Without one their
    /// order does, where none is missing.
    fn matched(
        &self,
        (wanted, facts): (&[&Creation], &ProjectFacts),
        made: CreatedIssues,
        found: &Found,
        site: &str,
    ) -> Vec<Outcome<Delivered>> {
        let failures: BTreeMap<usize, Outcome<Delivered>> =
            made.errors.iter().map(|error| (error.at, error.outcome())).collect();
        let failed = failures.keys().filter(|at| **at < wanted.len()).count();
        let is_whole = made.issues.len() + failed == wanted.len();
        let mut in_order = made.issues.iter();
        let outcomes = wanted.iter().enumerate().map(|(at, creation)| {
            if let Some(outcome) = failures.get(&at) {
                return outcome.clone();
            }
            let next = in_order.next().filter(|_| is_whole);
            let marker = &creation.ticket.marker;
            let own = found.issues().find(|issue| issue.marker().as_ref() == Some(marker));
            match (own, next) {
                (Some(issue), _) => Outcome::Done(self.read_back(creation, issue.clone(), site)),
                (None, Some(issue)) => Outcome::Done(self.unread(creation, issue.clone(), (site, facts))),
                (None, None) => {
                    let detail = "the answer does not say which of the issues were made";
                    Outcome::InDoubt(Failure::new(Reason::Unreadable, detail))
                }
            }
        });
        outcomes.collect()
    }

    fn read_back(&self, creation: &Creation, issue: JiraIssue, site: &str) -> Delivered {
        let ticket = &creation.ticket;
        let current = issue.observed(ticket.marker.clone(), site);
        let missing = self.settings.missing(ticket, (None, creation.parent.as_ref()), &current);
        // It was made, whatever somebody else has written into it since; the next change of it tells what is
        // wrong.
        let missing = missing.unwrap_or_else(|_| ticket.differences(None));
        Delivered { remote: current.remote, missing, is_overwritten: false }
    }

    /// An issue of which only its id is known: it may lack anything.
    fn unread(
        &self,
        creation: &Creation,
        issue: CreatedIssue,
        (site, facts): (&str, &ProjectFacts),
    ) -> Delivered {
        let ticket = &creation.ticket;
        let mut remote = remote(issue.id, issue.key, site);
        let (wanted, _) = self.settings.types.of_new(ticket, creation.parent.as_ref());
        if let Some(own) = facts.type_called(wanted) {
            let told = [(ISSUE_TYPE, &own.name), (ISSUE_TYPE_ID, &own.id)];
            remote.other_ids.extend(told.map(|(key, told)| (key.to_owned(), told.clone())));
        }
        Delivered { remote, missing: ticket.differences(None), is_overwritten: false }
    }
}

impl ElementError {
    fn outcome(&self) -> Outcome<Delivered> {
        let status = self.status.unwrap_or(400);
        let failure = Failure::new(reason(status, None), &format!("HTTP {status}: {}", self.errors.told()));
        match failure.reason {
            Reason::ServerError | Reason::Timeout => Outcome::InDoubt(failure),
            _ => Outcome::Failed(failure),
        }
    }
}

fn is_invalid(outcome: &Outcome<Delivered>) -> bool {
    outcome.failure().is_some_and(|failure| failure.reason == Reason::Invalid)
}

/// Returns what an answer says was made. Where nothing was, Jira answers with 400 and the same form.
fn created(reply: &HttpReply, now: jiff::Timestamp) -> Result<CreatedIssues, Refused> {
    if reply.status == 400
        && let Ok(made) = serde_json::from_str::<CreatedIssues>(&reply.body)
        && !made.errors.is_empty()
    {
        return Ok(made);
    }
    reply.read(Effect::Writes, refusal(reply, now))
}

impl JiraSettings {
    /// One element of the request that makes issues (OpenAPI, schema `IssueUpdateDetails`). The marker stands
    /// in a property and the project's label among the labels, so that no crash parts them. What the project
    /// will not take is told and not sent.
    pub(super) fn creation(&self, creation: &Creation, facts: &ProjectFacts) -> Result<Json, String> {
        let (ticket, parent) = (&creation.ticket, creation.parent.as_ref());
        if let Some(obstacle) = self.creation_obstacle(facts, ticket, parent) {
            return Err(obstacle);
        }
        let merged = Section(ticket).merged_into(&Description::empty());
        let description = merged.map_err(|error| error.to_string())?;
        let (wanted, parent) = self.types.of_new(ticket, parent);
        let own = facts.type_called(wanted);
        let mut fields: Map<String, Json> = fields::values(ticket, None, own)?;
        let own = [
            ("project", json!({ "key": self.project })),
            ("issuetype", json!({ "id": own.map(|own| &own.id) })),
            ("summary", json!(summary(&ticket.title))),
            ("description", description.json()),
            ("labels", json!(all_spelled(&ticket.labels))),
        ];
        fields.extend(own.map(|(name, value)| (name.to_owned(), value)));
        if let Some(parent) = parent {
            fields.insert("parent".to_owned(), json!({ "id": parent }));
        }
        Ok(json!({ "fields": fields, "properties": [property(&ticket.marker, &ticket.stamp)] }))
    }
}
