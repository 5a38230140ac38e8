//! The tracker.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::AtomicBool,
    time::Duration,
};

use super::{
    fetch::{CREATE_BATCH, READ_BATCH},
    project_facts::KeptFacts,
    update::UPDATE_BATCH,
};
use crate::{
    BoxFuture, Result, TrackerName,
    breaker::{Failure, Reason, Route},
    configuration::BaseUrl,
    credential::Credential,
    pace::Cost,
    retry::named_wait,
    ticket::{Differences, Marker, Observed, RemoteTicket, Ticket},
    tracker::{
        Answer, Change, Creation, Cursor, Delivered, HttpLimits, Listing, Page, Reply, RequestKind, Tracker,
        http::{HttpClient, HttpIdentity, HttpReply, HttpRequest, HttpScheme, Refused},
    },
};
use jiff::Timestamp;
use serde::{Deserialize, de::DeserializeOwned};
use stepmark_store::workspace::Clock;
use tokio::sync::{Mutex, OnceCell};
use url::Url;

#[derive(Clone, Debug)]
pub struct JiraSettings {
    pub name: TrackerName,
    pub base_url: BaseUrl,
    /// An email address.
    pub account: String,
    pub project: String,
    pub types: JiraIssueTypes,
    /// By status word of an artifact; else the category decides.
    pub statuses: BTreeMap<String, String>,
    /// Fields that `ticket.fields` fills for some artifact.
    pub mapped: BTreeSet<String>,
    /// Least time between two writes of this process; the caller's pace covers other processes.
    pub write_interval: Duration,
    pub limits: HttpLimits,
    pub clock: Clock,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JiraIssueTypes {
    pub standard: String,
    /// Without it epics are issues like others.
    pub epic: Option<String>,
    /// If it differs from `standard`.
    pub story: Option<String>,
    /// Without it no issue hangs below another: in Jira only some types may.
    pub child: Option<String>,
}

/// On Jira Cloud. It remembers the site behind a gateway and, for a while, the project's rules.
#[derive(Debug)]
pub struct JiraTracker {
    pub(super) settings: JiraSettings,
    pub(super) http: HttpClient,
    credential: String,
    credential_digest: String,
    pub(super) site: OnceCell<String>,
    pub(super) facts: Mutex<KeptFacts>,
    /// Bulk moves work, as far as Jira has told.
    pub(super) moves_many: AtomicBool,
}

const HEADERS: [(&str, &str); 1] = [("accept", "application/json")];

impl JiraTracker {
    /// Sends nothing yet.
    pub fn new(settings: JiraSettings, credential: &Credential) -> Result<Self> {
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
            // One makes, one reads back.
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

    fn compare(&self, desired: &Ticket, before: Option<&Ticket>, observed: &Observed) -> Differences {
        self.settings.differences(desired, before, observed)
    }

    fn preflight<'t>(&'t self, tickets: &'t [(&'t Ticket, bool)]) -> Option<Reply<'t, Vec<String>>> {
        Some(Box::pin(async move {
            let facts = self.facts().await?;
            Ok(self.settings.obstacles(&facts, tickets))
        }))
    }

    fn target(&self) -> Reply<'_, String> {
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

    fn list<'t>(&'t self, project: &'t str, from: Option<&'t Cursor>, listing: Listing) -> Reply<'t, Page> {
        Box::pin(async move { self.list_page(project, from, listing == Listing::Labelled).await })
    }

    fn lists_by_label(&self) -> bool {
        true
    }

    fn list_lags(&self) -> bool {
        true
    }
}

/// OpenAPI, schema `ErrorCollection`.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct ErrorCollection {
    #[serde(default, rename = "errorMessages")]
    messages: Vec<String>,
    #[serde(default)]
    errors: BTreeMap<String, serde_json::Value>,
}

pub(super) fn refusal(reply: &HttpReply, now: Timestamp) -> Option<Failure> {
    if is_of_stranger(reply) {
        let detail = "it takes the request for a stranger's, since it does not accept the credential";
        return Some(reply.failure(Reason::Unauthorized, detail));
    }
    if (200..300).contains(&reply.status) {
        return None;
    }
    let reason = reason(reply.status, reply.header("ratelimit-reason"));
    // A server error may name a time, too.
    let names_time = reply.status == 429 || reason == Reason::ServerError;
    let wait = named_wait(|name| reply.header(name), now).filter(|_| names_time);
    Some(reply.failure(reason, &said(reply)).waiting_until(wait))
}

/// Jira ignored the credential and answered as to an anonymous user: 200 and nothing in it (JRACLOUD-93811).
fn is_of_stranger(reply: &HttpReply) -> bool {
    reply
        .header("x-seraph-loginreason")
        .is_some_and(|told| told.contains("AUTHENTICATED_FAILED") || told.contains("AUTHENTICATION_DENIED"))
}

/// `limit` is `RateLimit-Reason`.
pub(super) fn reason(status: u16, limit: Option<&str>) -> Reason {
    match status {
        429 => match limit.map(str::trim) {
            Some("jira-burst-based") => Reason::EndpointLimit,
            Some("jira-per-issue-on-write") => Reason::TicketLimit,
            // `jira-quota-…`; and a limit that does not say what it is about is about everything.
            _ => Reason::Quota,
        },
        401 => Reason::Unauthorized,
        403 => Reason::Forbidden,
        404 | 410 => Reason::Gone,
        408 => Reason::Timeout,
        409 => Reason::Conflict,
        500.. => Reason::ServerError,
        400..500 => Reason::Invalid,
        _ => Reason::Unreadable,
    }
}

