//! Issues of GitHub or GitHub Enterprise (docs/formats.md, "Trackers"): REST for creations and lists, GraphQL
//! in batches for changes and reads where it exists, else REST.

mod issue;
mod request;
mod rest;
mod graphql;

use std::{
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use jiff::Timestamp;
use reqwest::Method;
use serde::de::IgnoredAny;
use serde_json::{Value as Json, json};
use stepmark_store::workspace::Clock;
use url::Url;

use self::{
    graphql::{MUTATIONS, READ_BATCH, UPDATE_BATCH},
    issue::{BODY_LIMIT, DATABASE_ID, IssueFields, Milestone, moved},
    request::{Addresses, Asked},
    rest::number_of,
};
use crate::{
    BoxFuture, Result, TrackerName,
    breaker::{Reason, Route},
    configuration::{BaseUrl, Repository},
    credential::Credential,
    pace::{Budget, Cost},
    ticket::{
        Differences, FieldDifference, Marker, Observed, RemoteTicket, Ticket, parent_difference,
        project_label, shown_marker,
    },
    tracker::{
        Answer, Change, Creation, Cursor, Delivered, HttpLimits, Listing, Page, Reply, RequestKind, Tracker,
        http::{HttpClient, HttpIdentity, HttpRequest, HttpScheme, Refused},
    },
};

#[derive(Clone, Debug)]
pub struct GitHubSettings {
    pub name: TrackerName,
    pub base_url: BaseUrl,
    pub repository: Repository,
    /// Least time between two writes of this process; the caller's pace covers other processes.
    pub write_interval: Duration,
    pub limits: HttpLimits,
    pub clock: Clock,
}

/// On GitHub or GitHub Enterprise. Of the server it remembers only if it lacks GraphQL or sub-issues.
#[derive(Debug)]
pub struct GitHubTracker {
    settings: GitHubSettings,
    http: HttpClient,
    credential: String,
    credential_digest: String,
    has_graphql: AtomicBool,
    has_sub_issues: AtomicBool,
    may_label: AtomicBool,
    milestones: Mutex<Vec<Milestone>>,
    budget: Mutex<Option<Budget>>,
}

/// GitHub's "API Versions" and "Media types".
const HEADERS: [(&str, &str); 2] =
    [("accept", "application/vnd.github+json"), ("x-github-api-version", "2022-11-28")];

impl GitHubTracker {
    /// Sends nothing yet.
    pub fn new(settings: GitHubSettings, credential: &Credential) -> Result<Self> {
        let identity = HttpIdentity { scheme: HttpScheme::Bearer, credential, headers: &HEADERS };
        let http = HttpClient::new(&settings.base_url, &identity, settings.limits, settings.write_interval)?;
        Ok(Self {
            settings,
            http,
            credential: credential.name.clone(),
            credential_digest: credential.digest(),
            has_graphql: AtomicBool::new(true),
            has_sub_issues: AtomicBool::new(true),
            may_label: AtomicBool::new(true),
            milestones: Mutex::default(),
            budget: Mutex::default(),
        })
    }

    fn addresses(&self) -> Addresses<'_> {
        Addresses { http: &self.http, repository: &self.settings.repository }
    }

    fn has_graphql(&self) -> bool {
        self.has_graphql.load(Ordering::Relaxed)
    }

    fn now(&self) -> Timestamp {
        self.settings.clock.now()
    }
}

impl Tracker for GitHubTracker {
    fn name(&self) -> &TrackerName {
        &self.settings.name
    }

    fn sent(&self) -> Option<usize> {
        Some(self.http.sent())
    }

    fn credential_digest(&self) -> Option<&str> {
        Some(&self.credential_digest)
    }

    fn batch(&self, kind: RequestKind) -> usize {
        match kind {
            RequestKind::Update if self.has_graphql() => UPDATE_BATCH,
            RequestKind::Read if self.has_graphql() => READ_BATCH,
            _ => 1,
        }
    }

