//! A text that is never shown.

use std::fmt;

/// A token or password, fit for a header. It has no `Display`, and its `Debug` says nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// A text that cannot be a credential. It is not repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", match .0 {
    SecretFault::Empty => "it is empty",
    SecretFault::TooLong => "it is too long for a credential",
    SecretFault::NotPrintable => "it holds blanks or other characters that no header may have",
})]
pub struct SecretError(SecretFault);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SecretFault {
    Empty,
    TooLong,
    NotPrintable,
}

/// What stands in place of a credential.
const HIDDEN: &str = "[credential]";

impl Secret {
    /// How many bytes a credential has at most.
    pub const LIMIT: usize = 4096;

    /// The credential that `text` holds; blanks and line ends around it do not count.
    ///
    /// # Errors
    /// When it is empty, longer than [`Secret::LIMIT`], or no printable ASCII.
    pub fn new(text: &str) -> Result<Self, SecretError> {
        let text = text.trim();
        match text {
            "" => Err(SecretError(SecretFault::Empty)),
            _ if text.len() > Self::LIMIT => Err(SecretError(SecretFault::TooLong)),
            _ if !text.bytes().all(|byte| byte.is_ascii_graphic()) => {
                Err(SecretError(SecretFault::NotPrintable))
            }
            _ => Ok(Self(text.to_owned())),
        }
    }

    /// The credential itself, for the header of a request alone.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// `text` without the credential, should a server repeat it.
    pub fn hide_in(&self, text: String) -> String {
        if text.contains(&self.0) { text.replace(&self.0, HIDDEN) } else { text }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(HIDDEN)
    }
}
