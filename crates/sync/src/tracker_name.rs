//! The name of a tracker in configuration, ledger and reports.

use std::{fmt, str::FromStr};

use serde::Serialize;

use crate::{Error, Result, scalar::deserialize_as_scalar};

/// 1 to 64 ASCII letters, digits, `-` and `_`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct TrackerName(String);

impl TrackerName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TrackerName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl FromStr for TrackerName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let fits = (1..=64).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        if fits {
            return Ok(Self(text.to_owned()));
        }
        Err(Error::usage(format!(
            "`{text}` cannot name a tracker: 1 to 64 letters, digits, `-` and `_` are wanted"
        )))
    }
}

deserialize_as_scalar!(TrackerName);
