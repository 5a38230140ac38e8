//! Where a credential comes from.

use std::{fmt, path::PathBuf};

use crate::configuration::BaseUrl;

/// Where a credential comes from. As text it names the credential, in breakers and for people, without telling it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CredentialSource {
    /// A variable of the environment.
    Environment {
        /// Its name.
        variable: String,
    },
    /// What a command prints.
    Command {
        /// The program and its arguments.
        words: Vec<String>,
        /// Variables of the environment that it does not see: `gh` would give a token of another host back.
        hidden_variables: Vec<String>,
    },
    /// What a file holds, which only its owner may read.
    File {
        /// Where it stands; `~/` stands for the home of the user.
        path: PathBuf,
    },
}

/// The variables that GitHub's own tools read for github.com.
const GITHUB_VARIABLES: [&str; 2] = ["GH_TOKEN", "GITHUB_TOKEN"];

/// Those for GitHub Enterprise (the manual of `gh`, "environment").
const ENTERPRISE_VARIABLES: [&str; 2] = ["GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"];

/// The hosts of Jira Cloud: sites, and the gateway for tokens with scopes (Atlassian's "Manage API tokens for your Atlassian account").
const ATLASSIAN_DOMAINS: [&str; 2] = ["atlassian.net", "api.atlassian.com"];

/// The variables in which tools for Jira Cloud look for an API token.
const JIRA_VARIABLES: [&str; 2] = ["JIRA_API_TOKEN", "ATLASSIAN_API_TOKEN"];

/// Those in which they look for its account.
const JIRA_ACCOUNT_VARIABLES: [&str; 2] = ["JIRA_EMAIL", "ATLASSIAN_EMAIL"];

impl CredentialSource {
    /// The places in which a credential for the GitHub at `base_url` is looked for, in this order: the file that `token_file` names, the
    /// variables that GitHub's tools read, and `gh auth token`. `trusted_host` is the value of `GH_HOST`.
    ///
    /// The address comes from a file of the project, which may be a stranger's. So the variables count for github.com and for this
    /// machine, and for another host only where `GH_HOST` names it; `gh` keeps one token a host, and is asked for that host's.
    pub fn github(base_url: &BaseUrl, token_file: Option<PathBuf>, trusted_host: Option<&str>) -> Vec<Self> {
        let host = base_url.host();
        let web_host = if host == "api.github.com" { "github.com" } else { host.as_str() };
        let is_trusted = trusted_host == Some(web_host);
        let variables: &[&str] = match () {
            () if web_host == "github.com" || base_url.is_loopback() => &GITHUB_VARIABLES,
            () if is_trusted => &ENTERPRISE_VARIABLES,
            () => &[],
        };
        let file = token_file
            .filter(|_| web_host == "github.com" || base_url.is_loopback() || is_trusted)
            .map(|path| Self::File { path });
        let environment = variables.iter().map(|name| Self::Environment { variable: (*name).to_owned() });
        let command = Self::Command {
            words: ["gh", "auth", "token", "--hostname", web_host].map(str::to_owned).to_vec(),
            hidden_variables: GITHUB_VARIABLES
                .iter()
                .chain(&ENTERPRISE_VARIABLES)
                .map(|name| (*name).to_owned())
                .collect(),
        };
        // `gh` knows no token for a server on this machine.
        let command = (!base_url.is_loopback()).then_some(command);
        file.into_iter().chain(environment).chain(command).collect()
    }
}

impl CredentialSource {
    /// The places in which an API token for the Jira at `base_url` is looked for, in this order: the file that `token_file` names, and variables.
    ///
    /// The address comes from a file of the project, which may be a stranger's. So the variables that Atlassian's and others' tools read
    /// and the file count for Atlassian's own hosts and for this machine; any other host has a variable that says its name:
    /// `JIRA_API_TOKEN_JIRA_EXAMPLE_ORG` for `jira.example.org`.
    pub fn jira(base_url: &BaseUrl, token_file: Option<PathBuf>) -> Vec<Self> {
        let host = base_url.host();
        let is_atlassian = ATLASSIAN_DOMAINS.iter().any(|domain| {
            host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        });
        let is_known = is_atlassian || base_url.is_loopback();
        let variables = if is_known {
            JIRA_VARIABLES.map(str::to_owned).to_vec()
        } else {
            let letter =
                |byte: char| if byte.is_ascii_alphanumeric() { byte.to_ascii_uppercase() } else { '_' };
            vec![format!("JIRA_API_TOKEN_{}", host.chars().map(letter).collect::<String>())]
        };
        let file = token_file.filter(|_| is_known).map(|path| Self::File { path });
        file.into_iter().chain(variables.into_iter().map(|variable| Self::Environment { variable })).collect()
    }

    /// The places in which the account of that token is looked for, where the configuration does not name it.
    pub fn jira_account() -> Vec<Self> {
        JIRA_ACCOUNT_VARIABLES.map(|variable| Self::Environment { variable: variable.to_owned() }).to_vec()
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
