//! The three places in which a story of BMAD may keep its status, beside each other.

use std::sync::Arc;

use super::story::is_word;
use crate::{
    artifact::{Artifact, Field, Problem, ProjectPath},
    bmad::sprint::{LedgerKey, LedgerWords},
    lifecycle::Lifecycle,
};
use std::cmp::Ordering;
use stepmark_frontmatter::ParseError;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StorySide {
    Frontmatter,
    StatusLine,
    SprintStatus,
}

/// The three copies of one story's status, as written.
#[derive(Clone, Debug)]
pub struct StorySides {
    pub path: ProjectPath,
    pub key: LedgerKey,
    /// By [`StorySide`]; `None` where one says nothing.
    pub(super) said: [Option<String>; 3],
    pub lifecycle: Option<Arc<Lifecycle>>,
}

impl StorySide {
    /// All, in the order in which they are shown.
    pub const ALL: [Self; 3] = [Self::Frontmatter, Self::StatusLine, Self::SprintStatus];
    /// The copy that counts where all that say anything agree: the truth, then what agents choose stories by.
    const FALLBACK: [Self; 3] = [Self::Frontmatter, Self::SprintStatus, Self::StatusLine];

    pub fn data_key(self) -> String {
        self.as_str().replace('-', "_")
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Frontmatter => "frontmatter",
            Self::StatusLine => "status-line",
            Self::SprintStatus => "sprint-status",
        }
    }
}

impl StorySides {
    pub fn read(
        artifact: &Artifact,
        lifecycle: Option<Arc<Lifecycle>>,
        sprint_status: Option<&str>,
    ) -> Option<Self> {
        let key = LedgerKey::of_artifact(artifact, lifecycle.as_deref()).filter(|key| key.is_story())?;
        // Of a file in which git left two versions nobody knows what it says.
        let is_unresolved = |problem: &Problem| {
            matches!(problem, Problem::NotYaml { error: ParseError::MergeConflict { .. } })
        };
        if artifact.diagnoses().iter().any(|diagnosis| is_unresolved(&diagnosis.problem)) {
            return None;
        }
        let state = artifact.state();
        let frontmatter = state.status.as_ref().and_then(Field::filled);
        let status_line = state.body_status.as_ref().map(|line| line.text.as_str());
        let said = [frontmatter, status_line, sprint_status];
        let said = said.map(|word| word.filter(|word| is_word(word)).map(str::to_owned));
        let is_any = said.iter().any(Option::is_some);
        is_any.then(|| Self { path: artifact.path().clone(), key, said, lifecycle })
    }

    pub fn word(&self, side: StorySide) -> Option<&str> {
        self.said[side as usize].as_deref()
    }

    /// Returns whether both say the same of themselves, whatever ledgers say.
    pub fn is_same_file(&self, other: &Self) -> bool {
        self.said[..2] == other.said[..2]
    }

    pub fn is_disputed(&self) -> bool {
        let words = self.words();
        let own = [StorySide::Frontmatter, StorySide::StatusLine].map(|side| self.word(side));
        let copies_differ =
            matches!(own, [Some(frontmatter), Some(line)] if !words.is_same(frontmatter, line));
        copies_differ || own.into_iter().flatten().any(|word| !self.is_in_ledger(word))
    }

    /// Returns whether line and ledger agree on a later state, to which moves lead.
    pub fn is_agreed(&self) -> bool {
        let said = [StorySide::StatusLine, StorySide::SprintStatus].map(|side| self.chosen(side));
        let (Some(own), [Some(line), Some(listed)]) = (self.word(StorySide::Frontmatter), said) else {
            return false;
        };
        let is_later = self.furthest().is_some_and(|side| side != StorySide::Frontmatter);
        line == listed
            && is_later
            && self.lifecycle.as_deref().is_some_and(|table| table.is_reachable(own, line))
    }

    fn is_in_ledger(&self, status: &str) -> bool {
        let (words, listed) = (self.words(), self.word(StorySide::SprintStatus));
        words.in_ledger(status).is_none() || listed.is_none_or(|listed| words.fits(status, listed))
    }