impl ErrorCollection {
    pub(super) fn told(&self) -> String {
        let fields = self.errors.iter().map(|(field, error)| match error.as_str() {
            Some(text) => format!("{field}: {text}"),
            None => format!("{field}: {error}"),
        });
        self.messages.iter().cloned().chain(fields).collect::<Vec<_>>().join("; ")
    }
}

/// The page itself if it is no error of Jira's.
fn said(reply: &HttpReply) -> String {
    let told = serde_json::from_str::<ErrorCollection>(&reply.body).map(|errors| errors.told());
    told.ok().filter(|told| !told.is_empty()).unwrap_or_else(|| reply.beginning().to_owned())
}

/// OpenAPI, schema `ServerInformation`.
#[derive(Debug, Deserialize)]
struct ServerInformation {
    #[serde(rename = "baseUrl")]
    base_url: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Project {
    id: String,
    pub(super) key: String,
}

impl JiraTracker {
    pub(super) fn url(&self, path: &[&str], query: &[(&str, &str)]) -> Url {
        let mut url = self.http.url(&[&["rest", "api", "3"], path].concat());
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }

    pub(super) async fn get<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<T, Refused> {
        self.ask(HttpRequest::get(self.url(path, query))).await
    }

    /// Ignores Jira's `X-RateLimit-Remaining`: it counts one endpoint within a second, and no pace here fits
    /// it.
    pub(super) async fn ask<T: DeserializeOwned>(&self, request: HttpRequest) -> Result<T, Refused> {
        let effect = request.effect;
        let reply = self.http.send(request).await?;
        reply.read(effect, refusal(&reply, self.now()))
    }

    /// The answer may be empty.
    pub(super) async fn tell<T: DeserializeOwned>(&self, request: HttpRequest) -> Result<Option<T>, Refused> {
        let effect = request.effect;
        let reply = self.http.send(request).await?;
        let refusal = refusal(&reply, self.now());
        if refusal.is_none() && reply.body.trim().is_empty() {
            return Ok(None);
        }
        // A page instead of an answer comes from a proxy.
        reply.read(effect, refusal).map(Some)
    }

    pub(super) async fn project(&self) -> Result<Project, Refused> {
        self.get(&["project", &self.settings.project], &[]).await
    }

    /// The id stays when the project's key is changed.
    pub(super) async fn project_id(&self) -> Result<String, Failure> {
        let told = self.project().await?;
        // Otherwise another address of the site would be another target.
        let site = self.known_site().await?;
        Ok(format!("jira {site} {}", told.id))
    }

    /// As it is in links; the configured address if a gateway does not tell.
    pub(super) async fn site(&self) -> &str {
        self.known_site().await.unwrap_or(self.settings.base_url.as_str())
    }

    /// A gateway (`https://api.atlassian.com/ex/jira/…`) is asked once for the site behind it, which people
    /// can open.
    async fn known_site(&self) -> Result<&str, Refused> {
        let base = self.settings.base_url.as_str();
        // A site has no path.
        if !base.split("://").nth(1).is_some_and(|rest| rest.contains('/')) {
            return Ok(base);
        }
        let asked = self.site.get_or_try_init(|| async {
            let told = self.get::<ServerInformation>(&["serverInfo"], &[]).await;
            told.map(|told| told.base_url.trim_end_matches('/').to_owned())
        });
        asked.await.map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(status: u16, headers: &[(&str, &str)], body: &str) -> HttpReply {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        HttpReply { status, headers, body: body.to_owned() }
    }

    #[test]
    fn each_limit_means_what_it_says() {
        let now = Timestamp::from_second(1_700_000_000).unwrap();
        for (limit, reason) in [
            (Some("jira-quota-global-based"), Reason::Quota),
            (Some("jira-quota-tenant-based"), Reason::Quota),
            (Some("jira-burst-based"), Reason::EndpointLimit),
            (Some("jira-per-issue-on-write"), Reason::TicketLimit),
            (Some("something new"), Reason::Quota),
            (None, Reason::Quota),
        ] {
            for wait in [None, Some("7")] {
                let headers: Vec<(&str, &str)> = limit
                    .map(|limit| ("ratelimit-reason", limit))
                    .into_iter()
                    .chain(wait.map(|wait| ("retry-after", wait)))
                    .collect();
                let failure = refusal(&reply(429, &headers, ""), now).unwrap();
                assert_eq!(failure.reason, reason, "{headers:?}");
                let seconds = failure.wait_until.map(|until| until.as_second() - now.as_second());
                assert_eq!(seconds, wait.map(|_| 7), "{headers:?}");
            }
        }
    }

    #[test]
    fn a_refusal_says_which_fields_are_wrong() {
        let body = r#"{"errorMessages":["No."],"errors":{"labels":"The label 'a b' contains spaces"}}"#;
        let told = refusal(&reply(400, &[], body), Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!(told.reason, Reason::Invalid);
        assert_eq!(told.detail, "HTTP 400: No.; labels: The label 'a b' contains spaces");
        let page = refusal(&reply(502, &[], "<html>"), Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!((page.reason, page.detail.as_str()), (Reason::ServerError, "HTTP 502: <html>"));
    }

    #[test]
    fn what_strangers_are_told_is_not_believed() {
        let header = [("x-seraph-loginreason", "AUTHENTICATED_FAILED")];
        let told = refusal(&reply(200, &header, r#"{"issues":[]}"#), Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!(told.reason, Reason::Unauthorized);
        assert_eq!(refusal(&reply(200, &[("x-seraph-loginreason", "OK")], ""), Timestamp::UNIX_EPOCH), None);
    }
}
