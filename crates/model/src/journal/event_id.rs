//! The name of an event.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The first half of the SHA-256 of an event's canonical JSON; shown as 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId([u8; 16]);

impl EventId {
    /// The 16 bytes.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// Takes the bytes that [`EventId::as_bytes`] gave.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

impl fmt::Debug for EventId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// A text that is no event id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no event id: 32 hexadecimal digits are wanted; `stepmark log` shows the ids")]
pub struct EventIdError {
    /// The text that was given.
    pub text: String,
}

impl FromStr for EventId {
    type Err = EventIdError;

    fn from_str(text: &str) -> Result<Self, EventIdError> {
        let wrong = || EventIdError { text: text.to_owned() };
        if text.len() != 32 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        u128::from_str_radix(text, 16).map(|number| Self(number.to_be_bytes())).map_err(|_| wrong())
    }
}

impl Serialize for EventId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EventId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_and_shown() {
        let id = EventId::from_bytes(*b"0123456789abcdef");
        assert_eq!(id.to_string().parse::<EventId>().unwrap(), id);
        assert_eq!(EventId::from_bytes(*id.as_bytes()), id);
        for text in ["", "12", &"g".repeat(32), &"+".repeat(32)] {
            assert!(text.parse::<EventId>().is_err(), "{text}");
        }
    }
}
