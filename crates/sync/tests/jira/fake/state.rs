//! What the server keeps.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use super::{
    Fault, Issue, When,
    http::{Reply, Request},
    meta::usual_fields,
    workflow::Workflow,
};
use crate::project::ENCODED;

/// The project `ABC` and how the server behaves.
pub(crate) struct State {
    pub(crate) host: String,
    pub(crate) issues: BTreeMap<u64, Issue>,
    pub(crate) workflow: Workflow,
    /// True where labels are dropped silently.
    pub(crate) drops_labels: bool,
    /// True where a closed issue cannot be changed.
    pub(crate) locks_closed: bool,
    /// True where the answer to a change tells the issue.
    pub(crate) returns_issues: bool,
    /// The number of issues that a page has at most.
    pub(crate) page: usize,
    /// For how many milliseconds what is new or changed is not found by a search.
    pub(crate) index_lag_ms: i64,
    /// What time it is, in milliseconds since 1970.
    pub(crate) now: Box<dyn Fn() -> i64 + Send>,
    pub(crate) faults: Vec<(When, Fault)>,
    /// What others do to an issue, just before such a request is answered.
    pub(crate) meanwhile: Option<(When, u64, Meanwhile)>,
    /// Where it is given, one request of five goes wrong, as this chance says.
    pub(crate) chance: Option<u64>,
    /// The number of requests that went wrong by chance.
    pub(crate) mishaps: usize,
    pub(crate) asked: Vec<String>,
    /// The fields that new issues have.
    pub(crate) fields: Vec<Json>,
    /// The types of which the account may make no issue.
    pub(crate) hidden_types: Vec<&'static str>,
    /// True where the account may change many issues at once.
    pub(crate) allows_bulk: bool,
    /// The ids of those that do not go with others.
    pub(crate) stuck: BTreeSet<String>,
    pub(super) polls: usize,
}

/// What somebody does to an issue.
pub(crate) type Meanwhile = Box<dyn FnOnce(&mut Issue) + Send>;

/// The beginning of 2026.
const BEGIN_MS: i64 = 1_767_225_600_000;

impl State {
    pub(super) fn new(port: u16) -> Self {
        Self {
            host: format!("http://127.0.0.1:{port}"),
            issues: BTreeMap::new(),
            workflow: Workflow::free(),
            drops_labels: false,
            locks_closed: false,
            returns_issues: true,
            page: 100,
            index_lag_ms: 0,
            now: Box::new(|| BEGIN_MS),
            faults: Vec::new(),
            meanwhile: None,
            chance: None,
            mishaps: 0,
            asked: Vec::new(),
            fields: usual_fields(),
            hidden_types: Vec::new(),
            allows_bulk: true,
            stuck: BTreeSet::new(),
            polls: 0,
        }
    }

    pub(super) fn take_fault(&mut self, request: &Request) -> Option<Fault> {
        self.asked.push(format!("{} {}", request.method, request.path()));
        match self.faults.iter().position(|(when, _)| when.is_about(request)) {
            Some(at) => Some(self.faults.remove(at).1),
            None => self.mishap(),
        }
    }

    fn mishap(&mut self) -> Option<Fault> {
        let chance = self.chance.as_mut()?;
        *chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let drawn = usize::try_from(*chance >> 33).unwrap();
        if drawn % 5 != 0 {
            return None;
        }
        self.mishaps += 1;
        let limited = |reason: &str| Fault::Answer(refused(429, "slow").with("RateLimit-Reason", reason));
        Some(match drawn / 5 % 8 {
            0 => Fault::Reset,
            1 => Fault::Scramble("<html>".to_owned()),
            2 => Fault::Answer(refused(500, "oops")),
            3 => limited("jira-burst-based"),
            4 => limited("jira-quota-tenant-based"),
            5 => limited("jira-per-issue-on-write"),
            _ => Fault::LoseReply,
        })
    }

    /// Does what is asked.
    pub(super) fn answer(&mut self, request: &Request) -> Reply {
        let is_known = request.header("authorization") == Some(&format!("Basic {ENCODED}"));
        assert_eq!(request.header("accept"), Some("application/json"));
        assert!(request.header("user-agent").is_some());
        if let Some((_, id, change)) = self.meanwhile.take_if(|(when, ..)| when.is_about(request)) {
            change(self.issues.get_mut(&id).unwrap());
        }
        let Some(path) = request.path().strip_prefix("/rest/api/3/") else {
            return refused(404, "no such path");
        };
        let parts: Vec<&str> = path.split('/').collect();
        let body: Json = serde_json::from_str(&request.body).unwrap_or_default();
        match (request.method.as_str(), parts.as_slice()) {
            // Strangers may search, and find nothing.
            ("POST", ["search", "jql"]) if !is_known => {
                Reply::json(200, &json!({ "issues": [], "isLast": true }))
            }
            _ if !is_known => refused(401, "Client must be authenticated to access this resource."),
            ("GET", ["serverInfo"]) => Reply::json(200, &json!({ "baseUrl": "https://x.atlassian.net/" })),
            ("GET", ["project", _, "statuses"]) => self.statuses(),
            ("GET", ["issue", "createmeta", _, "issuetypes"]) => self.new_types(request),
            ("GET", ["issue", "createmeta", _, "issuetypes", _]) => self.new_fields(request),
            ("GET", ["bulk", "issues", "transition"]) => self.common_transitions(request),
            ("POST", ["bulk", "issues", "transition"]) => self.move_many(&body),
            ("GET", ["bulk", "queue", id]) => self.task(id),
            ("GET", ["project", _]) => Reply::json(200, &json!({ "id": "10000", "key": "ED" })),
            ("GET", ["myself"]) => Reply::json(200, &json!({ "accountId": "1", "displayName": "Me" })),
            ("POST", ["search", "jql"]) => self.search(&body),
            ("POST", ["issue", "bulk"]) => self.create(&body),
            ("POST", ["issue", "bulkfetch"]) => self.fetch(&body),
            ("PUT", ["issue", id]) => {
                assert_eq!(request.query("notifyUsers").as_deref(), Some("false"));
                assert_eq!(request.query("expand").as_deref(), Some("changelog"));
                self.edit(id, &body, request.query("returnIssue").as_deref() == Some("true"))
            }
            ("GET", ["issue", id, "transitions"]) => self.transitions(id),
            ("POST", ["issue", id, "transitions"]) => self.transition(id, &body),
            _ => refused(404, "no such path"),
        }
    }

    /// The issue with an id.
    pub(super) fn issue(&mut self, id: &str) -> Option<&mut Issue> {
        self.issues.get_mut(&self.id_of(id)?)
    }

    /// The id of the issue with this id or key.
    pub(super) fn id_of(&self, id_or_key: &str) -> Option<u64> {
        let by_key = || self.issues.iter().find(|(_, issue)| issue.key() == id_or_key).map(|(id, _)| *id);
        id_or_key.parse().ok().or_else(by_key)
    }

    pub(super) fn now_ms(&self) -> i64 {
        (self.now)()
    }
}

/// A yes that tells nothing. Jira gives it a type all the same.
pub(super) fn nothing() -> Reply {
    let headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
    Reply { status: 204, headers, body: String::new() }
}

/// An error as Jira tells it.
pub(crate) fn refused(status: u16, message: &str) -> Reply {
    Reply::json(status, &json!({ "errorMessages": [message], "errors": {} }))
}

/// An error about fields.
pub(super) fn refused_fields(status: u16, errors: &BTreeMap<String, String>) -> Reply {
    Reply::json(status, &json!({ "errorMessages": [], "errors": errors }))
}
