//! Sources of credentials.
#![expect(clippy::disallowed_methods, reason = "an edge module: environment and files hold credentials")]

use std::{
    env, fmt,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    time::Duration,
};

use super::CredentialBindings;
use crate::{Error, ErrorKind, Result, configuration::Target, program::Program};
use stepmark_model::artifact::FileHash;

/// As text it names the credential for breakers and people, without telling it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CredentialSource {
    Environment {
        variable: String,
    },
    Command {
        words: Vec<String>,
        /// `gh` would otherwise return a token of another host.
        hidden_variables: Vec<String>,
    },
    File {
        path: PathBuf,
    },
}

const GITHUB_VARIABLES: [&str; 2] = ["GH_TOKEN", "GITHUB_TOKEN"];

/// For GitHub Enterprise (the manual of `gh`, "environment").
const ENTERPRISE_VARIABLES: [&str; 2] = ["GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"];

const GITHUB_HOST: &str = "https://api.github.com";

const ATLASSIAN_DOMAIN: &str = ".atlassian.net";

/// The gateway for tokens with scopes (Atlassian's "Manage API tokens for your Atlassian account").
const ATLASSIAN_GATEWAY: &str = "https://api.atlassian.com";

const JIRA_VARIABLES: [&str; 2] = ["JIRA_API_TOKEN", "ATLASSIAN_API_TOKEN"];

const JIRA_ACCOUNT_VARIABLES: [&str; 2] = ["JIRA_EMAIL", "ATLASSIAN_EMAIL"];

impl CredentialSource {
    /// In order of preference. A host bound in the user's configuration has that source only. Else github.com
    /// and Jira Cloud have what their tools use; no other host has any, not even this machine: a stranger's
    /// project may name the address. `None` then, and if the tracker needs no credential.
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

    pub fn jira_account() -> Vec<Self> {
        JIRA_ACCOUNT_VARIABLES.map(Self::variable).to_vec()
    }

    /// `gh` would return variables instead of what it keeps for the host.
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    pub name: String,
    pub secret: Secret,
}

/// A command may ask a key ring, but nobody answers questions here.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(15);

impl Credential {
    pub fn digest(&self) -> String {
        FileHash::of(self.secret.expose().as_bytes()).to_string()
    }

    /// The first of `sources` that has one. An unset variable, a missing file and a missing program have
    /// none; any other fault is an error, since the next source might hold another account.
    pub fn load(sources: &[CredentialSource]) -> Result<Self> {
        for source in sources {
            let name = source.to_string();
            let Some(text) = read(source)? else { continue };
            let secret = Secret::new(&text).map_err(|error| {
                Error::new(ErrorKind::Io, format!("the credential of `{name}` cannot be used: {error}"))
                    .because(error)
            })?;
            return Ok(Self { name, secret });
        }
        let sources: Vec<String> = sources.iter().map(|source| format!("`{source}`")).collect();
        Err(Error::new(
            ErrorKind::Missing,
            format!(
                "no credential was found: looked for {}; give one in one of these places",
                sources.join(", ")
            ),
        ))
    }
}

fn read(source: &CredentialSource) -> Result<Option<String>> {
    match source {
        CredentialSource::Environment { variable } => {
            // A variable that is set to nothing was switched off.
            Ok(env::var(variable).ok().filter(|value| !value.trim().is_empty()))
        }
        CredentialSource::File { path } => read_file(path),
        CredentialSource::Command { words, hidden_variables } => run(words, hidden_variables),
    }
}

fn read_file(path: &Path) -> Result<Option<String>> {
    let name = path.display();
    let failed = |error: io::Error| {
        let message = format!("the credential of `file {name}` cannot be read: {error}");
        Error::new(ErrorKind::Io, message).because(error)
    };
    let path = &at_home(path, env::var_os("HOME").map(PathBuf::from));
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    // Of the open file: the path may lead elsewhere by now.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = file.metadata().map_err(failed)?.permissions().mode() & 0o7777;
        if mode & 0o077 != 0 {
            let path = path.display();
            let message = format!(
                "the credential in `{path}` is not used, since others may read it (mode {mode:o}): `chmod 600 {path}`"
            );
            return Err(Error::new(ErrorKind::Refused, message));
        }
    }
    bounded(file).map(Some).map_err(failed)
}

fn at_home(path: &Path, home: Option<PathBuf>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(below), Some(home)) => home.join(below),
        _ => path.to_owned(),
    }
}

/// A little more than allowed, so that too long a one is noticed.
fn bounded(from: impl Read) -> io::Result<String> {
    let mut text = String::new();
    from.take(Secret::LIMIT as u64 + 64).read_to_string(&mut text)?;
    Ok(text)
}

fn run(words: &[String], hidden: &[String]) -> Result<Option<String>> {
    let Some((name, arguments)) = words.split_first() else { return Ok(None) };
    let program = Program {
        name,
        arguments,
        variables: &[],
        hidden,
        is_bare: false,
        folder: None,
        input: b"",
        patience: COMMAND_TIMEOUT,
        most: Secret::LIMIT as u64 + 64,
    };
    // Never what the command printed.
    let failed = |reason: &dyn fmt::Display| {
        Error::new(ErrorKind::Io, format!("`{}` gives no credential: {reason}", words.join(" ")))
    };
    match program.run() {
        Err(Error { kind: ErrorKind::Missing, .. }) => Ok(None),
        Err(error) => Err(failed(&error)),
        // `gh` fails if nobody is logged in: then there is no credential.
        Ok(printed) if !printed.has_succeeded => Ok(None),
        Ok(printed) => String::from_utf8(printed.output).map(Some).map_err(|error| failed(&error)),
    }
}

/// Fit for a header. It has no `Display`, and its `Debug` says nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

const HIDDEN: &str = "[credential]";

impl Secret {
    pub const LIMIT: usize = 4096;

    /// Blanks and line ends around it are dropped. No error repeats it.
    pub fn new(text: &str) -> Result<Self> {
        let text = text.trim();
        let refused = |message: &str| Err(Error::usage(message));
        match text {
            "" => refused("it is empty"),
            _ if text.len() > Self::LIMIT => refused("it is too long for a credential"),
            _ if !text.bytes().all(|byte| byte.is_ascii_graphic()) => {
                refused("it holds blanks or other characters that no header may have")
            }
            _ => Ok(Self(text.to_owned())),
        }
    }

    pub fn expose(&self) -> &str {
        &self.0
    }

    /// A server may repeat the credential.
    pub fn hide_in(&self, text: String) -> String {
        if text.contains(&self.0) { text.replace(&self.0, HIDDEN) } else { text }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(HIDDEN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_may_begin_at_home() {
        for (path, home, expected) in [
            ("~/.config/token", Some("/home/ada"), "/home/ada/.config/token"),
            ("~/.config/token", None, "~/.config/token"),
            ("/run/token", Some("/home/ada"), "/run/token"),
            ("/~/token", Some("/home/ada"), "/~/token"),
        ] {
            assert_eq!(at_home(Path::new(path), home.map(PathBuf::from)), Path::new(expected), "{path}");
        }
    }
}
