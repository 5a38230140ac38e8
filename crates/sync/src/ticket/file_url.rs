//! The addresses at which the files of a project can be looked at.

use std::{fmt::Write as _, str::FromStr};

use stepmark_model::artifact::ProjectPath;

use crate::scalar::deserialize_as_scalar;

/// The address of a file on its branch, with `{path}` in the place of its path:
/// `https://github.com/owner/name/blob/main/{path}`. A branch, not a commit: else every commit would change
/// every ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileUrl {
    before: String,
    after: String,
}

/// The reason why a text is no address of files.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` cannot be used as the address of files: {reason}")]
pub struct FileUrlError {
    pub text: String,
    pub reason: &'static str,
}

impl FileUrl {
    pub fn of(&self, path: &ProjectPath) -> String {
        format!("{}{}{}", self.before, percent_encoded(path.as_str()), self.after)
    }
}

pub(super) fn percent_encoded(text: &str) -> String {
    let mut url = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            true => url.push(char::from(byte)),
            // Writing to a text cannot fail.
            false => drop(write!(url, "%{byte:02X}")),
        }
    }
    url
}

/// The text of which `encoded` is the percent-encoded form; `None` where it is none.
pub(super) fn percent_decoded(encoded: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut pieces = encoded.split('%');
    bytes.extend(pieces.next()?.bytes());
    for piece in pieces {
        let (digits, rest) = (piece.get(..2)?, piece.get(2..)?);
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend(rest.bytes());
    }
    String::from_utf8(bytes).ok()
}

impl FromStr for FileUrl {
    type Err = FileUrlError;

    fn from_str(text: &str) -> Result<Self, FileUrlError> {
        let wrong = |reason| FileUrlError { text: text.to_owned(), reason };
        if !text.starts_with("https://") && !text.starts_with("http://") {
            return Err(wrong("it begins with neither `https://` nor `http://`"));
        }
        if text.contains(|letter: char| {
            letter.is_whitespace() || letter.is_control() || "<>\"`\\".contains(letter)
        }) {
            return Err(wrong("a blank, a quote or an angle bracket stands in it: percent-encode it"));
        }
        match text.split_once("{path}") {
            Some((before, after)) if !after.contains("{path}") => {
                Ok(Self { before: before.to_owned(), after: after.to_owned() })
            }
            _ => Err(wrong("`{path}` must stand in it once")),
        }
    }
}

deserialize_as_scalar!(FileUrl);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_percent_encoded() {
        let url: FileUrl = "https://host/o/r/blob/main/{path}?plain=1".parse().unwrap();
        let path = ProjectPath::new("docs/a (b) ü#1.md").unwrap();
        assert_eq!(url.of(&path), "https://host/o/r/blob/main/docs/a%20%28b%29%20%C3%BC%231.md?plain=1");
    }

    #[test]
    fn what_was_encoded_is_read_back() {
        for text in ["a", "status:in-progress", "ü %41 x", ""] {
            assert_eq!(percent_decoded(&percent_encoded(text)).as_deref(), Some(text));
        }
        for wrong in ["%4", "%", "%zz", "%FF"] {
            assert_eq!(percent_decoded(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in
            ["", "javascript:{path}", "https://host/", "https://host/{path}/{path}", "https://a b/{path}"]
        {
            assert!(text.parse::<FileUrl>().is_err(), "{text}");
        }
    }
}
