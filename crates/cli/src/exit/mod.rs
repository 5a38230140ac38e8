//! Exit codes, and their assignment to library errors.

mod changes;

use std::{error::Error, iter, process::ExitCode};

pub(crate) use changes::foreign_head;
use stepmark_model::spelling::causes;
pub(crate) use stepmark_model::spelling::with_causes as chain;
use stepmark_store::commit::WriteState;
use stepmark_sync::ErrorKind;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Fine = 0,
    Findings = 1,
    Usage = 2,
    Conflict = 3,
    /// Unreadable, unwritable or unusable files.
    Io = 4,
    Remote = 5,
    Nothing = 6,
    Waits = 7,
    Person = 8,
}

impl Exit {
    pub(crate) const fn idle(open: usize, is_for_person: bool) -> Self {
        match (open, is_for_person) {
            (_, true) => Self::Person,
            (0, false) => Self::Nothing,
            (_, false) => Self::Waits,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) message: String,
    /// Outermost first.
    pub(crate) causes: Vec<String>,
    pub(crate) help: Option<String>,
    /// State of the files involved; `None` if no change was attempted.
    pub(crate) write_state: Option<WriteState>,
    /// For people, with the source location; may have styles.
    pub(crate) report: Option<String>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self {
            exit,
            message: message.into(),
            causes: Vec::new(),
            help: None,
            write_state: None,
            report: None,
        }
    }

    pub(crate) fn from_error(exit: Exit, error: &dyn Error) -> Self {
        let mut failure = Self::new(exit, error.to_string());
        failure.causes = causes(error).collect();
        failure
    }

    #[must_use]
    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(crate) fn in_one_line(&self) -> String {
        let parts: Vec<&str> = iter::once(&self.message).chain(&self.causes).map(String::as_str).collect();
        parts.join(": ")
    }

    #[must_use]
    pub(crate) fn with_report(mut self, report: String) -> Self {
        self.report = Some(report);
        self
    }
}

impl From<stepmark_store::commit::CompactError> for Failure {
    fn from(error: stepmark_store::commit::CompactError) -> Self {
        Self::from_error(Exit::Io, &error)
    }
}

impl From<stepmark_sync::Error> for Failure {
    fn from(error: stepmark_sync::Error) -> Self {
        let exit = match error.kind {
            ErrorKind::Refused => Exit::Findings,
            ErrorKind::Usage => Exit::Usage,
            ErrorKind::Busy | ErrorKind::Held { .. } | ErrorKind::Fenced => Exit::Conflict,
            ErrorKind::Remote | ErrorKind::NotAllowed { .. } => Exit::Remote,
            _ => Exit::Io,
        };
        Self { help: error.help.clone(), ..Self::from_error(exit, &error) }
    }
}

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
