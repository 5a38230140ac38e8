//! The kinds of trackers that a configuration may name.

use stepmark_model::artifact::ProjectPath;

use super::{
    Target,
    own_keys::{KeyError, OwnKeys},
};
use crate::pace::ScopedPace;

#[derive(Clone, Copy, Debug)]
pub(super) enum TrackerKind {
    Github,
    Jira,
    File,
    Dry,
}

impl TrackerKind {
    const ALL: [Self; 4] = [Self::Github, Self::Jira, Self::File, Self::Dry];

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    pub(super) fn have(key: &str) -> bool {
        Self::ALL.iter().any(|kind| kind.keys().contains(&key))
    }

    pub(super) fn listed(word: &str) -> String {
        format!("`github`, `jira`, `file` {word} `dry`")
    }

    /// The word behind `kind:`.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Github => "github",
            Self::Jira => "jira",
            Self::File => "file",
            Self::Dry => "dry",
        }
    }

    pub(super) const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Github => &["base_url", "repository", "branch", "token_file"],
            Self::Jira => &JIRA_KEYS,
            Self::File => &["path"],
            Self::Dry => &[],
        }
    }

    pub(super) fn target(self, keys: &OwnKeys<'_>) -> Result<Target, KeyError> {
        match self {
            Self::Github => github(keys),
            Self::Jira => jira(keys),
            Self::File => file(keys),
            Self::Dry => Ok(Target::Dry),
        }
    }

    /// The pace at which it is asked, unless the configuration says another one.
    pub(super) fn pace(self) -> ScopedPace {
        match self {
            Self::Github => ScopedPace::github(),
            Self::Jira => ScopedPace::jira(),
            Self::File | Self::Dry => ScopedPace::default(),
        }
    }

    /// After how many seconds a ticket that is not listed is certainly not there, unless the configuration
    /// says so: longer than a request may take.
    pub(super) const fn look_up_wait_seconds(self) -> u32 {
        match self {
            Self::Github => 90,
            Self::Jira => 120,
            Self::File | Self::Dry => 0,
        }
    }

    /// The fields that `ticket.fields` may name; `None` where any will do.
    pub(super) fn ticket_fields(self) -> Option<&'static [&'static str]> {
        matches!(self, Self::Github).then_some(&["milestone", "assignees", "type"][..])
    }
}

const JIRA_KEYS: [&str; 9] = [
    "base_url",
    "project",
    "issue_type",
    "epic_issue_type",
    "story_issue_type",
    "child_issue_type",
    "email",
    "statuses",
    "token_file",
];

fn github(keys: &OwnKeys<'_>) -> Result<Target, KeyError> {
    let base_url = match keys.get("base_url")? {
        Some(url) => url,
        None => "https://api.github.com".parse().map_err(|error: super::BaseUrlError| KeyError::Invalid {
            position: None,
            reason: error.reason,
        })?,
    };
    Ok(Target::Github { base_url, repository: keys.need("repository")?, branch: keys.get("branch")? })
}

fn jira(keys: &OwnKeys<'_>) -> Result<Target, KeyError> {
    let base_url = keys.need("base_url")?;
    let project = keys.get("project")?.filter(|key: &String| is_project_key(key));
    Ok(Target::Jira {
        base_url,
        project: project.ok_or_else(|| KeyError::Missing { key: "project".to_owned() })?,
        issue_type: keys.get("issue_type")?.unwrap_or_else(|| "Task".to_owned()),
        epic_issue_type: keys.get("epic_issue_type")?,
        story_issue_type: keys.get("story_issue_type")?,
        child_issue_type: keys.get("child_issue_type")?,
        email: keys.get("email")?,
        statuses: keys.get("statuses")?.unwrap_or_default(),
    })
}

fn is_project_key(key: &str) -> bool {
    key.starts_with(|first: char| first.is_ascii_uppercase())
        && key.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

fn file(keys: &OwnKeys<'_>) -> Result<Target, KeyError> {
    let path = keys.need("path")?;
    match reserved_for(&path) {
        None => Ok(Target::File { path }),
        Some(whose) => {
            Err(keys.refused("path", format!("`{path}` is among {whose} files: name another file")))
        }
    }
}

/// Whose file `path` is, where tickets must not be kept in it.
pub(crate) fn reserved_for(path: &ProjectPath) -> Option<&'static str> {
    if path.is_in_git_folder() || path.is_file_of_git() {
        return Some("git's");
    }
    path.is_in_own_folder().then_some("stepmark's own")
}
