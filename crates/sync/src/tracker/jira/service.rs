//! The tracker.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::AtomicBool,
    time::Duration,
};

use jiff::Timestamp;
use stepmark_store::workspace::Clock;
use tokio::sync::{Mutex, OnceCell};

use super::{create::CREATE_BATCH, fetch::READ_BATCH, project_facts::KeptFacts, update::UPDATE_BATCH};
use crate::{
    BoxFuture, TrackerName,
    breaker::{Failure, Route},
    configuration::BaseUrl,
    credential::Credential,
    pace::Cost,
    ticket::{FieldDifference, Marker, MergeError, Observed, RemoteTicket, Ticket},
    tracker::{
        Answer, Change, Creation, Cursor, Delivered, HttpLimits, HttpSetupError, Listing, Page, RequestKind,
        Tracker,
        http::{HttpClient, HttpIdentity, HttpScheme},
    },
};

#[derive(Clone, Debug)]
pub struct JiraSettings {
    pub name: TrackerName,
    pub base_url: BaseUrl,
    /// The account of the API token: an email address.
    pub account: String,
    pub project: String,
    pub types: JiraIssueTypes,
    /// The names of statuses for status words of artifacts. For other words the categories decide.
    pub statuses: BTreeMap<String, String>,
    /// The fields that `ticket.fields` fills, for some artifacts at least.
    pub mapped: BTreeSet<String>,
    /// The time between two writes of this process at least. The pace of the caller sees to other processes.
    pub write_interval: Duration,
    pub limits: HttpLimits,
    pub clock: Clock,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JiraIssueTypes {
    pub standard: String,
    /// That of an epic; without it epics are issues like others.
    pub epic: Option<String>,
    /// That of a story, where that is another one than `standard`.
    pub story: Option<String>,
    /// That of an issue below another one; without it none hangs below another, since in Jira only some types
    /// may.
    pub child: Option<String>,
}

/// The issues of a project of Jira Cloud. Of what it learns it keeps which site is behind a gateway and, for
/// a while, what the project allows.
#[derive(Debug)]
pub struct JiraTracker {
    pub(super) settings: JiraSettings,
    pub(super) http: HttpClient,
    credential: String,
    credential_digest: String,
    pub(super) site: OnceCell<String>,
    pub(super) facts: Mutex<KeptFacts>,
    /// True where many issues may be moved at once, as far as Jira has told.
    pub(super) moves_many: AtomicBool,
}

const HEADERS: [(&str, &str); 1] = [("accept", "application/json")];

impl JiraTracker {
    /// The tracker of a project, opened by the API token `credential`. Nothing is asked yet.
    pub fn new(settings: JiraSettings, credential: &Credential) -> Result<Self, HttpSetupError> {
        let scheme = HttpScheme::Basic { account: &settings.account };
        let identity = HttpIdentity { scheme, credential, headers: &HEADERS };
        let http = HttpClient::new(&settings.base_url, &identity, settings.limits, settings.write_interval)?;
        Ok(Self {
            settings,
            http,
            credential: credential.name.clone(),
            credential_digest: credential.digest(),
            site: OnceCell::new(),
            facts: Mutex::default(),
            moves_many: AtomicBool::new(true),
        })
    }

    pub(super) fn now(&self) -> Timestamp {
        self.settings.clock.now()
    }
}

impl Tracker for JiraTracker {
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
            RequestKind::Create => CREATE_BATCH,
            RequestKind::Update => UPDATE_BATCH,
            RequestKind::Read => READ_BATCH,
            RequestKind::List | RequestKind::Target => 1,
        }
    }

    fn route(&self, kind: RequestKind, tickets: &[Marker]) -> Route {
        let endpoint = match kind {
            RequestKind::Create => "POST /rest/api/3/issue/bulk",
            RequestKind::Update => "PUT /rest/api/3/issue/{issueIdOrKey}",
            RequestKind::Read => "POST /rest/api/3/issue/bulkfetch",
            RequestKind::List => "POST /rest/api/3/search/jql",
            RequestKind::Target => "GET /rest/api/3/project/{projectIdOrKey}",
        };
        Route::new(self.name(), (self.settings.base_url.host(), &self.credential), endpoint, tickets)
    }

    fn cost(&self, kind: RequestKind, tickets: usize) -> Cost {
        let count = u32::try_from(tickets).unwrap_or(u32::MAX);
        match kind {
            // Made, and read back.
            RequestKind::Create => Cost { requests: 2, ..Cost::create(count) },
            // Read together, then each is changed and taken to its status.
            RequestKind::Update => {
                // Several go to their status together.
                let (asked, writes) =
                    if count < 3 { (3 * count + 1, 2 * count) } else { (count + 8, count + 1) };
                Cost { requests: asked, writes, creations: 0, points: 0 }
            }
            RequestKind::Read | RequestKind::List | RequestKind::Target => Cost::READ,
        }
    }

    fn compare(
        &self,
        desired: &Ticket,
        before: Option<&Ticket>,
        observed: &Observed,
    ) -> Result<Vec<FieldDifference>, MergeError> {
        self.settings.differences(desired, before, observed)
    }

    fn preflight<'t>(
        &'t self,
        tickets: &'t [(&'t Ticket, bool)],
    ) -> Option<BoxFuture<'t, Result<Vec<String>, Failure>>> {
        Some(Box::pin(async move {
            let facts = self.facts().await?;
            Ok(self.settings.obstacles(&facts, tickets))
        }))
    }

    fn target(&self) -> BoxFuture<'_, Result<String, Failure>> {
        Box::pin(async move { self.project_id().await })
    }

    fn create<'t>(&'t self, creations: &'t [Creation]) -> BoxFuture<'t, Answer<Delivered>> {
        Box::pin(async move { Answer::of(self.create_issues(creations).await) })
    }

    fn update<'t>(&'t self, changes: &'t [Change]) -> BoxFuture<'t, Answer<Delivered>> {
        Box::pin(async move { Answer::of(self.update_issues(changes).await) })
    }

    fn read<'t>(&'t self, tickets: &'t [RemoteTicket]) -> BoxFuture<'t, Answer<Option<Observed>>> {
        Box::pin(async move { Answer::of(self.read_issues(tickets).await) })
    }

    fn list<'t>(
        &'t self,
        project: &'t str,
        from: Option<&'t Cursor>,
        listing: Listing,
    ) -> BoxFuture<'t, Result<Page, Failure>> {
        Box::pin(async move { self.list_page(project, from, listing == Listing::Labelled).await })
    }

    fn lists_by_label(&self) -> bool {
        true
    }

    fn list_lags(&self) -> bool {
        true
    }
}
