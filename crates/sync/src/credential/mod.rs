//! Credentials of trackers; never from a repository, never shown in logs, errors, the ledger or the journal.

mod load;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    str::FromStr,
};

use crate::{
    Result,
    configuration::{BaseUrl, Destination, not_yaml},
    scalar::deserialize_as_scalar,
};
use serde::{Deserialize, Serialize};
use stepmark_store::configuration::Configuration;

pub use load::{Credential, CredentialSource, Secret};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CredentialBindings(BTreeMap<BoundHost, CredentialBinding>);

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "BindingKeys")]
pub struct CredentialBinding {
    source: CredentialSource,
    targets: Vec<String>,
}

/// Scheme, host and port, compared to the letter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct BoundHost(String);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping with `token_file`, `variable` or `command`")]
struct BindingKeys {
    token_file: Option<TokenFile>,
    variable: Option<String>,
    command: Option<Vec<String>>,
    #[serde(default)]
    targets: Vec<String>,
}

/// Absolute or below `~/`: a relative one would depend on the project.
#[derive(Debug)]
struct TokenFile(PathBuf);

/// The API path is that of GitHub Enterprise Server.
const WHOLE_HOST: [&str; 2] = ["", "/api/v3"];

impl CredentialBindings {
    /// From the user's file alone: what a repository says about credentials is never read.
    pub fn of(configuration: &Configuration) -> Result<Self> {
        configuration
            .user_source()
            .map_or_else(|| Ok(Self::default()), |(path, bytes)| Self::read(path, bytes))
    }

    pub fn read(path: &Path, bytes: &[u8]) -> Result<Self> {
        #[derive(Deserialize)]
        struct UserFile {
            credentials: Option<BTreeMap<BoundHost, CredentialBinding>>,
        }

        let file: Option<UserFile> = serde_yaml::from_slice(bytes).map_err(|error| not_yaml(path, &error))?;
        Ok(Self(file.and_then(|file| file.credentials).unwrap_or_default()))
    }

    fn of_host(&self, base_url: &BaseUrl) -> Option<&CredentialBinding> {
        self.0.get(&BoundHost(base_url.origin()))
    }

    /// On a host that serves several sites by path (`api.atlassian.com/ex/jira/SITE`) a binding is not
    /// enough: the destination must be allowed.
    pub fn name(&self, base_url: &BaseUrl, destination: &Destination) -> bool {
        let path = base_url.as_str().strip_prefix(&base_url.origin()).unwrap_or_default();
        WHOLE_HOST.contains(&path.trim_end_matches('/'))
            && self
                .of_host(base_url)
                .is_some_and(|binding| binding.targets.iter().any(|target| target == destination.target()))
    }
}

impl TryFrom<BindingKeys> for CredentialBinding {
    type Error = String;

    fn try_from(keys: BindingKeys) -> Result<Self, String> {
        let source = match (keys.token_file, keys.variable, keys.command) {
            (Some(file), None, None) => CredentialSource::File { path: file.0 },
            (None, Some(variable), None) => CredentialSource::Environment { variable },
            (None, None, Some(words)) if !words.is_empty() => CredentialSource::command(words),
            _ => return Err("a host needs one of `token_file`, `variable` and `command`".to_owned()),
        };
        Ok(Self { source, targets: keys.targets })
    }
}

impl FromStr for BoundHost {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let url = BaseUrl::read(text)?;
        if url.origin() == url.as_str() {
            Ok(Self(url.origin()))
        } else {
            Err(format!("`{text}` is more than a host: `{}` is wanted", url.origin()))
        }
    }
}

impl FromStr for TokenFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let path = PathBuf::from(text);
        if path.is_absolute() || path.starts_with("~") && path.components().count() > 1 {
            Ok(Self(path))
        } else {
            Err(format!(
                "`{text}` is no place for a credential: an absolute path, or one that begins with `~/`, is wanted"
            ))
        }
    }
}

deserialize_as_scalar!(BoundHost, TokenFile);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowedDestinations(BTreeSet<Destination>);

const SCHEMA: &str = "stepmark.allowed-targets/1";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    schema: String,
    allowed: BTreeSet<Destination>,
}

impl AllowedDestinations {
    pub fn read(text: &[u8]) -> Result<Self, String> {
        let form: Form = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        if form.schema == SCHEMA {
            Ok(Self(form.allowed))
        } else {
            Err(format!("its form is `{}`", form.schema))
        }
    }

    pub fn to_text(&self) -> String {
        let allowed: Vec<_> = self.0.iter().collect();
        format!("{:#}\n", serde_json::json!({ "schema": SCHEMA, "allowed": allowed }))
    }

    pub fn allow(&mut self, destination: Destination) {
        self.0.insert(destination);
    }

