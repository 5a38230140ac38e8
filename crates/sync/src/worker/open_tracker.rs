//! The tracker of the configuration, matched with the target (repository or project) of the ledger's tickets.

use super::{
    Deferred, Worker,
    admission::{self, Feedback},
    trial,
};
#[cfg(feature = "http")]
use crate::tracker::HttpLimits;
#[cfg(feature = "github")]
use crate::tracker::{GitHubSettings, GitHubTracker};
#[cfg(feature = "jira")]
use crate::tracker::{JiraIssueTypes, JiraSettings, JiraTracker};
use crate::{
    Error, ErrorKind, Result, TrackerName,
    breaker::{Breaker, Failure, Reason, Scope},
    configuration::{BaseUrl, Destination, SettingsOwner, Target, TrackerSettings},
    credential::{AllowedDestinations, Credential, CredentialBindings, CredentialSource},
    ledger::{Lease, TrackerRecord},
    tracker::{DryTracker, FileTracker, RequestKind, Tracker},
};
use stepmark_model::artifact::FileHash;
use stepmark_store::{disk::Root, workspace::Clock};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TargetState {
    Same,
    /// The ledger now fits the target, which or whose address changed; a new plan is wanted.
    Changed,
    Unknown(Deferred),
}

impl Worker<'_> {
    /// Asks only if the ledger does not know, or the configured address differs. The tickets of another
    /// target are set aside, and come back with it; so none of them is changed.
    pub(super) async fn settle_target(&mut self, lease: &Lease) -> Result<TargetState> {
        let (settings, address) = (self.settings, self.settings.target.address());
        let known = self.ledger.read()?.record(&settings.name)?;
        self.settle_configuration(lease, &known)?;
        if !known.wants_target(&address, self.clock.now()) {
            return Ok(TargetState::Same);
        }
        let route = self.tracker.route(RequestKind::Target, &[]);
        let cost = self.tracker.cost(RequestKind::Target, 0);
        if let Some(held) = self.admit_request(Some(lease), &route, &cost).await? {
            return Ok(TargetState::Unknown(held));
        }
        self.requests += 1;
        let told = self.tracker.target().await;
        let now = self.clock.now();
        let mut transaction = self.begin(Some(lease))?;
        let heard = Feedback { route: &route, failures: vec![told.as_ref().err()], budget: None };
        admission::tell(&mut *transaction, &heard, settings, now)?;
        let is_moved = known.elsewhere(&address).is_some();
        let target = match told {
            Ok(target) => target,
            Err(failure) => {
                transaction.commit()?;
                // Where the address is the one that it had, its own requests tell what is wrong.
                let is_known = known.target.is_some() && !is_moved;
                return Ok(if is_known {
                    TargetState::Same
                } else {
                    TargetState::Unknown(Deferred::NoTarget(failure))
                });
            }
        };
        let former = known.target.as_deref().filter(|former| *former != target);
        if let Some(former) = former {
            transaction.switch_target(&settings.name, former, &target)?;
            // Breakers of tickets in the other target say nothing about this one.
            for (scope, _) in transaction.breakers()? {
                if matches!(&scope, Scope::Ticket { tracker, .. } if *tracker == settings.name) {
                    transaction.put_breaker(&scope, &Breaker::default())?;
                }
            }
        }
        let is_changed = is_moved || former.is_some();
        // Read again: the one that came back is another.
        let record = transaction.record(&settings.name)?;
        let (target, address, asked_at) = (Some(target), Some(address), Some(now));
        transaction.put_record(&settings.name, &TrackerRecord { target, address, asked_at, ..record })?;
        transaction.commit()?;
        Ok(if is_changed { TargetState::Changed } else { TargetState::Same })
    }

    /// Retries what was refused if the configuration or the credential has changed since: they may have been
    /// the cause.
    fn settle_configuration(&mut self, lease: &Lease, known: &TrackerRecord) -> Result<()> {
        let name = self.settings.name.clone();
        let route = self.tracker.route(RequestKind::Target, &[]);
        let credential = self.tracker.credential_digest().unwrap_or(&route.credential);
        let told = format!("{:?} {credential}", self.settings.target);
        let configuration = Some(FileHash::of(told.as_bytes()).to_string());
        if known.configuration == configuration {
            return Ok(());
        }
        let mut transaction = self.begin(Some(lease))?;
        trial::bring_back(&mut *transaction, &name, |_| true)?;
        let scope = Scope::Credential { host: route.host, credential: route.credential };
        transaction.put_breaker(&scope, &Breaker::default())?;
        let record = TrackerRecord { configuration, ..transaction.record(&name)? };
        transaction.put_record(&name, &record)?;
        transaction.commit()
    }

    /// `Some` if a ticket that seems gone may only be invisible: a credential without access finds nothing.
    pub(super) async fn out_of_sight(&mut self, lease: &Lease) -> Result<Option<Failure>> {
        let route = self.tracker.route(RequestKind::Target, &[]);
        let cost = self.tracker.cost(RequestKind::Target, 0);
        if self.is_in_sight || self.admit_request(Some(lease), &route, &cost).await?.is_some() {
            return Ok(None);
        }
        self.requests += 1;
        match self.tracker.target().await {
            Ok(_) => {
                self.is_in_sight = true;
                Ok(None)
            }
            Err(failure) => {
                let reason = match failure.reason {
                    Reason::Gone => Reason::Forbidden,
                    reason => reason,
                };
                Ok(Some(Failure { reason, ..failure }))
            }
        }
    }
}

