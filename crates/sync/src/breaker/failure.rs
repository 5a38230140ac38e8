//! A request that failed.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Reason;

/// A request that failed, as the pure machines hear of it and as it is shown to people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Why.
    pub reason: Reason,
    /// The moment that the tracker named for the next request, by this machine's clock.
    pub wait_until: Option<Timestamp>,
    /// What the tracker said, in one line of at most [`DETAIL_LIMIT`] characters, without credentials.
    pub detail: String,
}

/// How many characters of what a tracker said are kept: it may answer with a whole page.
pub const DETAIL_LIMIT: usize = 300;

impl Failure {
    /// A failure of which the tracker said `detail`; what is too long is cut.
    pub fn new(reason: Reason, detail: &str) -> Self {
        let mut words = String::new();
        for word in detail.split(|letter: char| letter.is_whitespace() || letter.is_control()) {
            // Everything behind is cut off anyway.
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

    /// The same failure, after which the tracker wants to be left alone until then.
    #[must_use]
    pub fn waiting_until(self, moment: Option<Timestamp>) -> Self {
        Self { wait_until: moment, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_becomes_a_line() {
        let failure = Failure::new(Reason::Unreadable, "<html>\n\t<body>Bad\u{7} gateway</body>\n");
        assert_eq!(failure.detail, "<html> <body>Bad gateway</body>");
        for word in ["ö", "ö "] {
            let long = Failure::new(Reason::Unreadable, &word.repeat(100_000)).detail;
            assert_eq!((long.chars().count(), long.ends_with('…')), (DETAIL_LIMIT, true));
        }
    }
}
