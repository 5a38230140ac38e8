//! The destinations that a person has allowed.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::configuration::Destination;

/// Destinations named by repositories that a person has allowed to receive a credential.
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

    /// Takes one back; `false` where it was not allowed.
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
mod tests {
    use super::*;

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
