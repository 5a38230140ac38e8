//! The tracker that the configuration describes.

use std::{path::Path, time::Duration};

use stepmark_core::workspace::Clock;

use crate::{
    TrackerName,
    breaker::{Failure, Route},
    configuration::{Target, TrackerSettings},
    credential::{Credential, CredentialError, CredentialSource},
    pace::Cost,
    ticket::{FieldDifference, LabelFamilies, Marker, MergeError, Observed, RemoteTicket, Ticket},
    tracker::{
        Answer, Change, Creation, Cursor, Delivered, DryTracker, FileTracker, GitHubSettings, GitHubTracker,
        HttpLimits, HttpSetupError, JiraIssueTypes, JiraSettings, JiraTracker, Page, RequestKind, Tracker,
    },
};

/// The tracker that the configuration describes.
#[derive(Debug)]
pub enum ConfiguredTracker {
    /// A file.
    File(FileTracker),
    /// None.
    Dry(DryTracker),
    /// GitHub Issues.
    GitHub(Box<GitHubTracker>),
    /// Jira Cloud.
    Jira(Box<JiraTracker>),
}

/// Why there is no such tracker.
#[derive(Debug, thiserror::Error)]
pub enum TrackerOpenError {
    /// It needs a credential.
    #[error("the tracker `{tracker}` cannot be opened")]
    Credential {
        /// Its name.
        tracker: TrackerName,
        /// Why.
        source: CredentialError,
    },
    /// Nothing can be asked over the network.
    #[error("the tracker `{tracker}` cannot be opened")]
    Http {
        /// Its name.
        tracker: TrackerName,
        /// Why.
        source: HttpSetupError,
    },
    /// Nobody says whose its token is.
    #[error(
        "the tracker `{tracker}` cannot be opened: nobody says which account its API token belongs to; give the key `email`, or \
         set {}", .variables.join(" or ")
    )]
    NoAccount {
        /// Its name.
        tracker: TrackerName,
        /// The variables of the environment that may name it.
        variables: Vec<String>,
    },
}

impl ConfiguredTracker {
    /// The tracker of `settings`, for the project in the folder `root`. `trusted_host` is the value of `GH_HOST`.
    ///
    /// # Errors
    /// When it needs a credential and none can be used, or the network cannot.
    pub fn open(
        settings: &TrackerSettings,
        root: &Path,
        trusted_host: Option<&str>,
        clock: Clock,
    ) -> Result<Self, TrackerOpenError> {
        let name = settings.name.clone();
        let families = LabelFamilies::of(&settings.ticket);
        match &settings.target {
            Target::File { path } => {
                Ok(Self::File(FileTracker::new(name, root.join(path.as_str()), families, clock)))
            }
            Target::Dry => Ok(Self::Dry(DryTracker::new(name))),
            Target::Jira { base_url, project, issue_type, child_issue_type, email, statuses } => {
                let credential =
                    Credential::load(&CredentialSource::jira(base_url, settings.token_file.clone()))
                        .map_err(|source| TrackerOpenError::Credential { tracker: name.clone(), source })?;
                let interval = settings.pace.credential.write_interval_ms;
                let jira = JiraSettings {
                    name: name.clone(),
                    base_url: base_url.clone(),
                    account: account(&name, email.as_deref())?,
                    project: project.clone(),
                    types: JiraIssueTypes { standard: issue_type.clone(), child: child_issue_type.clone() },
                    statuses: statuses.clone(),
                    families,
                    write_interval: Duration::from_millis(interval.into()),
                    limits: HttpLimits::default(),
                    clock,
                };
                let tracker = JiraTracker::new(jira, &credential)
                    .map_err(|source| TrackerOpenError::Http { tracker: name, source })?;
                Ok(Self::Jira(Box::new(tracker)))
            }
            Target::Github { base_url, repository } => {
                let sources = CredentialSource::github(base_url, settings.token_file.clone(), trusted_host);
                let credential = Credential::load(&sources)
                    .map_err(|source| TrackerOpenError::Credential { tracker: name.clone(), source })?;
                let interval = settings.pace.credential.write_interval_ms;
                let github = GitHubSettings {
                    name: name.clone(),
                    base_url: base_url.clone(),
                    repository: repository.clone(),
                    families,
                    write_interval: Duration::from_millis(interval.into()),
                    limits: HttpLimits::default(),
                    clock,
                };
                let tracker = GitHubTracker::new(github, &credential)
                    .map_err(|source| TrackerOpenError::Http { tracker: name, source })?;
                Ok(Self::GitHub(Box::new(tracker)))
            }
        }
    }
}

/// The account of a token: what the configuration says, else the environment.
fn account(tracker: &TrackerName, configured: Option<&str>) -> Result<String, TrackerOpenError> {
    if let Some(account) = configured {
        return Ok(account.to_owned());
    }
    let sources = CredentialSource::jira_account();
    match Credential::load(&sources) {
        Ok(account) => Ok(account.secret.expose().to_owned()),
        Err(CredentialError::NotFound { .. }) => {
            let variables = sources.iter().filter_map(|source| match source {
                CredentialSource::Environment { variable } => Some(format!("`{variable}`")),
                _ => None,
            });
            Err(TrackerOpenError::NoAccount { tracker: tracker.clone(), variables: variables.collect() })
        }
        Err(source) => Err(TrackerOpenError::Credential { tracker: tracker.clone(), source }),
    }
}

/// Passes a call on to the tracker.
macro_rules! each {
    ($own:expr, $tracker:ident => $call:expr) => {
        match $own {
            ConfiguredTracker::File($tracker) => $call,
            ConfiguredTracker::Dry($tracker) => $call,
            ConfiguredTracker::GitHub($tracker) => $call,
            ConfiguredTracker::Jira($tracker) => $call,
        }
    };
}

impl Tracker for ConfiguredTracker {
    fn name(&self) -> &TrackerName {
        each!(self, tracker => tracker.name())
    }

    fn sent(&self) -> Option<usize> {
        each!(self, tracker => tracker.sent())
    }

    fn batch(&self, kind: RequestKind) -> usize {
        each!(self, tracker => tracker.batch(kind))
    }

    fn route(&self, kind: RequestKind, tickets: &[Marker]) -> Route {
        each!(self, tracker => tracker.route(kind, tickets))
    }

    fn cost(&self, kind: RequestKind, tickets: usize) -> Cost {
        each!(self, tracker => tracker.cost(kind, tickets))
    }

    fn compare(
        &self,
        desired: &Ticket,
        before: Option<&Ticket>,
        observed: &Observed,
    ) -> Result<Vec<FieldDifference>, MergeError> {
        each!(self, tracker => tracker.compare(desired, before, observed))
    }

    async fn create(&self, creations: &[Creation]) -> Answer<Delivered> {
        each!(self, tracker => tracker.create(creations).await)
    }

    async fn update(&self, changes: &[Change]) -> Answer<Delivered> {
        each!(self, tracker => tracker.update(changes).await)
    }

    async fn read(&self, tickets: &[RemoteTicket]) -> Answer<Option<Observed>> {
        each!(self, tracker => tracker.read(tickets).await)
    }

    async fn list(&self, project: &str, from: Option<&Cursor>) -> Result<Page, Failure> {
        each!(self, tracker => tracker.list(project, from).await)
    }
}
