//! The tracker that the configuration describes.

use std::time::Duration;

use stepmark_store::disk::Root;
use stepmark_store::workspace::Clock;

use crate::{
    TrackerName,
    breaker::{Failure, Route},
    configuration::{BaseUrl, Destination, SettingsOwner, Target, TrackerSettings},
    credential::{AllowedDestinations, Credential, CredentialBindings, CredentialError, CredentialSource},
    pace::Cost,
    ticket::{FieldDifference, Marker, MergeError, Observed, RemoteTicket, Ticket},
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
#[non_exhaustive]
pub enum TrackerOpenError {
    /// It needs a credential.
    #[error("the tracker `{tracker}` cannot be opened")]
    Credential {
        /// Its name.
        tracker: TrackerName,
        /// Why.
        source: CredentialError,
    },
    /// Nobody says which credential is for its host.
    #[error(
        "the tracker `{tracker}` gets no credential, since your own configuration names none for `{host}`; write into \
         `~/.config/stepmark/config.yaml`: `credentials: {{{host}: {{token_file: PATH}}}}`"
    )]
    UnboundHost {
        /// Its name.
        tracker: TrackerName,
        /// Scheme, host and port.
        host: String,
    },
    /// A repository names where it sends to, and nobody has allowed that.
    #[error(
        "the tracker `{tracker}` of this repository would send the credential of `{credential}` to {destination}"
    )]
    NotAllowed {
        /// Its name.
        tracker: TrackerName,
        /// Where the credential comes from.
        credential: String,
        /// Where it would go.
        destination: Destination,
    },
    /// Nothing can be asked over the network.
    #[error("the tracker `{tracker}` cannot be opened")]
    Http {
        /// Its name.
        tracker: TrackerName,
        /// Why.
        source: HttpSetupError,
    },
    /// Only the program that has registered its kind can open it.
    #[error("the tracker `{tracker}` is of the kind `{kind}`, which this program cannot open")]
    ForeignKind {
        /// Its name.
        tracker: TrackerName,
        /// Its kind.
        kind: String,
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

/// What the user says about credentials; a repository has no part in it.
#[derive(Clone, Debug, Default)]
pub struct CredentialAccess {
    /// Which host gets which.
    pub bindings: CredentialBindings,
    /// What a repository's tracker may send to.
    pub allowed: AllowedDestinations,
}

impl CredentialAccess {
    /// Loads the credential for the target of `settings`: for whoever opens a tracker of a kind of its own.
    ///
    /// # Errors
    /// When there is none, or a repository would send it somewhere that nobody has allowed.
    pub fn load(&self, settings: &TrackerSettings) -> Result<Credential, TrackerOpenError> {
        let (tracker, target) = (settings.name.clone(), &settings.target);
        let Some(sources) = CredentialSource::of(target, &self.bindings) else {
            let host = target.base_url().map(BaseUrl::origin).unwrap_or_default();
            return Err(TrackerOpenError::UnboundHost { tracker, host });
        };
        let credential = Credential::load(&sources)
            .map_err(|source| TrackerOpenError::Credential { tracker: tracker.clone(), source })?;
        let is_allowed = |destination: &Destination| {
            settings.owner == SettingsOwner::User
                || self.allowed.contains(destination)
                || target.base_url().is_some_and(|base_url| self.bindings.name(base_url, destination))
        };
        match target.destination() {
            Some(destination) if !is_allowed(&destination) => {
                Err(TrackerOpenError::NotAllowed { tracker, credential: credential.name, destination })
            }
            _ => Ok(credential),
        }
    }
}

impl ConfiguredTracker {
    /// The tracker of `settings`, for the project at `root`.
    ///
    /// # Errors
    /// When it needs a credential and none can be used, or the network cannot.
    pub fn open(
        settings: &TrackerSettings,
        root: &Root,
        access: &CredentialAccess,
        clock: Clock,
    ) -> Result<Self, TrackerOpenError> {
        let name = settings.name.clone();
        match &settings.target {
            Target::File { path } => {
                Ok(Self::File(FileTracker::new(name, root.clone(), path.clone(), clock)))
            }
            Target::Custom(target) => {
                Err(TrackerOpenError::ForeignKind { tracker: name, kind: target.kind().to_owned() })
            }
            Target::Dry => Ok(Self::Dry(DryTracker::new(name))),
            Target::Jira {
                base_url,
                project,
                issue_type,
                epic_issue_type,
                story_issue_type,
                child_issue_type,
                email,
                statuses,
            } => {
                let credential = access.load(settings)?;
                let interval = settings.pace.credential.write_interval_ms;
                let jira = JiraSettings {
                    name: name.clone(),
                    base_url: base_url.clone(),
                    account: account(&name, email.as_deref())?,
                    project: project.clone(),
                    types: JiraIssueTypes {
                        standard: issue_type.clone(),
                        epic: epic_issue_type.clone(),
                        story: story_issue_type.clone(),
                        child: child_issue_type.clone(),
                    },
                    statuses: statuses.clone(),
                    write_interval: Duration::from_millis(interval.into()),
                    limits: HttpLimits::default(),
                    clock,
                };
                let tracker = JiraTracker::new(jira, &credential)
                    .map_err(|source| TrackerOpenError::Http { tracker: name, source })?;
                Ok(Self::Jira(Box::new(tracker)))
            }
            Target::Github { base_url, repository, .. } => {
                let credential = access.load(settings)?;
                let interval = settings.pace.credential.write_interval_ms;
                let github = GitHubSettings {
                    name: name.clone(),
                    base_url: base_url.clone(),
                    repository: repository.clone(),
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

    fn credential_digest(&self) -> Option<&str> {
        each!(self, tracker => tracker.credential_digest())
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

    async fn target(&self) -> Result<String, Failure> {
        each!(self, tracker => tracker.target().await)
    }

    fn has_preflight(&self) -> bool {
        each!(self, tracker => tracker.has_preflight())
    }

    async fn preflight(&self, tickets: &[(&Ticket, bool)]) -> Result<Vec<String>, Failure> {
        each!(self, tracker => tracker.preflight(tickets).await)
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
