//! Reading issues by their ids, which shows what was just written.

use std::collections::BTreeMap;

use serde::{Deserialize, de::IgnoredAny};
use serde_json::json;

use super::{
    issue::{FIELDS, JiraIssue, PROPERTY, jql, spelled},
    service::JiraTracker,
};
use crate::{
    breaker::{Failure, Reason},
    ticket::{Observed, RemoteTicket, project_label},
    tracker::{
        Cursor, Outcome, Page,
        http::{HttpRequest, Refused},
    },
};

/// The number of issues that are read in one request at most (Atlassian's "Bulk fetch issues").
pub(super) const READ_BATCH: usize = 100;

/// Issues by their ids (OpenAPI, schema `BulkIssueResults`).
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
        if let Some(issue) = self.issues.get(&ticket.id) {
            if is_of(issue, &self.project) {
                return Ok(issue.clone());
            }
            let detail = format!("issue {} was moved to another project, as {}", ticket.key, issue.key);
            return Err(Failure::new(Reason::Gone, &detail));
        }
        Err(match self.errors.get(&ticket.id) {
            Some(message) => {
                // Another request may read it: Jira lists here what it could not finish now.
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

/// Returns whether an issue is of the project with that key: where it is moved to another one, Jira gives it
/// another key, and still finds it by its id.
fn is_of(issue: &JiraIssue, project: &str) -> bool {
    issue.key.rsplit_once('-').is_some_and(|(own, _)| own.eq_ignore_ascii_case(project))
}

impl JiraTracker {
    /// Reads at most [`READ_BATCH`] issues. Jira refuses this request to strangers, while it tells them that
    /// a single issue is not there.
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

    /// Reads tickets; `None` for one that carries no marker.
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

/// A page (OpenAPI, schema `SearchAndReconcileResults`).
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
    /// One page of the issues with the label of a project.
    ///
    /// Jira lets strangers search, and tells one whose credential is wrong what it tells strangers: nothing
    /// (JRACLOUD-93811). From that it would follow that no ticket is there. So before the first page it is
    /// asked who asks, which it does not tell strangers.
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
            // The label finds, the property decides: a copy of an issue has the one and not the other.
            let marker = issue.marker().filter(|marker| marker.project() == project)?;
            Some(issue.observed(marker, base))
        });
        let tickets = tickets.collect();
        let next = results.next.filter(|_| results.is_last != Some(true)).map(Cursor);
        Ok(Page { tickets, unmarked: Vec::new(), next, budget: None })
    }
}
