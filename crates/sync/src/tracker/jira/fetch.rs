//! Reading issues by their ids, which shows what was just written.

use std::collections::BTreeMap;

use super::{
    adf::{Description, Section},
    issue::{
        self, FIELDS, ISSUE_TYPE, ISSUE_TYPE_ID, JiraIssue, PROPERTY, all_spelled, jql, property, remote,
        spelled, summary,
    },
    project_facts::ProjectFacts,
    service::{ErrorCollection, JiraSettings, JiraTracker, reason, refusal},
};
use crate::{
    breaker::{Failure, Reason},
    ticket::{Observed, RemoteTicket, project_label},
    tracker::{
        Creation, Cursor, Delivered, Outcome, Page,
        http::{Effect, HttpReply, HttpRequest, Refused},
    },
};
use reqwest::Method;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Map, Value as Json, json};

/// In one request (Atlassian's "Bulk fetch issues").
pub(super) const READ_BATCH: usize = 100;

/// OpenAPI, schema `BulkIssueResults`.
#[derive(Debug, Deserialize)]
struct Results {
    #[serde(default)]
    issues: Vec<JiraIssue>,
    #[serde(default, rename = "issueErrors")]
    errors: Vec<IssueError>,
}

#[derive(Debug, Deserialize)]
struct IssueError {
    #[serde(default)]
    id: String,
    #[serde(default, rename = "errorMessage")]
    message: String,
}

#[derive(Debug, Default)]
pub(super) struct Found {
    issues: BTreeMap<String, JiraIssue>,
    errors: BTreeMap<String, String>,
    project: String,
}

impl Found {
    pub(super) fn get(&self, ticket: &RemoteTicket) -> Result<JiraIssue, Failure> {
        // A ticket that BMAD names has the key as its id until it was read once.
        let by_key = || self.issues.values().find(|issue| issue.key == ticket.id);
        if let Some(issue) = self.issues.get(&ticket.id).or_else(by_key) {
            if is_of(issue, &self.project) {
                return Ok(issue.clone());
            }
            let detail = format!("issue {} was moved to another project, as {}", ticket.key, issue.key);
            return Err(Failure::new(Reason::Gone, &detail));
        }
        Err(match self.errors.get(&ticket.id) {
            Some(message) => {
                // Retry: Jira lists here what it could not finish now.
                let detail = format!("issue {} could not be read: {message}", ticket.key);
                Failure::new(Reason::Conflict, &detail)
            }
            None => {
                let detail = format!("issue {} is not there, or the credential may not see it", ticket.key);
                Failure::new(Reason::Gone, &detail)
            }
        })
    }

    pub(super) fn issues(&self) -> impl Iterator<Item = &JiraIssue> {
        self.issues.values()
    }
}

/// A moved issue gets another key, and is still found by its id.
fn is_of(issue: &JiraIssue, project: &str) -> bool {
    issue.key.rsplit_once('-').is_some_and(|(own, _)| own.eq_ignore_ascii_case(project))
}

impl JiraTracker {
    /// At most [`READ_BATCH`]. Jira refuses this request to anonymous users; of a single issue it would say
    /// that it does not exist.
    pub(super) async fn fetch(&self, ids: &[&str]) -> Result<Found, Refused> {
        let body = json!({ "issueIdsOrKeys": ids, "fields": FIELDS, "properties": [PROPERTY] });
        let results: Results =
            self.ask(HttpRequest::query(self.url(&["issue", "bulkfetch"], &[]), body)).await?;
        let mut project = self.settings.project.clone();
        if results.issues.iter().any(|issue| !is_of(issue, &project)) {
            // The project may have another key by now, and is found by the former one, too.
            project = self.project().await?.key;
        }
        Ok(Found {
            project,
            issues: results.issues.into_iter().map(|issue| (issue.id.clone(), issue)).collect(),
            errors: results.errors.into_iter().map(|error| (error.id, error.message)).collect(),
        })
    }

