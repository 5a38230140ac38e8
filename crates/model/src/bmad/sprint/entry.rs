//! One copy of a story's status that does not say what the frontmatter says.

use std::fmt;

use super::{Story, StorySide, status_moves_explain};
use crate::{
    artifact::ProjectPath,
    bmad::sprint::{LedgerWords, WordChange},
    journal::Lineage,
};

/// A place in a ledger and what is to stand there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry {
    /// The file of the story.
    pub story: ProjectPath,
    /// Its key in the ledger.
    pub key: String,
    /// The location of the copy.
    pub location: EntryLocation,
    /// The word of the copy, as written; `None` where it says nothing.
    pub from: Option<String>,
    /// The status in the frontmatter, as written.
    pub status: String,
    /// The word that is to be written.
    pub to: String,
    /// The meaning of that change.
    pub change: WordChange,
}

/// The location of a copy in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryLocation {
    /// The line `Status:` of the story's own body.
    StatusLine,
    /// An entry of the ledger at this path.
    Listed {
        /// The ledger.
        ledger: ProjectPath,
    },
    /// An entry of the ledger at this path whose value is a map or a list. It is never replaced: what else
    /// stands there would be lost.
    Structured {
        /// The ledger.
        ledger: ProjectPath,
    },
    /// An entry of the ledger at this path that several files are about.
    Shared {
        /// The ledger.
        ledger: ProjectPath,
    },
    /// The ledger at this path does not list the story yet.
    Behind {
        /// The ledger.
        ledger: ProjectPath,
        /// The entry behind which it belongs; `None`: its epic is not listed, so nobody knows.
        above: Option<String>,
    },
}

impl LedgerEntry {
    /// The file in which the copy stands.
    pub const fn file(&self) -> &ProjectPath {
        match &self.location {
            EntryLocation::StatusLine => &self.story,
            EntryLocation::Listed { ledger }
            | EntryLocation::Structured { ledger }
            | EntryLocation::Shared { ledger }
            | EntryLocation::Behind { ledger, .. } => ledger,
        }
    }

    /// Returns whether it may be written without anybody's reason: it goes on, or says the same in another
    /// word.
    pub const fn is_harmless(&self) -> bool {
        matches!(self.change, WordChange::Same | WordChange::Forward)
    }

    /// Returns whether a review may have sent the story back in this copy, and in its line, if it has one.
    pub fn may_be_sent_back(&self, story: &Story) -> bool {
        let is_back = |copy: &str| story.words().is_sent_back(&self.status, copy);
        self.from.as_deref().is_some_and(is_back)
            && story.line.as_ref().is_none_or(|line| is_back(&line.text))
    }

    /// The reason why it cannot be written.
    pub const fn obstacle(&self) -> Option<&'static str> {
        match self.location {
            EntryLocation::Structured { .. } => {
                Some("that is no word, and what else stands there would be lost")
            }
            EntryLocation::Shared { .. } => {
                Some("several files are about this entry, so nobody knows which one counts")
            }
            EntryLocation::Behind { above: None, .. } => {
                Some("its epic is not listed there, so nobody knows where it belongs")
            }
            EntryLocation::StatusLine | EntryLocation::Listed { .. } | EntryLocation::Behind { .. } => None,
        }
    }

    /// Returns whether the copy says what goes with `status` in the frontmatter.
    pub fn is_fitting(&self, status: &str, words: LedgerWords<'_>) -> bool {
        self.from.as_deref().is_some_and(|from| match self.location {
            EntryLocation::StatusLine => words.is_same(from, status),
            _ => words.fits(status, from),
        })
    }

    /// Returns whether `lineage`, the history of `story`, tells how it came from what the copy says to what
    /// the frontmatter says.
    pub fn is_explained(&self, story: &Story, lineage: &Lineage) -> bool {
        let words = story.words();
        let copy = match self.location {
            EntryLocation::StatusLine => StorySide::StatusLine,
            _ => StorySide::SprintStatus,
        };
        let Some(from) = self.from.as_deref() else { return false };
        status_moves_explain(lineage, copy, (from, &self.status), words)
    }
}

impl fmt::Display for LedgerEntry {
    /// Both sides, as half a sentence.
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
            (_, Some(from)) => {
                write!(out, "`{}` says `{from}`, its frontmatter `{}`", self.file(), self.status)
            }
            (_, None) => write!(out, "`{}` says nothing, its frontmatter `{}`", self.file(), self.status),
        }
    }
}
