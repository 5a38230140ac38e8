//! The address at which a tracker is reached, and what a credential is sent to there.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use url::{Host, Url};

use crate::scalar::deserialize_as_scalar;

/// The address that the paths of a tracker's interface are appended to: `https`, or `http` on this machine
/// alone, since a credential goes along with every request. It holds none itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl(Url);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this address of a tracker cannot be used: {reason}")]
pub struct BaseUrlError {
    /// The problem. The address itself is not repeated: it may hold a password.
    pub reason: String,
}

impl BaseUrl {
    /// The address, without `/` at its end.
    pub fn as_str(&self) -> &str {
        self.0.as_str().trim_end_matches('/')
    }

    /// The host, with its port where that is not the usual one.
    pub fn host(&self) -> String {
        let host = self.0.host_str().unwrap_or_default();
        self.0.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// Scheme, host and port, where that is not the usual one: what a credential is bound to.
    pub fn origin(&self) -> String {
        self.0.origin().ascii_serialization()
    }

    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.0)
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
    type Err = BaseUrlError;

    fn from_str(text: &str) -> Result<Self, BaseUrlError> {
        let wrong = |reason: &str| BaseUrlError { reason: reason.to_owned() };
        let url = Url::parse(text).map_err(|error| wrong(&error.to_string()))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong(
                "a credential stands in it, and would stand in logs: leave it to the environment",
            ));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(wrong("paths are appended to it, so nothing may follow `?` or `#`"));
        }
        if url.host().is_none() {
            return Err(wrong("it names no host"));
        }
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%/:[]".contains(&byte);
        if !url.as_str().bytes().all(is_plain) {
            return Err(wrong("it holds characters that no host and no path of a tracker has"));
        }
        match url.scheme() {
            "https" => Ok(Self(url)),
            "http" if is_loopback(&url) => Ok(Self(url)),
            "http" => Err(wrong("with `http` anybody on the way reads the credential: `https` is wanted")),
            _ => Err(wrong("`https` is wanted")),
        }
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

deserialize_as_scalar!(BaseUrl);

/// The address and the part of it that a tracker sends to: a repository or a project. A person allows one of
/// these at a time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Destination {
    base_url: String,
    target: String,
}

impl Destination {
    /// The `target` (`owner/name`, or the key of a project) at `base_url`.
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
}
