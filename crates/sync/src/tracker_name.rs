//! The name of a tracker in configuration, ledger and reports.

use std::{fmt, str::FromStr};

use serde::Serialize;

use crate::scalar::deserialize_as_scalar;

/// The name of a tracker: 1 to 64 ASCII letters, digits, `-` and `_`.
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

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` cannot name a tracker: 1 to 64 letters, digits, `-` and `_` are wanted")]
pub struct TrackerNameError {
    pub text: String,
}

impl FromStr for TrackerName {
    type Err = TrackerNameError;

    fn from_str(text: &str) -> Result<Self, TrackerNameError> {
        let fits = (1..=64).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        if fits { Ok(Self(text.to_owned())) } else { Err(TrackerNameError { text: text.to_owned() }) }
    }
}

deserialize_as_scalar!(TrackerName);
