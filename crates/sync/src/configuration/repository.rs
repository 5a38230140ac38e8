//! A repository of GitHub.

use std::{fmt, str::FromStr};

use crate::scalar::deserialize_as_scalar;

/// `owner/name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// The person or organisation.
    pub owner: String,
    /// Its name there.
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

deserialize_as_scalar!(Repository);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_owner_and_name() {
        assert_eq!("a-b/c.d_e".parse::<Repository>().unwrap().to_string(), "a-b/c.d_e");
        for text in ["", "a", "a/", "/a", "a/b/c", "a/..", "a b/c", "https://github.com/a/b"] {
            assert!(text.parse::<Repository>().is_err(), "{text}");
        }
    }
}
