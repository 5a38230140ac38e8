//! An issue that the server keeps.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json, json};

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
    /// The time at which it was made.
    pub(crate) created_at: String,
    /// The number of comments that people made.
    pub(crate) comments: u64,
    /// `milestone`, `assignees` and `type` as REST tells them.
    pub(crate) fields: Map<String, Json>,
}

/// What is added to a number to get the id of the database.
pub(super) const ID_OFFSET: u64 = 1_000_000;

impl Issue {
    pub(super) fn node_id(&self) -> String {
        format!("I_{}", self.number)
    }

    /// The issue as REST tells it: all that GitHub's description requires of an `issue`.
    pub(super) fn rest(&self, host: &str) -> Json {
        let (number, repository) = (self.number, format!("{host}/repos/o/r"));
        let own = format!("{repository}/issues/{number}");
        let when = "2026-01-01T00:00:00Z";
        let parent = self.parent.map(|parent| format!("{repository}/issues/{parent}"));
        let mut issue = json!({
            "number": number,
            "id": number + ID_OFFSET,
            "node_id": self.node_id(),
            "url": own,
            "repository_url": repository,
            "labels_url": format!("{own}/labels{{/name}}"),
            "comments_url": format!("{own}/comments"),
            "events_url": format!("{own}/events"),
            "html_url": format!("{host}/o/r/issues/{number}"),
            "title": self.title,
            "body": self.body,
            "state": if self.is_open { "open" } else { "closed" },
            "state_reason": self.reason,
            "labels": self.labels.iter().map(|name| label(host, name)).collect::<Vec<_>>(),
            "user": user(host),
            "assignee": null,
            "milestone": null,
            "locked": false,
            "comments": self.comments,
            "created_at": self.created_at,
            "updated_at": when,
            "closed_at": (!self.is_open).then_some(when),
            "parent_issue_url": parent,
        });
        for (name, value) in &self.fields {
            let account = |own: &Json| {
                let mut account = user(host);
                account["login"] = own["login"].clone();
                account
            };
            issue[name] = match (name.as_str(), value.as_array()) {
                ("assignees", Some(accounts)) => accounts.iter().map(account).collect(),
                _ => value.clone(),
            };
        }
        if self.is_pull_request {
            let pull = format!("{repository}/pulls/{number}");
            issue["pull_request"] =
                json!({ "url": pull, "html_url": pull, "diff_url": pull, "patch_url": pull });
        }
        issue
    }
}

/// A label as REST tells it.
pub(super) fn label(host: &str, name: &str) -> Json {
    json!({
        "id": 1,
        "node_id": format!("LA_{name}"),
        "url": format!("{host}/repos/o/r/labels/1"),
        "name": name,
        "description": null,
        "color": "ededed",
        "default": false,
    })
}

/// Whoever made an issue, as REST tells it.
pub(super) fn user(host: &str) -> Json {
    let mut user = json!({ "login": "o", "id": 1, "node_id": "U_1", "gravatar_id": "", "type": "User", "site_admin": false });
    for name in [
        "avatar_url",
        "url",
        "html_url",
        "followers_url",
        "following_url",
        "gists_url",
        "starred_url",
        "subscriptions_url",
        "organizations_url",
        "repos_url",
        "events_url",
        "received_events_url",
    ] {
        user[name] = format!("{host}/users/o").into();
    }
    user
}
