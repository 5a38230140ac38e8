//! The sources of credentials.

use std::{fmt, path::PathBuf};

use super::CredentialBindings;
use crate::configuration::Target;

/// The source of a credential. As text it names the credential, in breakers and for people, without telling
/// it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CredentialSource {
    Environment {
        variable: String,
    },
    Command {
        words: Vec<String>,
        /// Variables of the environment that it does not see: `gh` would give a token of another host back.
        hidden_variables: Vec<String>,
    },
    /// The content of a file, which only its owner may read.
    File {
        /// The path of the file; `~/` stands for the home of the user.
        path: PathBuf,
    },
}

const GITHUB_VARIABLES: [&str; 2] = ["GH_TOKEN", "GITHUB_TOKEN"];

/// Those for GitHub Enterprise (the manual of `gh`, "environment").
const ENTERPRISE_VARIABLES: [&str; 2] = ["GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"];

const GITHUB_HOST: &str = "https://api.github.com";

const ATLASSIAN_DOMAIN: &str = ".atlassian.net";

/// The gateway for tokens with scopes (Atlassian's "Manage API tokens for your Atlassian account").
const ATLASSIAN_GATEWAY: &str = "https://api.atlassian.com";

const JIRA_VARIABLES: [&str; 2] = ["JIRA_API_TOKEN", "ATLASSIAN_API_TOKEN"];

const JIRA_ACCOUNT_VARIABLES: [&str; 2] = ["JIRA_EMAIL", "ATLASSIAN_EMAIL"];

impl CredentialSource {
    /// The places in which a credential for `target` is looked for, in this order. A host that the user's
    /// configuration binds has the one it is bound to. Else github.com and Jira Cloud have what their tools
    /// use; no other host has any, not even one on this machine: the address comes from a file of the
    /// project, which may be a stranger's. `None` for such a host, and for a tracker that needs none.
    pub fn of(target: &Target, bindings: &CredentialBindings) -> Option<Vec<Self>> {
        let base_url = target.base_url()?;
        if let Some(binding) = bindings.of_host(base_url) {
            return Some(vec![binding.source.clone()]);
        }
        let host = base_url.origin();
        let site = host.strip_prefix("https://").and_then(|host| host.strip_suffix(ATLASSIAN_DOMAIN));
        let is_atlassian = site.is_some_and(|site| !site.is_empty()) || host == ATLASSIAN_GATEWAY;
        match target {
            Target::Github { .. } if host == GITHUB_HOST => {
                let words = ["gh", "auth", "token", "--hostname", "github.com"].map(str::to_owned).to_vec();
                let variables = GITHUB_VARIABLES.into_iter().map(Self::variable);
                Some(variables.chain([Self::command(words)]).collect())
            }
            Target::Jira { .. } if is_atlassian => Some(JIRA_VARIABLES.map(Self::variable).to_vec()),
            _ => None,
        }
    }

    /// The places in which the account of a token of Jira is looked for, where the configuration does not
    /// name it.
    pub fn jira_account() -> Vec<Self> {
        JIRA_ACCOUNT_VARIABLES.map(Self::variable).to_vec()
    }

    /// Returns what a program prints. `gh` would give variables back instead of what it keeps for the host.
    pub(super) fn command(words: Vec<String>) -> Self {
        let hidden = GITHUB_VARIABLES.into_iter().chain(ENTERPRISE_VARIABLES);
        Self::Command { words, hidden_variables: hidden.map(str::to_owned).collect() }
    }

    fn variable(name: &str) -> Self {
        Self::Environment { variable: name.to_owned() }
    }
}

impl fmt::Display for CredentialSource {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Environment { variable } => write!(out, "env {variable}"),
            Self::Command { words, .. } => write!(out, "command {}", words.join(" ")),
            Self::File { path } => write!(out, "file {}", path.display()),
        }
    }
}
