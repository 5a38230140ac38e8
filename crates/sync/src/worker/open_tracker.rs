//! The tracker that the configuration describes.

use stepmark_store::{disk::Root, workspace::Clock};

#[cfg(feature = "github")]
use crate::tracker::{GitHubSettings, GitHubTracker};
#[cfg(feature = "http")]
use crate::tracker::{HttpLimits, HttpSetupError};
#[cfg(feature = "jira")]
use crate::tracker::{JiraIssueTypes, JiraSettings, JiraTracker};
use crate::{
    TrackerName,
    configuration::{BaseUrl, Destination, SettingsOwner, Target, TrackerSettings},
    credential::{AllowedDestinations, Credential, CredentialBindings, CredentialError, CredentialSource},
    tracker::{DryTracker, FileTracker, Tracker},
};

#[derive(Debug, thiserror::Error)]
pub enum TrackerOpenError {
    #[error("the tracker `{tracker}` cannot be opened")]
    Credential { tracker: TrackerName, source: CredentialError },
    #[error(
        "the tracker `{tracker}` gets no credential, since your own configuration names none for `{host}`; write into \
         `~/.config/stepmark/config.yaml`: `credentials: {{{host}: {{token_file: PATH}}}}`"
    )]
    UnboundHost { tracker: TrackerName, host: String },
    #[error(
        "the tracker `{tracker}` of this repository would send the credential of `{credential}` to {destination}"
    )]
    NotAllowed { tracker: TrackerName, credential: String, destination: Destination },
    #[cfg(feature = "http")]
    #[error("the tracker `{tracker}` cannot be opened")]
    Http { tracker: TrackerName, source: HttpSetupError },
    #[error("the tracker `{tracker}` is of the kind `{kind}`, which cannot be opened here")]
    NotKnown { tracker: TrackerName, kind: String },
    #[error(
        "the tracker `{tracker}` cannot be opened: nobody says which account its API token belongs to; give the key `email`, or \
         set {}", .variables.join(" or ")
    )]
    NoAccount { tracker: TrackerName, variables: Vec<String> },
}

/// The user's choices about credentials; a repository has no part in them.
#[derive(Clone, Debug, Default)]
pub struct CredentialAccess {
    pub bindings: CredentialBindings,
    pub allowed: AllowedDestinations,
}

impl CredentialAccess {
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

#[cfg_attr(not(feature = "http"), expect(unused_variables, reason = "no tracker needs a credential then"))]
pub fn open_tracker(
    settings: &TrackerSettings,
    root: &Root,
    access: &CredentialAccess,
    clock: Clock,
) -> Result<Box<dyn Tracker>, TrackerOpenError> {
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
            let tracker = JiraTracker::new(jira, &credential)
                .map_err(|source| TrackerOpenError::Http { tracker: name, source })?;
            Ok(Box::new(tracker))
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
            let tracker = GitHubTracker::new(github, &credential)
                .map_err(|source| TrackerOpenError::Http { tracker: name, source })?;
            Ok(Box::new(tracker))
        }
        #[cfg(not(all(feature = "jira", feature = "github")))]
        other => Err(TrackerOpenError::NotKnown { tracker: name, kind: other.kind().to_owned() }),
    }
}

/// The account of a token: what the configuration says, else the environment.
#[cfg(feature = "jira")]
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