    /// The side that counts when `preferred` wins. Where that one says nothing, or none is preferred, it is
    /// the first that says anything, as long as all that say anything agree; else nobody wins until somebody
    /// names a side that says something.
    pub fn winner(&self, preferred: Option<StorySide>) -> Option<StorySide> {
        let speaks = |side: &StorySide| self.word(*side).is_some();
        let first = || StorySide::FALLBACK.into_iter().find(speaks).filter(|_| !self.is_disputed());
        preferred.filter(speaks).or_else(first)
    }

    /// The side that none of the others is ahead of; of several the one that counts if all agree.
    pub fn furthest(&self) -> Option<StorySide> {
        let said = || StorySide::FALLBACK.into_iter().filter_map(|side| Some((side, self.chosen(side)?)));
        let reaches = |word: &str| {
            let leads_here = |other: &str| self.words().change(other, word).is_some_and(Ordering::is_ge);
            said().all(|(_, other)| leads_here(other))
        };
        said().find(|(_, word)| reaches(word)).map(|(side, _)| side)
    }

    /// The word for the frontmatter when `side` wins: the name of the state that its word means, or the word
    /// itself where no table has it. What the frontmatter says in another word for that state stays.
    pub fn chosen(&self, side: StorySide) -> Option<&str> {
        let (words, word) = (self.words(), self.word(side)?);
        let goes_with = |own: &&str| match side {
            StorySide::SprintStatus => self.is_in_ledger(own),
            StorySide::Frontmatter | StorySide::StatusLine => words.is_same(own, word),
        };
        let own = self.word(StorySide::Frontmatter).filter(goes_with);
        own.or_else(|| Some(words.in_frontmatter(word)))
    }

    pub fn words(&self) -> LedgerWords<'_> {
        LedgerWords::new(self.lifecycle.as_deref(), self.key, &self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sides(frontmatter: &str, line: &str, ledger: &str) -> StorySides {
        let fences =
            if frontmatter.is_empty() { String::new() } else { format!("---\nstatus: {frontmatter}\n---\n") };
        let text = format!("{fences}# Story 1.1\n\nStatus: {line}\n");
        let artifact = Artifact::read(ProjectPath::new("1-1-a.md").unwrap(), text.into_bytes());
        StorySides::read(&artifact, None, Some(ledger)).unwrap()
    }

    #[test]
    fn the_preferred_side_wins_where_it_speaks() {
        use StorySide::{Frontmatter, SprintStatus, StatusLine};
        for (said, preferred, is_disputed, winner, chosen) in [
            (("review", "done", "drafted"), Some(StatusLine), true, StatusLine, "done"),
            (("review", "done", "drafted"), Some(SprintStatus), true, SprintStatus, "ready-for-dev"),
            (("", "Done", "done"), Some(Frontmatter), false, SprintStatus, "done"),
            (("", "Done", ""), Some(SprintStatus), false, StatusLine, "done"),
            (("in-review", "review", "Review"), Some(SprintStatus), false, SprintStatus, "in-review"),
            (("review", "awaiting-operator", ""), Some(StatusLine), true, StatusLine, "awaiting-operator"),
            (("{x}", "{{status}}", "done"), None, false, SprintStatus, "done"),
        ] {
            let (frontmatter, line, ledger) = said;
            let sides = sides(frontmatter, line, ledger);
            assert_eq!(sides.is_disputed(), is_disputed, "{said:?}");
            assert_eq!(sides.winner(preferred), Some(winner), "{said:?}");
            assert_eq!(sides.chosen(winner), Some(chosen), "{said:?}");
        }
    }

    #[test]
    fn the_side_that_is_furthest_along() {
        use StorySide::{Frontmatter, SprintStatus, StatusLine};
        for (said, furthest) in [
            (("in-progress", "review", "review"), Some(SprintStatus)),
            (("in-progress", "review", "in-progress"), Some(StatusLine)),
            (("in-progress", "In Progress", "review"), Some(SprintStatus)),
            (("done", "review", "in-progress"), Some(Frontmatter)),
            (("", "review", "drafted"), Some(StatusLine)),
            (("review", "review", "Review"), Some(Frontmatter)),
            (("", "awaiting-operator", ""), Some(StatusLine)),
            (("review", "awaiting-operator", "done"), None),
            (("in-progress", "cancelled", "done"), None),
        ] {
            let (frontmatter, line, ledger) = said;
            assert_eq!(sides(frontmatter, line, ledger).furthest(), furthest, "{said:?}");
        }
    }
}
