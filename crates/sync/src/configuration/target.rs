//! The places where tickets are kept.

use std::{collections::BTreeMap, fmt, str::FromStr};

use stepmark_model::artifact::ProjectPath;

use super::{BaseUrl, Destination};
use crate::{
    scalar::deserialize_as_scalar,
    ticket::{FileUrl, FileUrlError},
};

/// The place where a tracker keeps tickets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The issues of a repository on GitHub or GitHub Enterprise.
    Github {
        /// The REST interface; `https://api.github.com` unless given.
        base_url: BaseUrl,
        repository: Repository,
        /// The branch that tickets link to; `None` for the commit, or the default branch.
        branch: Option<String>,
    },
    Jira {
        /// The site, such as `https://example.atlassian.net`.
        base_url: BaseUrl,
        project: String,
        /// The type of its issues, by name; `Task` unless given.
        issue_type: String,
        /// The type of the issues of epics, by name, such as `Epic`: stories hang below them; without one,
        /// they are issues like others.
        epic_issue_type: Option<String>,
        /// The type of the issues of stories, by name; unless given, that of others.
        story_issue_type: Option<String>,
        /// The type of issues that hang below others, by name, such as `Sub-task`; without one, none does.
        child_issue_type: Option<String>,
        /// The account that the API token belongs to; unless given, the environment names it.
        email: Option<String>,
        /// The names of Jira's statuses for status words of artifacts. For other words its status categories
        /// decide.
        statuses: BTreeMap<String, String>,
    },
    File {
        path: ProjectPath,
    },
    /// Nowhere: what would be done is told.
    Dry,
}

impl Target {
    pub fn kind(&self) -> &str {
        match self {
            Self::Github { .. } => "github",
            Self::Jira { .. } => "jira",
            Self::File { .. } => "file",
            Self::Dry => "dry",
        }
    }

    /// The address that it is reached at; `None` for one that needs no credential.
    pub fn base_url(&self) -> Option<&BaseUrl> {
        match self {
            Self::Github { base_url, .. } | Self::Jira { base_url, .. } => Some(base_url),
            Self::File { .. } | Self::Dry => None,
        }
    }

    pub fn destination(&self) -> Option<Destination> {
        match self {
            Self::Github { base_url, repository, .. } => {
                Some(Destination::new(base_url, repository.to_string()))
            }
            Self::Jira { base_url, project, .. } => Some(Destination::new(base_url, project.clone())),
            Self::File { .. } | Self::Dry => None,
        }
    }

    /// The address of the target, in one line: what the configuration says, whatever the tracker makes of it.
    pub fn address(&self) -> String {
        match self {
            Self::File { path } => path.to_string(),
            Self::Dry => String::new(),
            Self::Github { .. } | Self::Jira { .. } => {
                self.destination().map(|destination| destination.to_string()).unwrap_or_default()
            }
        }
    }

    /// The most tickets below one, and the most levels (docs/formats.md, "Trackers").
    pub(super) fn tree(&self) -> Option<(usize, usize)> {
        matches!(self, Self::Github { .. }).then_some((100, 8))
    }

    /// The address at which people look at repositories of the tracker: `https://github.com`; `None` where it
    /// has none.
    pub(super) fn web(&self) -> Option<String> {
        let Self::Github { base_url, .. } = self else { return None };
        // GitHub Enterprise: `https://HOST/api/v3`. GitHub: `https://api.github.com`.
        let base = base_url.as_str();
        Some(match base.strip_suffix("/api/v3") {
            Some(web) => web.to_owned(),
            None => base.replacen("://api.", "://", 1),
        })
    }

    /// The address at which the files of the project can be looked at, as far as the target tells: on its
    /// branch of the repository, else on the default branch.
    pub fn file_url(&self) -> Result<Option<FileUrl>, FileUrlError> {
        let (Self::Github { repository, branch, .. }, Some(web)) = (self, self.web()) else {
            return Ok(None);
        };
        format!("{web}/{repository}/blob/{}/{{path}}", branch.as_deref().unwrap_or("HEAD")).parse().map(Some)
    }
}

/// `owner/name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    pub owner: String,
    pub name: String,
}

impl fmt::Display for Repository {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.owner, self.name)
    }
}

impl FromStr for Repository {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // Both become part of a path: `..` would lead elsewhere.
        let fits = |part: &str| {
            !matches!(part, "" | "." | "..")
                && part.len() <= 100
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        };
        match text.split_once('/') {
            Some((owner, name)) if fits(owner) && fits(name) => {
                Ok(Self { owner: owner.to_owned(), name: name.to_owned() })
            }
            _ => Err(format!("`owner/name` is wanted, not `{text}`")),
        }
    }
}

deserialize_as_scalar!(Repository);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_owner_and_name() {
        assert_eq!("a-b/c.d_e".parse::<Repository>().unwrap().to_string(), "a-b/c.d_e");
        for text in ["", "a", "a/", "/a", "a/b/c", "a/..", "a b/c", "https://github.com/a/b"] {
            assert!(text.parse::<Repository>().is_err(), "{text}");
        }
    }
}
