//! Reading issues by their ids, which shows what was just written.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;

use super::{
    JiraTracker,
    issue::{FIELDS, JiraIssue},
    marker_property::PROPERTY,
};
use crate::{
    breaker::{Failure, Reason},
    ticket::{Observed, RemoteTicket},
    tracker::{Outcome, http::HttpRequest, refused::Refused},
};

/// How many issues are read in one request at most (Atlassian's "Bulk fetch issues").
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

/// What was found of the issues that were asked for.
#[derive(Debug, Default)]
pub(super) struct Found {
    issues: BTreeMap<String, JiraIssue>,
    errors: BTreeMap<String, String>,
}

impl Found {
    /// The issue with this id, or why it is not there.
    pub(super) fn get(&self, ticket: &RemoteTicket) -> Result<JiraIssue, Failure> {
        if let Some(issue) = self.issues.get(&ticket.id) {
            return Ok(issue.clone());
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

    /// All that were found.
    pub(super) fn issues(&self) -> impl Iterator<Item = &JiraIssue> {
        self.issues.values()
    }
}

impl JiraTracker {
    /// Reads at most [`READ_BATCH`] issues. Jira refuses this request to strangers, while it tells them that a single issue is not there.
    pub(super) async fn fetch(&self, ids: &[&str]) -> Result<Found, Refused> {
        let body = json!({ "issueIdsOrKeys": ids, "fields": FIELDS, "properties": [PROPERTY] });
        let results: Results = self.ask(HttpRequest::query(self.addresses().bulk_fetch(), body)).await?;
        Ok(Found {
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
                    outcomes.extend(some.iter().map(|_| Outcome::Failed(refused.failure().clone())));
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
