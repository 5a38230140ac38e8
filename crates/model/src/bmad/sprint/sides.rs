//! The three places in which a story of BMAD may keep its status, beside each other.

use std::{fmt, str::FromStr, sync::Arc};

use super::story::is_word;
use crate::{
    artifact::{Artifact, Field, Problem, ProjectPath},
    bmad::sprint::{LedgerKey, LedgerWords, WordChange},
    lifecycle::Lifecycle,
};
use stepmark_frontmatter::ParseError;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StorySide {
    Frontmatter,
    StatusLine,
    SprintStatus,
}

/// The three copies of one story's status, as written.
#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct StorySides {
    pub path: ProjectPath,
    #[serde(skip)]
    pub key: LedgerKey,
    /// Its frontmatter; `None` where that says nothing, as in the others.
    pub frontmatter: Option<String>,
    pub status_line: Option<String>,
    pub sprint_status: Option<String>,
    #[serde(skip)]
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

impl fmt::Display for StorySide {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is none of `frontmatter`, `status-line`, `sprint-status`")]
pub struct StorySideError {
    pub text: String,
}

impl FromStr for StorySide {
    type Err = StorySideError;

    fn from_str(text: &str) -> Result<Self, StorySideError> {
        let named = Self::ALL.into_iter().find(|side| side.as_str() == text);
        named.ok_or_else(|| StorySideError { text: text.to_owned() })
    }
}

impl StorySides {
    pub fn read(
        artifact: &Artifact,
        lifecycle: Option<Arc<Lifecycle>>,
        sprint_status: Option<&str>,
    ) -> Option<Self> {
        let (key, _) = LedgerKey::of_artifact(artifact).filter(|(key, _)| key.is_story())?;
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
        let said = |word: Option<&str>| word.filter(|word| is_word(word)).map(str::to_owned);
        let sides = Self {
            path: artifact.path().clone(),
            key,
            frontmatter: said(frontmatter),
            status_line: said(status_line),
            sprint_status: said(sprint_status),
            lifecycle,
        };
        StorySide::ALL.iter().any(|side| sides.word(*side).is_some()).then_some(sides)
    }

    pub fn word(&self, side: StorySide) -> Option<&str> {
        match side {
            StorySide::Frontmatter => self.frontmatter.as_deref(),
            StorySide::StatusLine => self.status_line.as_deref(),
            StorySide::SprintStatus => self.sprint_status.as_deref(),
        }
    }

    pub fn is_disputed(&self) -> bool {
        let words = self.words();
        let own = [self.frontmatter.as_deref(), self.status_line.as_deref()];
        let copies_differ =
            matches!(own, [Some(frontmatter), Some(line)] if !words.is_same(frontmatter, line));
        copies_differ || own.into_iter().flatten().any(|word| !self.is_in_ledger(word))
    }

    /// Returns whether line and ledger agree on a later state, to which moves lead.
    pub fn is_agreed(&self) -> bool {
        let said = [StorySide::StatusLine, StorySide::SprintStatus].map(|side| self.chosen(side));
        let (Some(own), [Some(line), Some(listed)]) = (self.frontmatter.as_deref(), said) else {
            return false;
        };
        let is_later = self.furthest().is_some_and(|side| side != StorySide::Frontmatter);
        line == listed
            && is_later
            && self.lifecycle.as_deref().is_some_and(|table| table.is_reachable(own, line))
    }

    fn is_in_ledger(&self, status: &str) -> bool {
        let (words, listed) = (self.words(), self.sprint_status.as_deref());
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
            let leads_here = |other: &str| {
                matches!(self.words().change(other, word), WordChange::Same | WordChange::Forward)
            };
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
        let own = self.frontmatter.as_deref().filter(goes_with);
        own.or_else(|| Some(words.in_frontmatter(word)))
    }

    pub fn words(&self) -> LedgerWords<'_> {
        LedgerWords::new(self.lifecycle.as_deref(), self.key).in_file(&self.path)
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
    fn where_the_preferred_side_is_silent_and_the_others_disagree_nobody_wins() {
        use StorySide::{Frontmatter, SprintStatus, StatusLine};
        for (said, preferred) in [
            (("review", "done", "drafted"), None),
            (("", "Done", "review"), Some(Frontmatter)),
            (("{{status}}", "Done", "review"), Some(Frontmatter)),
            (("review", "done", ""), Some(SprintStatus)),
            (("review", "{x}", "done"), Some(StatusLine)),
        ] {
            let (frontmatter, line, ledger) = said;
            assert_eq!(sides(frontmatter, line, ledger).winner(preferred), None, "{said:?}");
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

    #[test]
    fn a_spec_and_its_ledger_may_say_different_words() {
        let of_spec = |status: &str, listed: &str| {
            let text = format!("---\nstatus: {status}\n---\n# Digest\n");
            let artifact = Artifact::read(ProjectPath::new("spec-1-1-a.md").unwrap(), text.into_bytes());
            let sides = StorySides::read(&artifact, None, Some(listed)).unwrap();
            (sides.is_disputed(), sides.chosen(StorySide::SprintStatus).unwrap().to_owned())
        };
        for (status, listed, is_disputed, chosen) in [
            ("done", "review", false, "done"),
            ("done", "done", false, "done"),
            ("in-review", "in-progress", false, "in-review"),
            ("draft", "in-progress", false, "draft"),
            ("blocked", "review", false, "blocked"),
            ("in-progress", "review", true, "in-review"),
            ("in-progress", "backlog", true, "ready-for-dev"),
            ("done", "in-progress", true, "in-progress"),
        ] {
            assert_eq!(of_spec(status, listed), (is_disputed, chosen.to_owned()), "{status} {listed}");
        }
    }
}
