//! The scope that a breaker guards.

use std::{fmt, str::FromStr};

use crate::{TrackerName, ticket::Marker};

/// The scope that a breaker guards. As text it is a key of the ledger: `host:api.github.com`, `ticket:github
/// p/id:PRD-1`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    Host {
        /// Its name, with its port where that is not the usual one.
        host: String,
    },
    /// All that is asked of a host with one credential.
    Credential {
        host: String,
        /// The name of the credential: where it comes from, never itself.
        credential: String,
    },
    Endpoint {
        host: String,
        /// Method and path, without the parts that differ: `PUT /rest/api/3/issue/{id}`.
        endpoint: String,
    },
    Ticket {
        tracker: TrackerName,
        marker: Marker,
    },
}

/// The kinds of scopes, the widest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScopeKind {
    Host,
    Credential,
    Endpoint,
    Ticket,
}

/// All that a request concerns: one scope of each kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The tracker's host, with its port where that is not the usual one.
    pub host: String,
    pub credential: String,
    /// Method and path, without the parts that differ.
    pub endpoint: String,
    /// The tickets that it concerns: none for a list, several for a batch.
    pub tickets: Vec<(TrackerName, Marker)>,
}

impl Scope {
    pub const fn kind(&self) -> ScopeKind {
        match self {
            Self::Host { .. } => ScopeKind::Host,
            Self::Credential { .. } => ScopeKind::Credential,
            Self::Endpoint { .. } => ScopeKind::Endpoint,
            Self::Ticket { .. } => ScopeKind::Ticket,
        }
    }
}

impl Route {
    pub fn new(
        tracker: &TrackerName,
        (host, credential): (String, &str),
        endpoint: &str,
        tickets: &[Marker],
    ) -> Self {
        let tickets = tickets.iter().map(|marker| (tracker.clone(), marker.clone())).collect();
        Self { host, credential: credential.to_owned(), endpoint: endpoint.to_owned(), tickets }
    }

    /// The scopes that it concerns, the widest first.
    pub fn scopes(&self) -> Vec<Scope> {
        let host = || self.host.clone();
        let mut scopes = vec![
            Scope::Host { host: host() },
            Scope::Credential { host: host(), credential: self.credential.clone() },
            Scope::Endpoint { host: host(), endpoint: self.endpoint.clone() },
        ];
        scopes.extend(
            self.tickets
                .iter()
                .map(|(tracker, marker)| Scope::Ticket { tracker: tracker.clone(), marker: marker.clone() }),
        );
        scopes
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host { host } => write!(out, "host:{host}"),
            Self::Credential { host, credential } => write!(out, "credential:{host} {credential}"),
            Self::Endpoint { host, endpoint } => write!(out, "endpoint:{host} {endpoint}"),
            Self::Ticket { tracker, marker } => write!(out, "ticket:{tracker} {marker}"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is no scope of a breaker: `host:`, `credential:`, `endpoint:` or `ticket:` with a name is wanted"
)]
pub struct ScopeError {
    pub text: String,
}

impl FromStr for Scope {
    type Err = ScopeError;

    fn from_str(text: &str) -> Result<Self, ScopeError> {
        let read = || {
            let (kind, name) = text.split_once(':')?;
            let pair = || name.split_once(' ').map(|(host, rest)| (host.to_owned(), rest.to_owned()));
            match kind {
                "host" if !name.is_empty() && !name.contains(' ') => {
                    Some(Self::Host { host: name.to_owned() })
                }
                "credential" => pair().map(|(host, credential)| Self::Credential { host, credential }),
                "endpoint" => pair().map(|(host, endpoint)| Self::Endpoint { host, endpoint }),
                "ticket" => {
                    let (tracker, marker) = name.split_once(' ')?;
                    Some(Self::Ticket { tracker: tracker.parse().ok()?, marker: marker.parse().ok()? })
                }
                _ => None,
            }
        };
        read().ok_or_else(|| ScopeError { text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ticket::sample::marker;

    #[test]
    fn is_a_key_of_the_ledger() {
        let route = Route {
            host: "h:1".to_owned(),
            credential: "env GITHUB_TOKEN".to_owned(),
            endpoint: "PUT /issue/{id}".to_owned(),
            tickets: vec![("gh".parse().unwrap(), marker("a b"))],
        };
        let keys: Vec<String> = route.scopes().iter().map(ToString::to_string).collect();
        assert_eq!(
            keys,
            [
                "host:h:1",
                "credential:h:1 env GITHUB_TOKEN",
                "endpoint:h:1 PUT /issue/{id}",
                "ticket:gh p/id:a%20b"
            ]
        );
        for (key, scope) in keys.iter().zip(route.scopes()) {
            assert_eq!(key.parse(), Ok(scope));
        }
        for text in ["", "host:", "host:a b", "x:y", "ticket:gh", "ticket:gh p", "credential:h"] {
            assert!(text.parse::<Scope>().is_err(), "{text}");
        }
    }
}
