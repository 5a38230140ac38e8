//! One copy of a story's status that does not say what the frontmatter says.

use std::fmt;

use crate::artifact::ProjectPath;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry {
    pub story: ProjectPath,
    pub key: String,
    pub location: EntryLocation,
    /// The word of the copy, as written; `None` where it says nothing.
    pub from: Option<String>,
    pub status: String,
    pub to: String,
    /// True if the copy says a word that no lifecycle has: it is left to a person.
    pub is_foreign: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryLocation {
    /// The line `Status:` of the story's own body.
    StatusLine,
    Listed {
        ledger: ProjectPath,
    },
    /// An entry of the ledger at this path whose value is a map or a list. It is never replaced: what else
    /// stands there would be lost.
    Structured {
        ledger: ProjectPath,
    },
    Shared {
        ledger: ProjectPath,
    },
    NumberTaken {
        ledger: ProjectPath,
        by: String,
    },
    /// The ledger at this path does not list the story yet.
    Behind {
        ledger: ProjectPath,
        /// The entry behind which it belongs; `None`: its epic is not listed, so nobody knows.
        above: Option<String>,
    },
}

impl LedgerEntry {
    pub const fn file(&self) -> &ProjectPath {
        match &self.location {
            EntryLocation::StatusLine => &self.story,
            EntryLocation::Listed { ledger }
            | EntryLocation::Structured { ledger }
            | EntryLocation::Shared { ledger }
            | EntryLocation::NumberTaken { ledger, .. }
            | EntryLocation::Behind { ledger, .. } => ledger,
        }
    }

    pub const fn obstacle(&self) -> Option<&'static str> {
        match self.location {
            EntryLocation::Structured { .. } => {
                Some("that is no word, and what else stands there would be lost")
            }
            EntryLocation::Shared { .. } => {
                Some("several files are about this entry, so nobody knows which one counts")
            }
            EntryLocation::NumberTaken { .. } => {
                Some("a number has one entry; give both the same name, or one of them another number")
            }
            EntryLocation::Behind { above: None, .. } => {
                Some("its epic is not listed there, so nobody knows where it belongs")
            }
            EntryLocation::StatusLine | EntryLocation::Listed { .. } | EntryLocation::Behind { .. } => None,
        }
    }
}

impl fmt::Display for LedgerEntry {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = self.from.as_deref();
        match (&self.location, from) {
            (EntryLocation::StatusLine, from) => {
                write!(
                    out,
                    "its line `Status:` says `{}`, its frontmatter `{}`",
                    from.unwrap_or_default(),
                    self.status
                )
            }
            (EntryLocation::Structured { ledger }, _) => {
                write!(out, "`{ledger}` says a map or a list, its frontmatter `{}`", self.status)
            }
            (EntryLocation::NumberTaken { ledger, by }, _) => {
                write!(out, "`{ledger}` lists `{by}`, the file is `{}`", self.key)
            }
            (_, Some(from)) => {
                write!(out, "`{}` says `{from}`, its frontmatter `{}`", self.file(), self.status)
            }
            (_, None) => write!(out, "`{}` says nothing, its frontmatter `{}`", self.file(), self.status),
        }
    }
}
