//! What the server keeps.

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use super::{
    Chaos, Fault, Issue, TOKEN, Watch, When,
    http::{Reply, Request},
};

/// The repository, `o/r` at first, and how the server behaves.
pub(crate) struct State {
    pub(crate) host: String,
    /// The id of the repository, which a rename does not change.
    pub(crate) repository_id: u64,
    /// Its name, and those that it had before, which lead to it.
    pub(crate) names: Vec<&'static str>,
    pub(crate) issues: BTreeMap<u64, Issue>,
    /// The labels that there are.
    pub(crate) labels: BTreeSet<String>,
    /// True where the credential may set labels: else they are dropped silently.
    pub(crate) has_push_access: bool,
    /// True where the repository says so.
    pub(crate) tells_permissions: bool,
    pub(crate) has_graphql: bool,
    pub(crate) has_sub_issues: bool,
    /// The number of issues that a page has at most.
    pub(crate) page: usize,
    pub(crate) faults: Vec<(When, Fault)>,
    pub(crate) asked: Vec<String>,
    /// Faults by chance, where no other one is due.
    pub(crate) chaos: Option<Chaos>,
    pub(super) watch: Watch,
    /// The number of requests since somebody looks on.
    pub(super) served: usize,
    /// Headers of every answer.
    pub(crate) headers: Vec<(String, String)>,
    /// The number of answers that were not sent again.
    pub(crate) not_modified: usize,
    /// What somebody writes into an issue just before the next change by GraphQL.
    pub(crate) meanwhile: Option<(u64, String)>,
    /// The times at which bodies were changed.
    pub(super) edits: BTreeMap<u64, Vec<String>>,
    /// What somebody writes into the next issue as soon as it is made.
    pub(crate) written_at_once: Option<String>,
}

impl State {
    pub(super) fn new(port: u16) -> Self {
        Self {
            host: format!("http://127.0.0.1:{port}"),
            repository_id: 1_296_269,
            names: vec!["o/r"],
            issues: BTreeMap::new(),
            labels: BTreeSet::new(),
            has_push_access: true,
            tells_permissions: false,
            has_graphql: false,
            has_sub_issues: true,
            page: 100,
            faults: Vec::new(),
            asked: Vec::new(),
            chaos: None,
            watch: Watch::default(),
            served: 0,
            headers: Vec::new(),
            not_modified: 0,
            meanwhile: None,
            edits: BTreeMap::new(),
            written_at_once: None,
        }
    }

    pub(super) fn take_fault(&mut self, request: &Request) -> Option<Fault> {
        self.asked.push(format!("{} {}", request.method, request.path()));
        match self.faults.iter().position(|(when, _)| when.is_about(request)) {
            Some(at) => Some(self.faults.remove(at).1),
            None => self.chaos.as_mut()?.fault(request),
        }
    }

    /// The number of a request that begins, and who looks on.
    pub(super) fn next_request(&mut self) -> (usize, Watch) {
        self.served += 1;
        (self.served, self.watch.clone())
    }

    /// Does what is asked.
    pub(super) fn answer(&mut self, request: &Request) -> Reply {
        let wanted = [
            ("authorization", format!("Bearer {TOKEN}")),
            ("accept", "application/vnd.github+json".to_owned()),
            ("x-github-api-version", "2022-11-28".to_owned()),
        ];
        let has_all = wanted.iter().all(|(name, value)| request.header(name) == Some(value));
        let mut reply = match has_all && request.header("user-agent").is_some() {
            true if request.target == "/graphql" && self.has_graphql => self.graphql(request),
            true => self.rest(request),
            false => Reply::error(401, "Bad credentials"),
        };
        reply.headers.extend(self.headers.iter().cloned());
        if request.method == "GET" && reply.status == 200 { self.unless_known(request, reply) } else { reply }
    }

    /// The reply with its tag; without its body where the tag is the one that is known already.
    fn unless_known(&mut self, request: &Request, reply: Reply) -> Reply {
        let mut hasher = DefaultHasher::new();
        reply.body.hash(&mut hasher);
        let tag = format!("W/\"{:016x}\"", hasher.finish());
        if request.header("if-none-match") != Some(&tag) {
            return reply.with("ETag", tag);
        }
        self.not_modified += 1;
        // As on GitHub: of the headers, `link` is one that is not said again.
        let headers =
            reply.headers.into_iter().filter(|(name, _)| !matches!(name.as_str(), "Link" | "Content-Type"));
        Reply { status: 304, headers: headers.collect(), body: String::new() }.with("ETag", tag)
    }
}
