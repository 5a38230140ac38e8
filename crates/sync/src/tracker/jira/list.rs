//! Listing issues by their label. Jira's index is behind what was written by seconds, sometimes by more; the worker waits for it.

use serde::{Deserialize, de::IgnoredAny};
use serde_json::json;

use super::{
    JiraTracker,
    issue::{FIELDS, JiraIssue},
    label::{jql, spelled},
    marker_property::PROPERTY,
};
use crate::{
    breaker::Failure,
    ticket::project_label,
    tracker::{Cursor, Page, http::HttpRequest},
};

/// How many issues are on a page.
const PAGE: usize = 100;

/// A page (OpenAPI, schema `SearchAndReconcileResults`).
#[derive(Debug, Deserialize)]
struct Results {
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
    /// Jira lets strangers search, and tells one whose credential is wrong what it tells strangers: nothing (JRACLOUD-93811). From that it
    /// would follow that no ticket is there. So before the first page it is asked who asks, which it does not tell strangers.
    pub(super) async fn list_page(&self, project: &str, from: Option<&Cursor>) -> Result<Page, Failure> {
        if from.is_none() {
            let myself = HttpRequest::get(self.addresses().myself());
            self.ask::<IgnoredAny>(myself).await.map_err(|refused| refused.failure().clone())?;
        }
        let label = spelled(&project_label(project));
        let mut body = json!({
            "jql": jql(&self.settings.project, &label),
            "maxResults": PAGE,
            "fields": FIELDS,
            "properties": [PROPERTY],
        });
        if let Some(Cursor(token)) = from {
            body["nextPageToken"] = token.as_str().into();
        }
        let request = HttpRequest::query(self.addresses().search(), body);
        let results: Results = self.ask(request).await.map_err(|refused| refused.failure().clone())?;
        let base = self.site().await;
        let tickets = results.issues.into_iter().filter_map(|issue| {
            // The label finds, the property decides: a copy of an issue has the one and not the other.
            let marker = issue.marker().filter(|marker| marker.project() == project)?;
            Some(issue.observed(marker, base))
        });
        let tickets = tickets.collect();
        let next = results.next.filter(|_| results.is_last != Some(true)).map(Cursor);
        Ok(Page { tickets, next, budget: None })
    }
}
