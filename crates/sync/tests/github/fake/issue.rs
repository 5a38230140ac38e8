//! An issue that the server keeps.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

/// An issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Issue {
    pub(crate) number: u64,
    pub(crate) title: String,
    pub(crate) body: String,
    pub(crate) labels: BTreeSet<String>,
    pub(crate) is_open: bool,
    pub(crate) reason: Option<String>,
    pub(crate) parent: Option<u64>,
    pub(crate) is_pull_request: bool,
}

/// What is added to a number to get the id of the database.
pub(super) const ID_OFFSET: u64 = 1_000_000;

impl Issue {
    pub(super) fn node_id(&self) -> String {
        format!("I_{}", self.number)
    }

    /// The issue as REST tells it.
    pub(super) fn rest(&self, host: &str) -> Json {
        let labels = self.labels.iter().map(|name| json!({ "name": name, "color": "ededed" }));
        let parent = self.parent.map(|parent| format!("{host}/repos/o/r/issues/{parent}"));
        let mut issue = json!({
            "number": self.number,
            "id": self.number + ID_OFFSET,
            "node_id": self.node_id(),
            "html_url": format!("{host}/o/r/issues/{}", self.number),
            "title": self.title,
            "body": self.body,
            "state": if self.is_open { "open" } else { "closed" },
            "state_reason": self.reason,
            "labels": labels.collect::<Vec<_>>(),
            "created_at": "2026-01-01T00:00:00Z",
            "parent_issue_url": parent,
        });
        if self.is_pull_request {
            issue["pull_request"] = json!({ "url": "x" });
        }
        issue
    }
}
