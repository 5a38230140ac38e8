//! Addresses of trackers, and the hosts that credentials are bound to.

use std::{collections::BTreeMap, fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use stepmark_model::artifact::ProjectPath;
use url::{Host, Url};

use crate::{Error, Result, scalar::deserialize_as_scalar, ticket::FileUrl};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    Github {
        /// `https://api.github.com` unless given.
        base_url: BaseUrl,
        repository: Repository,
        branch: Option<String>,
    },
    Jira {
        base_url: BaseUrl,
        project: String,
        issue_type: String,
        /// Such as `Epic`; without it epics are issues like others.
        epic_issue_type: Option<String>,
        story_issue_type: Option<String>,
        /// Such as `Sub-task`; without it no issue hangs below another.
        child_issue_type: Option<String>,
        email: Option<String>,
        statuses: BTreeMap<String, String>,
    },
    File {
        path: ProjectPath,
    },
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

    /// `None` if it needs no credential.
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

    /// As configured, whatever the tracker makes of it.
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

    pub(super) fn web(&self) -> Option<String> {
        let Self::Github { base_url, .. } = self else { return None };
        // GitHub Enterprise: `https://HOST/api/v3`. GitHub: `https://api.github.com`.
        let base = base_url.as_str();
        Some(match base.strip_suffix("/api/v3") {
            Some(web) => web.to_owned(),
            None => base.replacen("://api.", "://", 1),
        })
    }

    /// On its branch of the repository, else on the default branch; `None` if the target does not tell.
    pub fn file_url(&self) -> Result<Option<FileUrl>> {
        let (Self::Github { repository, branch, .. }, Some(web)) = (self, self.web()) else {
            return Ok(None);
        };
        format!("{web}/{repository}/blob/{}/{{path}}", branch.as_deref().unwrap_or("HEAD")).parse().map(Some)
    }
}

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

deserialize_as_scalar!(BaseUrl, Repository);

/// `https`, or `http` on this machine alone, since a credential goes along with every request. It holds none
/// itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl(Url);

impl BaseUrl {
    pub fn as_str(&self) -> &str {
        self.0.as_str().trim_end_matches('/')
    }

    pub fn host(&self) -> String {
        let host = self.0.host_str().unwrap_or_default();
        self.0.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// Credentials are bound to it. The port only if it is not the usual one.
    pub fn origin(&self) -> String {
        self.0.origin().ascii_serialization()
    }

    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.0)
    }

    /// The error does not repeat the address: it may hold a password.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let wrong = |reason: &str| Err(reason.to_owned());
        let url = Url::parse(text).map_err(|error| error.to_string())?;
        if !url.username().is_empty() || url.password().is_some() {
            return wrong("a credential stands in it, and would stand in logs: leave it to the environment");
        }
        if url.query().is_some() || url.fragment().is_some() {
            return wrong("paths are appended to it, so nothing may follow `?` or `#`");
        }
        if url.host().is_none() {
            return wrong("it names no host");
        }
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%/:[]".contains(&byte);
        if !url.as_str().bytes().all(is_plain) {
            return wrong("it holds characters that no host and no path of a tracker has");
        }
        match url.scheme() {
            "https" => Ok(Self(url)),
            "http" if is_loopback(&url) => Ok(Self(url)),
            "http" => wrong("with `http` anybody on the way reads the credential: `https` is wanted"),
            _ => wrong("`https` is wanted"),
        }
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

impl FromStr for BaseUrl {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::read(text)
            .map_err(|reason| Error::usage(format!("this address of a tracker cannot be used: {reason}")))
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// A person allows one of these at a time: the address and its repository or project.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Destination {
    base_url: String,
    target: String,
}

impl Destination {
    pub fn new(base_url: &BaseUrl, target: String) -> Self {
        Self { base_url: base_url.as_str().to_owned(), target }
    }

    pub fn target(&self) -> &str {
        &self.target
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.base_url, self.target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_travel_safely() {
        for (text, expected) in [
            ("https://api.github.com", Some("api.github.com")),
            ("https://git.example.org:8443/api/v3/", Some("git.example.org:8443")),
            ("http://127.0.0.1:4101", Some("127.0.0.1:4101")),
            ("http://[::1]:4101/x", Some("[::1]:4101")),
            ("http://localhost", Some("localhost")),
            ("http://localhost.evil.org", None),
            ("http://localhost@evil.org", None),
            ("http://api.github.com", None),
            ("https://user:secret@host", None),
            ("https://host/?a=b", None),
            ("ftp://host", None),
            // People copy it into a shell, together with the command that allows it.
            ("https://api.github.com/$(id)", None),
            ("https://$(id).example.org", None),
            ("https://host/a;b", None),
            ("file:///etc/passwd", None),
            ("host", None),
        ] {
            assert_eq!(text.parse::<BaseUrl>().ok().map(|url| url.host()).as_deref(), expected, "{text}");
        }
        let error = "https://user:secret@host".parse::<BaseUrl>().unwrap_err();
        assert!(!error.to_string().contains("secret"));
        assert_eq!("https://h/api/".parse::<BaseUrl>().unwrap().as_str(), "https://h/api");
    }

    #[test]
    fn is_owner_and_name() {
        assert_eq!("a-b/c.d_e".parse::<Repository>().unwrap().to_string(), "a-b/c.d_e");
        for text in ["", "a", "a/", "/a", "a/b/c", "a/..", "a b/c", "https://github.com/a/b"] {
            assert!(text.parse::<Repository>().is_err(), "{text}");
        }
    }
}
