//! Failures to make sense of a command line.

use super::{Exit, Failure};

impl From<&clap::Error> for Failure {
    fn from(error: &clap::Error) -> Self {
        let text = error.to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        let (message, usage) = text.split_once("\n\nUsage: ").unwrap_or((text, ""));
        let words: Vec<&str> = message.split_whitespace().collect();
        let failure = Self::new(Exit::Usage, words.join(" "));
        match usage.lines().next() {
            Some(usage) => failure.with_help(format!("usage: {usage}")),
            None => failure.with_help("`stepmark help --all` lists the commands"),
        }
    }
}