    pub fn remove(&mut self, destination: &Destination) -> bool {
        self.0.remove(destination)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Destination> {
        self.0.iter()
    }

    pub fn contains(&self, destination: &Destination) -> bool {
        self.0.contains(destination)
    }
}

#[cfg(test)]
mod cases;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_one_of_the_whole_host() {
        let text = b"credentials: {'https://h': {variable: T, targets: [ABC]}}";
        let bindings = CredentialBindings::read(Path::new("c"), text).unwrap();
        for (url, target, expected) in [
            ("https://h", "ABC", true),
            ("https://h/", "ABC", true),
            ("https://h/api/v3", "ABC", true),
            ("https://h/ex/jira/another-site", "ABC", false),
            ("https://h", "DEF", false),
            ("https://h:8443", "ABC", false),
        ] {
            let base_url: BaseUrl = url.parse().unwrap();
            let destination = Destination::new(&base_url, target.to_owned());
            assert_eq!(bindings.name(&base_url, &destination), expected, "{url} {target}");
        }
    }

    #[test]
    fn a_host_has_one_credential() {
        for (keys, expected) in [
            ("{token_file: ~/t}", Ok("file ~/t")),
            ("{variable: TOKEN, targets: [o/r]}", Ok("env TOKEN")),
            ("{command: [gh, auth, token]}", Ok("command gh auth token")),
            ("{}", Err("one of")),
            ("{targets: [o/r]}", Err("one of")),
            ("{command: []}", Err("one of")),
            ("{token_file: ~/t, variable: T}", Err("one of")),
            ("{token_file: t}", Err("no place for a credential")),
            ("{token_file: ~}", Err("one of")),
            ("{tokenfile: ~/t}", Err("unknown field")),
        ] {
            let text = format!("credentials:\n  https://h:8443: {keys}\n");
            let read = CredentialBindings::read(Path::new("c"), text.as_bytes());
            match (read, expected) {
                (Ok(read), Ok(source)) => {
                    let bound = read.of_host(&"https://h:8443/api/v3".parse().unwrap()).unwrap();
                    assert_eq!(bound.source.to_string(), source, "{keys}");
                }
                (Err(error), Err(reason)) => {
                    assert!(
                        error.message.contains(reason) && error.message.contains("`:2:"),
                        "{keys}: {error}"
                    );
                }
                (read, _) => panic!("{keys}: {read:?}"),
            }
        }
    }

    #[test]
    fn scheme_host_and_port_are_compared() {
        let text = "credentials:\n  https://jira.example.org: {variable: A}\n  https://jira-example.org: {variable: B}\n  \
                    https://jira.example.org:8443: {variable: C}\n  http://127.0.0.1:80: {variable: D}\n";
        let read = CredentialBindings::read(Path::new("c"), text.as_bytes()).unwrap();
        for (url, expected) in [
            ("https://jira.example.org", Some("env A")),
            ("https://jira.example.org:443/jira", Some("env A")),
            ("https://JIRA.example.org", Some("env A")),
            ("https://jira-example.org", Some("env B")),
            ("https://jira.example.org:8443", Some("env C")),
            ("http://127.0.0.1", Some("env D")),
            ("https://127.0.0.1", None),
            ("http://127.0.0.1:81", None),
            ("http://localhost", None),
            ("https://jira.example.org.", None),
            ("https://x.jira.example.org", None),
        ] {
            let bound = read.of_host(&url.parse().unwrap());
            assert_eq!(bound.map(|bound| bound.source.to_string()).as_deref(), expected, "{url}");
        }
        for host in ["https://h/path", "http://h", "h", "https://user@h"] {
            let text = format!("credentials: {{'{host}': {{variable: A}}}}");
            assert!(CredentialBindings::read(Path::new("c"), text.as_bytes()).is_err(), "{host}");
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let destination =
            |url: &str, target: &str| Destination::new(&url.parse().unwrap(), target.to_owned());
        let mut allowed = AllowedDestinations::default();
        allowed.allow(destination("https://api.github.com/", "o/r"));
        let read = AllowedDestinations::read(allowed.to_text().as_bytes()).unwrap();
        assert_eq!(read, allowed);
        for (url, target, expected) in [
            ("https://api.github.com", "o/r", true),
            ("https://api.github.com", "o/q", false),
            ("https://api.github.com:8443", "o/r", false),
            ("https://api.github.com/other", "o/r", false),
        ] {
            assert_eq!(read.contains(&destination(url, target)), expected, "{url} {target}");
        }
        for text in ["", "{}", "[]", "{\"schema\":\"stepmark.allowed-targets/2\",\"allowed\":[]}"] {
            assert!(AllowedDestinations::read(text.as_bytes()).is_err(), "{text}");
        }
    }
}