    pub(super) async fn read_issues(&self, tickets: &[RemoteTicket]) -> Vec<Outcome<Option<Observed>>> {
        let (site, mut outcomes) = (self.site().await, Vec::with_capacity(tickets.len()));
        for some in tickets.chunks(READ_BATCH) {
            let ids: Vec<&str> = some.iter().map(|ticket| ticket.id.as_str()).collect();
            match self.fetch(&ids).await {
                Err(refused) => {
                    let failure = Failure::from(refused);
                    outcomes.extend(some.iter().map(|_| Outcome::Failed(failure.clone())));
                }
                Ok(found) => outcomes.extend(some.iter().map(|ticket| match found.get(ticket) {
                    Err(failure) => Outcome::Failed(failure),
                    Ok(issue) => Outcome::Done(issue.marker().map(|marker| issue.observed(marker, site))),
                })),
            }
        }
        outcomes
    }
}

const PAGE: usize = 100;

/// OpenAPI, schema `SearchAndReconcileResults`.
#[derive(Debug, Deserialize)]
struct ListedPage {
    #[serde(default)]
    issues: Vec<JiraIssue>,
    #[serde(default, rename = "nextPageToken")]
    next: Option<String>,
    #[serde(default, rename = "isLast")]
    is_last: Option<bool>,
}

impl JiraTracker {
    /// Jira lets anonymous users search, and treats a wrong credential as anonymous: nothing is found
    /// (JRACLOUD-93811), as if no ticket existed. So before the first page it is asked for the account, which
    /// fails for anonymous users.
    pub(super) async fn list_page(
        &self,
        project: &str,
        from: Option<&Cursor>,
        is_labelled: bool,
    ) -> Result<Page, Failure> {
        if from.is_none() {
            self.get::<IgnoredAny>(&["myself"], &[]).await?;
        }
        let label = spelled(&project_label(project));
        let mut body = json!({
            "jql": jql(&self.settings.project, is_labelled.then_some(&*label)),
            "maxResults": PAGE,
            "fields": FIELDS,
            "properties": [PROPERTY],
        });
        if let Some(Cursor(token)) = from {
            body["nextPageToken"] = token.as_str().into();
        }
        let request = HttpRequest::query(self.url(&["search", "jql"], &[]), body);
        let results: ListedPage = self.ask(request).await?;
        let base = self.site().await;
        let tickets = results.issues.into_iter().filter_map(|issue| {
            // The property decides: a copy of an issue has the label only.
            let marker = issue.marker().filter(|marker| marker.project() == project)?;
            Some(issue.observed(marker, base))
        });
        let tickets = tickets.collect();
        let next = results.next.filter(|_| results.is_last != Some(true)).map(Cursor);
        Ok(Page { tickets, unmarked: Vec::new(), next, budget: None })
    }
}

/// In one request (docs/formats.md, "Trackers").
pub(super) const CREATE_BATCH: usize = 50;

/// OpenAPI, schema `CreatedIssues`.
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

/// OpenAPI, schema `BulkOperationErrorResult`.
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
    /// At most [`CREATE_BATCH`]; reads them back, since the answer has only ids.
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
        // They are made even if they cannot be read back.
        let found =
            if ids.is_empty() { Found::default() } else { self.fetch(&ids).await.unwrap_or_default() };
        self.matched((wanted, facts), made, &found, self.site().await)
    }

    /// By marker; without one by order, if none is missing.
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
        // It was made; its next change reports what is wrong.
        let missing = missing.unwrap_or_else(|_| ticket.differences(None));
        Delivered { remote: current.remote, missing, is_overwritten: false }
    }

    /// Only its id is known: it may lack anything.
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

/// If no issue was made, Jira answers 400 in the same form.
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
    /// OpenAPI, schema `IssueUpdateDetails`. Sets property (marker) and label at once, so that no crash parts
    /// them. Fields that the project refuses are reported and not sent.
    pub(super) fn creation(&self, creation: &Creation, facts: &ProjectFacts) -> Result<Json, String> {
        let (ticket, parent) = (&creation.ticket, creation.parent.as_ref());
        if let Some(obstacle) = self.creation_obstacle(facts, ticket, parent) {
            return Err(obstacle);
        }
        let merged = Section(ticket).merged_into(&Description::empty());
        let description = merged.map_err(|error| error.to_string())?;
        let (wanted, parent) = self.types.of_new(ticket, parent);
        let own = facts.type_called(wanted);
        let mut fields: Map<String, Json> = issue::values(ticket, None, own)?;
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