    fn route(&self, kind: RequestKind, tickets: &[Marker]) -> Route {
        let endpoint = match kind {
            RequestKind::Create => "POST /repos/{owner}/{repo}/issues",
            RequestKind::Update | RequestKind::Read if self.has_graphql() => "POST /graphql",
            RequestKind::Update => "PATCH /repos/{owner}/{repo}/issues/{issue_number}",
            RequestKind::Read => "GET /repos/{owner}/{repo}/issues/{issue_number}",
            RequestKind::List => "GET /repos/{owner}/{repo}/issues",
            RequestKind::Target => "GET /repos/{owner}/{repo}",
        };
        Route::new(self.name(), (self.settings.base_url.host(), &self.credential), endpoint, tickets)
    }

    fn cost(&self, kind: RequestKind, tickets: usize) -> Cost {
        let count = u32::try_from(tickets).unwrap_or(u32::MAX);
        match kind {
            RequestKind::Create => times(Cost::create(1), count),
            RequestKind::Update if self.has_graphql() => {
                let mutations = u32::try_from(MUTATIONS).unwrap_or(u32::MAX);
                let writes = count.div_ceil(mutations);
                plus(Cost::READ, times(Cost::WRITE, writes))
            }
            RequestKind::Read if self.has_graphql() => Cost::READ,
            RequestKind::Update => times(READ_AND_WRITE, count),
            RequestKind::Read => times(Cost::READ, count),
            RequestKind::List | RequestKind::Target => Cost::READ,
        }
    }

    fn compare(&self, desired: &Ticket, before: Option<&Ticket>, observed: &Observed) -> Differences {
        let mut differences = observed.markdown_differences(desired, before, BODY_LIMIT)?;
        if self.has_sub_issues.load(Ordering::Relaxed) {
            differences.extend(parent_difference(desired, before, observed));
        }
        differences.extend(IssueFields::of(observed).into_iter().flat_map(|fields| fields.missing(desired)));
        Ok(differences)
    }

    fn target(&self) -> Reply<'_, String> {
        Box::pin(async move {
            let id = self.repository_id().await;
            self.take_budget();
            id
        })
    }

    fn create<'t>(&'t self, creations: &'t [Creation]) -> BoxFuture<'t, Answer<Delivered>> {
        Box::pin(async move {
            let mut outcomes = Vec::with_capacity(creations.len());
            for creation in creations {
                outcomes.push(self.create_issue(&creation.ticket).await);
            }
            Answer { outcomes, budget: self.take_budget() }
        })
    }

    fn update<'t>(&'t self, changes: &'t [Change]) -> BoxFuture<'t, Answer<Delivered>> {
        Box::pin(async move {
            let outcomes = self.update_tickets(changes).await;
            Answer { outcomes, budget: self.take_budget() }
        })
    }

    fn read<'t>(&'t self, tickets: &'t [RemoteTicket]) -> BoxFuture<'t, Answer<Option<Observed>>> {
        Box::pin(async move {
            let outcomes = self.read_tickets(tickets).await;
            Answer { outcomes, budget: self.take_budget() }
        })
    }

    fn list<'t>(&'t self, project: &'t str, from: Option<&'t Cursor>, listing: Listing) -> Reply<'t, Page> {
        let label = (listing == Listing::Labelled).then(|| project_label(project));
        Box::pin(async move {
            let page = self.list_page(project, from, label.as_deref()).await;
            let budget = self.take_budget();
            page.map(|page| Page { budget, ..page })
        })
    }

    fn lists_by_label(&self) -> bool {
        true
    }
}

/// Changing an issue by REST reads its labels and people's text first.
const READ_AND_WRITE: Cost = plus(Cost::READ, Cost::WRITE);

const fn plus(one: Cost, other: Cost) -> Cost {
    Cost {
        requests: one.requests.saturating_add(other.requests),
        writes: one.writes.saturating_add(other.writes),
        creations: one.creations.saturating_add(other.creations),
        points: one.points.saturating_add(other.points),
    }
}

