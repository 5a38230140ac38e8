//! The name of a session.

use std::{fmt, str::FromStr};

use super::SegmentName;

/// The name of a session: it starts the names of its segments, so it has letters, digits, `-`, `_` and `.`,
/// no leading dot, and at most [`SessionId::LONGEST`] bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(String);

/// A text that cannot name a session.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` cannot name a session: letters, digits, `-`, `_` and `.` are wanted, at most {} of them, no dot in front, and \
     not `main` or `local`; `stepmark session list` shows the sessions",
    SessionId::LONGEST
)]
pub struct SessionIdError {
    /// The text that was given.
    pub text: String,
}

impl SessionId {
    /// The longest name in bytes: the unique ending of a segment's name still fits behind it.
    pub const LONGEST: usize = 100;

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SessionId {
    type Err = SessionIdError;

    fn from_str(text: &str) -> Result<Self, SessionIdError> {
        // So start the segments of commands outside of any session, and of events that are never sealed.
        let is_taken = ["main", "local"].contains(&text);
        let is_name = text.len() <= Self::LONGEST && !is_taken && SegmentName::new(text).is_some();
        if is_name { Ok(Self(text.to_owned())) } else { Err(SessionIdError { text: text.to_owned() }) }
    }
}

impl AsRef<str> for SessionId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> Self {
        id.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_start_segments() {
        for text in ["s-20261122-1015-a1b2c3", "night.run_2", &"x".repeat(SessionId::LONGEST)] {
            let id: SessionId = text.parse().unwrap();
            assert!(SegmentName::new(&format!("{id}-0123456789ab")).is_some());
        }
        for text in ["", "main", ".x", "a/b", "a b", "é", &"x".repeat(SessionId::LONGEST + 1)] {
            assert!(text.parse::<SessionId>().is_err(), "{text}");
        }
    }
}
