//! Where tickets are kept.

use std::{collections::BTreeMap, str::FromStr};

use stepmark_model::artifact::ProjectPath;

use super::{BaseUrl, Destination, Repository};
use crate::{
    scalar::deserialize_as_scalar,
    ticket::{FileUrl, FileUrlError},
};

/// Where a tracker keeps tickets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The issues of a repository on GitHub or GitHub Enterprise.
    Github {
        /// The REST interface; `https://api.github.com` unless given.
        base_url: BaseUrl,
        /// The repository.
        repository: Repository,
    },
    /// A project of Jira Cloud.
    Jira {
        /// The site, such as `https://example.atlassian.net`.
        base_url: BaseUrl,
        /// The key of the project.
        project: String,
        /// The type of its issues, by name; `Task` unless given.
        issue_type: String,
        /// The type of the issues of epics, by name, such as `Epic`: stories hang below them; without one, they are issues like others.
        epic_issue_type: Option<String>,
        /// The type of the issues of stories, by name; unless given, that of others.
        story_issue_type: Option<String>,
        /// The type of issues that hang below others, by name, such as `Sub-task`; without one, none does.
        child_issue_type: Option<String>,
        /// The account that the API token belongs to; unless given, the environment names it.
        email: Option<String>,
        /// The names of Jira's statuses for status words of artifacts. For other words its status categories decide.
        statuses: BTreeMap<String, String>,
    },
    /// A file of JSON lines in the project.
    File {
        /// Where it stands.
        path: ProjectPath,
    },
    /// Nowhere: what would be done is told.
    Dry,
}

/// The kinds of trackers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// GitHub Issues.
    Github,
    /// Jira Cloud.
    Jira,
    /// A file.
    File,
    /// None.
    Dry,
}

impl FromStr for TargetKind {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "github" => Ok(Self::Github),
            "jira" => Ok(Self::Jira),
            "file" => Ok(Self::File),
            "dry" => Ok(Self::Dry),
            _ => Err(format!(
                "there is no kind of tracker `{word}`; there are `github`, `jira`, `file` and `dry`"
            )),
        }
    }
}

deserialize_as_scalar!(TargetKind);

impl Target {
    /// The address that it is reached at; `None` for one that needs no credential.
    pub const fn base_url(&self) -> Option<&BaseUrl> {
        match self {
            Self::Github { base_url, .. } | Self::Jira { base_url, .. } => Some(base_url),
            Self::File { .. } | Self::Dry => None,
        }
    }

    /// Where its credential goes.
    pub fn destination(&self) -> Option<Destination> {
        match self {
            Self::Github { base_url, repository } => Some(Destination::new(base_url, repository.to_string())),
            Self::Jira { base_url, project, .. } => Some(Destination::new(base_url, project.clone())),
            Self::File { .. } | Self::Dry => None,
        }
    }

    /// Where it is, in one line: what the configuration says, whatever the tracker makes of it.
    pub fn address(&self) -> String {
        match self {
            Self::File { path } => path.to_string(),
            Self::Dry => String::new(),
            Self::Github { .. } | Self::Jira { .. } => {
                self.destination().map(|destination| destination.to_string()).unwrap_or_default()
            }
        }
    }

    /// Where people look at repositories of the tracker: `https://github.com`; `None` where it has none.
    pub(super) fn web(&self) -> Option<String> {
        let Self::Github { base_url, .. } = self else { return None };
        // GitHub Enterprise: `https://HOST/api/v3`. GitHub: `https://api.github.com`.
        let base = base_url.as_str();
        Some(match base.strip_suffix("/api/v3") {
            Some(web) => web.to_owned(),
            None => base.replacen("://api.", "://", 1),
        })
    }

    /// Where the files of the project can be looked at, as far as the target tells: on the branch `branch` of the repository;
    /// `None` for the default branch.
    ///
    /// # Errors
    /// When the branch cannot stand in an address.
    pub fn file_url(&self, branch: Option<&str>) -> Result<Option<FileUrl>, FileUrlError> {
        let (Self::Github { repository, .. }, Some(web)) = (self, self.web()) else { return Ok(None) };
        format!("{web}/{repository}/blob/{}/{{path}}", branch.unwrap_or("HEAD")).parse().map(Some)
    }
}