const fn times(cost: Cost, count: u32) -> Cost {
    Cost {
        requests: cost.requests.saturating_mul(count),
        writes: cost.writes.saturating_mul(count),
        creations: cost.creations.saturating_mul(count),
        points: cost.points.saturating_mul(count),
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Move {
    /// Put below this issue, the ticket of that artifact, and taken from another one.
    Below(RemoteTicket, Marker),
    /// Taken from this one, below which stepmark put it, if that is the ticket of that artifact.
    From(u64, Marker),
}

impl GitHubTracker {
    /// Sets the parent, also in `current`. A parent that is gone, full, or without the marker of its artifact
    /// leaves the issue in place: see [`parent_missing`].
    async fn settle_parent(&self, change: &Change, current: &mut Observed) -> Result<(), Refused> {
        let Some(step) = step(change, current).filter(|_| self.has_sub_issues.load(Ordering::Relaxed)) else {
            return Ok(());
        };
        let database_id = current.remote.other_ids.get(DATABASE_ID).and_then(|id| id.parse::<u64>().ok());
        let (method, url, parent, marker, body) = match &step {
            Move::Below(parent, marker) => {
                let number = number_of(parent).map_err(Refused::Failed)?;
                let body = json!({ "sub_issue_id": database_id, "replace_parent": true });
                (Method::POST, self.addresses().sub_issues(number), number, marker, body)
            }
            Move::From(number, marker) => {
                let body = json!({ "sub_issue_id": database_id });
                (Method::DELETE, self.addresses().sub_issue(*number), *number, marker, body)
            }
        };
        if !self.is_ticket_of(marker, parent).await? {
            return Ok(());
        }
        match self.ask_for_move(method, url, body).await {
            Ok(()) => {
                current.parent_id = match step {
                    Move::Below(parent, _) => Some(parent.id),
                    Move::From(..) => None,
                };
                Ok(())
            }
            // No room: people may have added other sub-issues.
            Err(refused) if refused.failure().reason == Reason::Invalid => Ok(()),
            Err(refused) if refused.failure().reason == Reason::Gone => {
                // The parent existed a moment ago, so the interface is missing.
                self.has_sub_issues.store(false, Ordering::Relaxed);
                Ok(())
            }
            Err(refused) => Err(refused),
        }
    }

    async fn is_ticket_of(&self, marker: &Marker, number: u64) -> Result<bool, Refused> {
        match self.get_issue(number).await {
            Ok(issue) => {
                let current = issue.observed(marker.clone());
                Ok(moved(number, &current).is_none()
                    && Marker::all_in(&current.body).any(|own| own == *marker))
            }
            Err(refused) if refused.failure().reason == Reason::Gone => Ok(false),
            Err(refused) => Err(refused),
        }
    }

    async fn ask_for_move(&self, method: Method, url: Url, body: Json) -> Result<(), Refused> {
        let request = HttpRequest::write(method, url, body);
        self.ask::<IgnoredAny>(request, Asked::Issue).await.map(drop)
    }
}

fn step(change: &Change, current: &Observed) -> Option<Move> {
    let hangs_below = current.parent_id.as_deref();
    match (&change.desired.parent, &change.parent) {
        (Some(marker), Some(parent)) => {
            (hangs_below != Some(parent.id.as_str())).then(|| Move::Below(parent.clone(), marker.clone()))
        }
        // It has no issue yet.
        (Some(_), None) => None,
        (None, _) => {
            // A parent that a person gave it stays.
            let marker = change.before.as_ref()?.parent.clone()?;
            Some(Move::From(hangs_below?.parse().ok()?, marker))
        }
    }
}

/// After a change that knew the parent.
fn parent_missing(change: &Change, current: &Observed) -> Option<FieldDifference> {
    match (&change.desired.parent, &change.parent) {
        (Some(_), Some(parent)) if current.parent_id.as_ref() == Some(&parent.id) => None,
        (Some(wanted), Some(_)) => FieldDifference::between("parent", Json::Null, shown_marker(Some(wanted))),
        _ => parent_difference(&change.desired, change.before.as_ref(), current),
    }
}
