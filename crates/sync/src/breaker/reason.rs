//! Reasons why requests fail, their consequences, and the scopes of breakers.

use std::{fmt, str::FromStr};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Error, Result, TrackerName, ticket::Marker};

/// The reason why a request failed (docs/formats.md, "Trackers"): decides which breaker opens and if it is
/// retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Name not found, refused, or reset before anything was sent.
    Unreachable,
    /// Or the connection broke before the answer was read.
    Timeout,
    ServerError,
    /// HTML of a proxy, broken JSON, too long.
    Unreadable,
    /// 401.
    Unauthorized,
    /// 403 without a sign of a limit.
    Forbidden,
    PrimaryLimit,
    /// GitHub's; known by the text of the answer alone.
    SecondaryLimit,
    /// `jira-quota-*`: the quota of all requests together.
    Quota,
    /// `jira-burst-based`: too many requests to one endpoint.
    EndpointLimit,
    /// `jira-per-issue-on-write`: too many writes of one issue.
    TicketLimit,
    /// 409: somebody else changed it at the same moment.
    Conflict,
    /// 404 or 410: the ticket is not there any more.
    Gone,
    /// 400 or 422: what was sent is refused, and would be again.
    Invalid,
    /// The ticket lacks the marker of its artifact: it may be anybody's.
    Unmarked,
    Touched,
    /// The ticket was last written from something unknown here, or newer.
    Newer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Consequence {
    pub scope: ScopeKind,
    pub trip: Trip,
    pub retry: Retry,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trip {
    /// Opens after several of these.
    Counted,
    AtOnce,
    /// Opens at once and for long: only a person can fix it.
    NeedsPerson,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// After a growing time, a bounded number of times.
    Counted,
    /// As soon as the breaker allows; does not count as an attempt.
    Postponed,
    Parked,
}

impl Reason {
    pub const ALL: [Self; 17] = [
        Self::Unreachable,
        Self::Timeout,
        Self::ServerError,
        Self::Unreadable,
        Self::Unauthorized,
        Self::Forbidden,
        Self::PrimaryLimit,
        Self::SecondaryLimit,
        Self::Quota,
        Self::EndpointLimit,
        Self::TicketLimit,
        Self::Conflict,
        Self::Gone,
        Self::Invalid,
        Self::Unmarked,
        Self::Touched,
        Self::Newer,
    ];

    /// The table of the issue "Sync", "Breaker, retry, pace".
    pub const fn consequence(self) -> Consequence {
        let (scope, trip, retry) = match self {
            Self::Unreachable | Self::Timeout | Self::ServerError | Self::Unreadable => {
                (ScopeKind::Host, Trip::Counted, Retry::Counted)
            }
            Self::Unauthorized | Self::Forbidden => {
                (ScopeKind::Credential, Trip::NeedsPerson, Retry::Postponed)
            }
            Self::PrimaryLimit | Self::SecondaryLimit => {
                (ScopeKind::Credential, Trip::AtOnce, Retry::Postponed)
            }
            Self::Quota => (ScopeKind::Host, Trip::AtOnce, Retry::Postponed),
            Self::EndpointLimit => (ScopeKind::Endpoint, Trip::AtOnce, Retry::Postponed),
            Self::TicketLimit => (ScopeKind::Ticket, Trip::AtOnce, Retry::Postponed),
            Self::Conflict => (ScopeKind::Ticket, Trip::Never, Retry::Counted),
            Self::Gone | Self::Invalid | Self::Unmarked | Self::Touched | Self::Newer => {
                (ScopeKind::Ticket, Trip::Never, Retry::Parked)
            }
        };
        Consequence { scope, trip, retry }
    }

    pub const fn shows_host_well(self) -> bool {
        !matches!(self.consequence().scope, ScopeKind::Host)
    }

    /// Its details name the ticket, so they cannot stand for several tickets.
    pub const fn names_ticket(self) -> bool {
        matches!(self, Self::Unmarked | Self::Touched | Self::Gone)
    }

    pub const fn remedy(self) -> Option<&'static str> {
        match self {
            Self::Unauthorized => Some("give a credential that is valid, then run `stepmark sync reset`"),
            Self::Forbidden => {
                Some("give the credential the right to write issues here, then run `stepmark sync reset`")
            }
            Self::Gone => Some(
                "the ticket was deleted or moved: run `stepmark sync adopt` if it is elsewhere, or `stepmark sync retry`",
            ),
            Self::Unmarked => Some(
                "if the ticket is this artifact's, run `stepmark sync adopt ARTIFACT`; if it is not, `stepmark sync retry ARTIFACT` looks \
                 for the right one, and makes it where there is none",
            ),
            Self::Newer => Some(
                "pull, so that this checkout contains what the ticket was written from (`git fetch --unshallow` where it is shallow); where \
                 that was given up, `stepmark sync adopt ARTIFACT` writes the ticket all the same",
            ),
            Self::Invalid => {
                Some("change what is refused: the configuration of the tracker, or the artifact")
            }
            _ => None,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Unreachable => "it cannot be reached",
            Self::Timeout => "it does not answer in time",
            Self::ServerError => "it reports an error of its own",
            Self::Unreadable => "its answer cannot be read",
            Self::Unauthorized => "it does not accept the credential",
            Self::Forbidden => "the credential may not do this",
            Self::PrimaryLimit => "the hourly limit of requests is used up",
            Self::SecondaryLimit => "it wants fewer requests at a time",
            Self::Quota => "the quota of requests is used up",
            Self::EndpointLimit => "it wants fewer requests of this kind",
            Self::TicketLimit => "it wants fewer changes of this ticket",
            Self::Conflict => "somebody else changed the ticket at the same moment",
            Self::Gone => "the ticket is not there any more",
            Self::Invalid => "it refuses what was sent",
            Self::Unmarked => "the ticket does not carry our marker",
            Self::Touched => "people wrote in the ticket",
            Self::Newer => "the ticket says something newer",
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub reason: Reason,
    /// By this machine's clock.
    pub wait_until: Option<Timestamp>,
    /// The words of the tracker, or ours: one line of at most [`DETAIL_LIMIT`] characters, no credentials.
    pub detail: String,
}

pub const DETAIL_LIMIT: usize = 300;

impl Failure {
    pub fn new(reason: Reason, detail: &str) -> Self {
        let mut words = String::new();
        for word in detail.split(|letter: char| letter.is_whitespace() || letter.is_control()) {
            // The rest is cut off anyway.
            if words.len() > DETAIL_LIMIT * 4 {
                break;
            }
            if !word.is_empty() {
                words.push_str(if words.is_empty() { "" } else { " " });
                words.push_str(word);
            }
        }
        if words.chars().count() > DETAIL_LIMIT {
            words = words.chars().take(DETAIL_LIMIT - 1).chain(['…']).collect();
        }
        Self { reason, wait_until: None, detail: words }
    }

    #[must_use]
    pub fn waiting_until(self, moment: Option<Timestamp>) -> Self {
        Self { wait_until: moment, ..self }
    }
}

/// As text it is a key of the ledger: `host:api.github.com`, `ticket:github p/id:PRD-1`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    Host {
        host: String,
    },
    // All requests to a host with one credential.
    Credential {
        host: String,
        /// Its source, never the credential itself.
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

/// The widest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScopeKind {
    Host,
    Credential,
    Endpoint,
    Ticket,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    pub host: String,
    pub credential: String,
    pub endpoint: String,
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

impl FromStr for Scope {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
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
        read().ok_or_else(|| {
            Error::usage(format!(
                "`{text}` is no scope of a breaker: `host:`, `credential:`, `endpoint:` or `ticket:` with a name is wanted"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ticket::sample::marker;

    #[test]
    fn a_page_becomes_a_line() {
        let failure = Failure::new(Reason::Unreadable, "<html>\n\t<body>Bad\u{7} gateway</body>\n");
        assert_eq!(failure.detail, "<html> <body>Bad gateway</body>");
        for word in ["ö", "ö "] {
            let long = Failure::new(Reason::Unreadable, &word.repeat(100_000)).detail;
            assert_eq!((long.chars().count(), long.ends_with('…')), (DETAIL_LIMIT, true));
        }
    }

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
            assert_eq!(key.parse::<Scope>().unwrap(), scope);
        }
        for text in ["", "host:", "host:a b", "x:y", "ticket:gh", "ticket:gh p", "credential:h"] {
            assert!(text.parse::<Scope>().is_err(), "{text}");
        }
    }
}
