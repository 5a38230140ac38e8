//! The kinds of trackers that a configuration may name.

use std::{fmt, sync::Arc};

use stepmark_model::artifact::ProjectPath;

use super::{KeyError, OwnKeys, Target};
use crate::pace::ScopedPace;

/// A kind of tracker, as the configuration names it. A program that keeps tickets elsewhere registers its own
/// ([`TrackerKinds::with`]).
pub trait TrackerKind: fmt::Debug + Send + Sync {
    /// The word behind `kind:`.
    fn name(&self) -> &str;

    /// The keys of such a tracker, beside those that all trackers have.
    fn keys(&self) -> &[&str];

    /// Reads the keys.
    ///
    /// # Errors
    /// When a key is missing, or its value cannot be used.
    fn target(&self, keys: &OwnKeys<'_>) -> Result<Target, KeyError>;

    /// The pace at which it is asked, unless the configuration says another one.
    fn pace(&self) -> ScopedPace {
        ScopedPace::default()
    }

    /// After how many seconds a ticket that is not listed is certainly not there, unless the configuration
    /// says so.
    fn look_up_wait_seconds(&self) -> u32 {
        0
    }

    /// The fields that `ticket.fields` may name; `None` where any will do.
    fn ticket_fields(&self) -> Option<&[&str]> {
        None
    }
}

/// The kinds of trackers that a configuration may name: those of this crate, and those that a program adds.
#[derive(Clone, Debug)]
pub struct TrackerKinds(Vec<Arc<dyn TrackerKind>>);

impl Default for TrackerKinds {
    fn default() -> Self {
        use BuiltIn::{Dry, File, Github, Jira};
        Self([Github, Jira, File, Dry].map(|kind| Arc::new(kind) as Arc<dyn TrackerKind>).to_vec())
    }
}

impl TrackerKinds {
    /// The same with one more kind, which takes the place of one that has its name.
    #[must_use]
    pub fn with(mut self, kind: impl TrackerKind + 'static) -> Self {
        self.0.retain(|own| own.name() != kind.name());
        self.0.push(Arc::new(kind));
        self
    }

    /// The kind called `name`.
    pub(super) fn named(&self, name: &str) -> Option<&dyn TrackerKind> {
        self.0.iter().map(|kind| &**kind).find(|kind| kind.name() == name)
    }

    /// Returns whether any kind has the key `key` for itself.
    pub(super) fn have(&self, key: &str) -> bool {
        self.0.iter().any(|kind| kind.keys().contains(&key))
    }

    /// `` `github`, `jira`, `file` `word` `dry` ``
    pub(super) fn listed(&self, word: &str) -> String {
        let names: Vec<String> = self.0.iter().map(|kind| format!("`{}`", kind.name())).collect();
        match names.as_slice() {
            [] => String::new(),
            [only] => only.clone(),
            [first @ .., last] => format!("{} {word} {last}", first.join(", ")),
        }
    }
}

/// The kinds of this crate.
#[derive(Debug)]
enum BuiltIn {
    Github,
    Jira,
    File,
    Dry,
}

impl TrackerKind for BuiltIn {
    fn name(&self) -> &str {
        match self {
            Self::Github => "github",
            Self::Jira => "jira",
            Self::File => "file",
            Self::Dry => "dry",
        }
    }

    fn keys(&self) -> &[&str] {
        match self {
            Self::Github => &["base_url", "repository", "branch", "token_file"],
            Self::Jira => &JIRA_KEYS,
            Self::File => &["path"],
            Self::Dry => &[],
        }
    }

    fn target(&self, keys: &OwnKeys<'_>) -> Result<Target, KeyError> {
        match self {
            Self::Github => github(keys),
            Self::Jira => jira(keys),
            Self::File => file(keys),
            Self::Dry => Ok(Target::Dry),
        }
    }

    fn pace(&self) -> ScopedPace {
        match self {
            Self::Github => ScopedPace::github(),
            Self::Jira => ScopedPace::jira(),
            Self::File | Self::Dry => ScopedPace::default(),
        }
    }

    // Longer than a request may take.
    fn look_up_wait_seconds(&self) -> u32 {
        match self {
            Self::Github => 90,
            Self::Jira => 120,
            Self::File | Self::Dry => 0,
        }
    }

    fn ticket_fields(&self) -> Option<&[&str]> {
        matches!(self, Self::Github).then_some(&["milestone", "assignees", "type"])
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

/// The key of a Jira project, as Jira makes them by default.
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