/// A repository has no part in them.
#[derive(Clone, Debug, Default)]
pub struct CredentialAccess {
    pub bindings: CredentialBindings,
    pub allowed: AllowedDestinations,
}

impl CredentialAccess {
    pub fn load(&self, settings: &TrackerSettings) -> Result<Credential> {
        let (tracker, target) = (&settings.name, &settings.target);
        let Some(sources) = CredentialSource::of(target, &self.bindings) else {
            let host = target.base_url().map(BaseUrl::origin).unwrap_or_default();
            return Err(Error::new(
                ErrorKind::Remote,
                format!(
                    "the tracker `{tracker}` gets no credential, since your own configuration names none for `{host}`; write into \
                     `~/.config/stepmark/config.yaml`: `credentials: {{{host}: {{token_file: PATH}}}}`"
                ),
            ));
        };
        let credential = Credential::load(&sources).map_err(|error| not_opened(tracker, error))?;
        let is_allowed = |destination: &Destination| {
            settings.owner == SettingsOwner::User
                || self.allowed.contains(destination)
                || target.base_url().is_some_and(|base_url| self.bindings.name(base_url, destination))
        };
        match target.destination() {
            Some(destination) if !is_allowed(&destination) => {
                let (name, asked) = (credential.name, destination.target());
                let message = format!(
                    "the tracker `{tracker}` of this repository would send the credential of `{name}` to {destination}"
                );
                let help = format!(
                    "to allow it, run `stepmark sync allow {destination}`, or add `{asked}` to `targets` of that host in your own configuration"
                );
                Err(Error::new(ErrorKind::NotAllowed { credential: name }, message).with_help(help))
            }
            _ => Ok(credential),
        }
    }
}

#[cfg_attr(not(feature = "http"), expect(unused_variables, reason = "no tracker needs a credential then"))]
pub fn open_tracker(
    settings: &TrackerSettings,
    root: &Root,
    access: &CredentialAccess,
    clock: Clock,
) -> Result<Box<dyn Tracker>> {
    let name = settings.name.clone();
    match &settings.target {
        Target::File { path } => Ok(Box::new(FileTracker::new(name, root.clone(), path.clone(), clock))),
        Target::Dry => Ok(Box::new(DryTracker::new(name))),
        #[cfg(feature = "jira")]
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
                mapped: settings.ticket.fields.keys().cloned().collect(),
                write_interval: settings.write_interval(),
                limits: HttpLimits::default(),
                clock,
            };
            let tracker = JiraTracker::new(jira, &credential);
            Ok(Box::new(tracker.map_err(|error| not_opened(&name, error))?))
        }
        #[cfg(feature = "github")]
        Target::Github { base_url, repository, .. } => {
            let credential = access.load(settings)?;
            let github = GitHubSettings {
                name: name.clone(),
                base_url: base_url.clone(),
                repository: repository.clone(),
                write_interval: settings.write_interval(),
                limits: HttpLimits::default(),
                clock,
            };
            let tracker = GitHubTracker::new(github, &credential);
            Ok(Box::new(tracker.map_err(|error| not_opened(&name, error))?))
        }
        #[cfg(not(all(feature = "jira", feature = "github")))]
        other => {
            let kind = other.kind();
            let message =
                format!("the tracker `{name}` is of the kind `{kind}`, which cannot be opened here");
            Err(Error::new(ErrorKind::Remote, message))
        }
    }
}

fn not_opened(tracker: &TrackerName, error: Error) -> Error {
    Error::new(ErrorKind::Remote, format!("the tracker `{tracker}` cannot be opened")).because(error)
}

#[cfg(feature = "jira")]
fn account(tracker: &TrackerName, configured: Option<&str>) -> Result<String> {
    if let Some(account) = configured {
        return Ok(account.to_owned());
    }
    let sources = CredentialSource::jira_account();
    match Credential::load(&sources) {
        Ok(account) => Ok(account.secret.expose().to_owned()),
        Err(Error { kind: ErrorKind::Missing, .. }) => {
            let variables = sources.iter().filter_map(|source| match source {
                CredentialSource::Environment { variable } => Some(format!("`{variable}`")),
                _ => None,
            });
            let variables: Vec<String> = variables.collect();
            let message = format!(
                "the tracker `{tracker}` cannot be opened: nobody says which account its API token belongs to; give the key `email`, or \
                 set {}",
                variables.join(" or ")
            );
            Err(Error::new(ErrorKind::Remote, message))
        }
        Err(error) => Err(not_opened(tracker, error)),
    }
}
