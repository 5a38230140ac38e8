//! Exit codes, and every error of the library mapped to one.

/// The failure that each error is: how the command ends, the variants that hold another error and are told as
/// that one, and those that end otherwise.
macro_rules! failures {
    ($($error:ident: $exit:ident $({ $($held:ident),+ })? $([ $($variant:ident: $other:ident),+ ])?;)+) => {
        $(impl From<$error> for $crate::exit::Failure {
            fn from(error: $error) -> Self {
                match error {
                    $($($error::$held(error) => error.into(),)+)?
                    $($(error @ $error::$variant { .. } => {
                        Self::from_error($crate::exit::Exit::$other, &error)
                    })+)?
                    error => Self::from_error($crate::exit::Exit::$exit, &error),
                }
            }
        })+
    };
}

mod changes;
mod projections;

use std::{error::Error, iter, process::ExitCode};

pub(crate) use changes::foreign_head;
use stepmark_model::spelling::causes;
pub(crate) use stepmark_model::spelling::with_causes as chain;
use stepmark_store::commit::WriteState;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Fine = 0,
    /// Findings, or a command that was refused.
    Findings = 1,
    /// The command line makes no sense.
    Usage = 2,
    Conflict = 3,
    /// A file cannot be read or written, or holds no usable data.
    Io = 4,
    Remote = 5,
    /// Nothing is left to do.
    Nothing = 6,
    /// There is work, and it waits for other work.
    Waits = 7,
    /// There is work, and only a person can go on.
    Person = 8,
}

impl Exit {
    /// The exit code where nothing can be done now, and so much work is open.
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
    /// The message: what was intended and what is wrong where.
    pub(crate) message: String,
    /// The chain of causes, outermost first.
    pub(crate) causes: Vec<String>,
    pub(crate) help: Option<String>,
    /// The files it is about: changed all the same, or not; `None` where it is about no change.
    pub(crate) write_state: Option<WriteState>,
    /// The same for people, with the place in the source; it may have styles.
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
