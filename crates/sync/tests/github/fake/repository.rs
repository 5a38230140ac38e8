//! The repository as REST tells it: all that GitHub's description requires of a `full-repository`.

use serde_json::{Value as Json, json};

use super::issue::user;

/// The addresses that a repository tells, without `_url`.
const ADDRESSES: &str = "archive assignees blobs branches collaborators comments commits compare contents contributors deployments \
    downloads events forks git_commits git_refs git_tags hooks html issue_comment issue_events issues keys labels languages merges \
    milestones notifications pulls releases stargazers statuses subscribers subscription tags teams trees clone git ssh svn";

/// The repository with this id.
pub(super) fn repository(host: &str, full_name: &str, id: u64, push: Option<bool>) -> Json {
    let (url, when) = (format!("{host}/repos/{full_name}"), "2026-01-01T00:00:00Z");
    let mut told = json!({
        "id": id, "node_id": "R_1", "name": full_name.rsplit('/').next(), "full_name": full_name, "owner": user(host), "url": url, "default_branch": "main",
        "private": false, "fork": false, "archived": false, "disabled": false, "description": null, "homepage": null,
        "language": null, "license": null, "mirror_url": null, "size": 1,
        "has_issues": true, "has_projects": true, "has_wiki": true, "has_pages": false, "has_discussions": false,
        "created_at": when, "updated_at": when, "pushed_at": when,
    });
    if let Some(push) = push {
        told["permissions"] =
            json!({ "admin": false, "maintain": false, "push": push, "triage": push, "pull": true });
    }
    for name in ADDRESSES.split_whitespace() {
        told[format!("{name}_url")] = url.clone().into();
    }
    for name in ["forks", "open_issues", "watchers", "stargazers", "network", "subscribers"] {
        told[format!("{name}_count")] = 0.into();
        if matches!(name, "forks" | "open_issues" | "watchers") {
            told[name] = 0.into();
        }
    }
    told
}
