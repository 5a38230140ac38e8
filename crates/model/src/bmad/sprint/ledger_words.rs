//! Order of the words of a ledger.

use std::cmp::Ordering;

use crate::{
    artifact::{Artifact, ProjectPath},
    lifecycle::{Lifecycle, built_in},
    spelling::folded,
};

/// The lifecycles by which the words of an entry are read: the artifact's, and that of a ledger's readers.
#[derive(Clone, Copy, Debug)]
pub struct LedgerWords<'l> {
    own: Option<&'l Lifecycle>,
    ledger: Option<&'l Lifecycle>,
    /// True for the spec of a story, whose words are not those of the ledger.
    is_spec: bool,
}

impl<'l> LedgerWords<'l> {
    /// For an entry with `key`, whose artifact is the file at `path` and has the lifecycle `own`.
    pub fn new(own: Option<&'l Lifecycle>, key: LedgerKey, path: &ProjectPath) -> Self {
        let name = match key.part {
            LedgerPart::Epic => "bmad-epic",
            LedgerPart::Story { .. } | LedgerPart::Named => STORY,
            LedgerPart::Retrospective => "bmad-retrospective",
        };
        Self { own, ledger: built_in(name).map(|table| &**table), is_spec: is_story_spec(path) }
    }

    /// Returns whether two words mean one state. A word that no table has means itself.
    pub fn is_same(self, one: &str, other: &str) -> bool {
        let means_same = |lifecycle: &Lifecycle| {
            let states = [one, other].map(|word| lifecycle.state_of(word).map(|state| &state.name));
            states[0].is_some() && states[0] == states[1]
        };
        folded(one) == folded(other) || self.tables().any(means_same)
    }

    /// The word of a ledger for the status `status`, among those that its readers know; `None` where they
    /// know none: then the ledger is none of the artifact's business.
    pub fn in_ledger<'w>(self, status: &'w str) -> Option<&'w str>
    where
        'l: 'w,
    {
        if self.is_spec { spec_words(status).map(|(listed, _)| listed) } else { Some(self.canonical(status)) }
    }

    pub fn fits(self, status: &str, listed: &str) -> bool {
        if !self.is_spec {
            return self.is_same(status, listed);
        }
        let says = |word: &str| self.is_same(word, listed);
        spec_words(status).is_some_and(|(listed, also)| says(listed) || also.is_some_and(says))
    }

    pub fn have(self, word: &str) -> bool {
        self.tables().any(|table| table.state_of(word).is_some())
    }

    /// The word for the frontmatter where the ledger, or the line of the body, says `word`: the name of the
    /// state that it means, or the word itself where no table has it.
    pub fn in_frontmatter<'w>(self, word: &'w str) -> &'w str
    where
        'l: 'w,
    {
        if !self.is_spec {
            return self.canonical(word);
        }
        // The earliest status that fits.
        let fits = |listed: &str| self.is_same(listed, word);
        let mut fitting =
            SPEC_WORDS.iter().filter(|(_, listed, also)| fits(listed) || also.is_some_and(fits));
        fitting.next().map_or(word, |(status, ..)| status)
    }

    /// `to` after `from`, by the `rank` of the first table that ranks both; `None` where at least one of them
    /// is a state of no table that knows the other, or stands beside the way (blocked).
    pub fn change(self, from: &str, to: &str) -> Option<Ordering> {
        let ranks = |table: &Lifecycle| {
            let rank = |word: &str| table.state_of(word)?.rank;
            Some(rank(to)?.cmp(&rank(from)?))
        };
        match self.is_same(from, to) {
            true => Some(Ordering::Equal),
            false => self.tables().find_map(ranks).filter(|order| order.is_ne()),
        }
    }

    /// The word that readers of a ledger know for the state that `word` means: `in-review` is `review` to
    /// them, and `drafted` is `ready-for-dev`. A word without a state stays as it is.
    pub fn canonical<'w>(self, word: &'w str) -> &'w str
    where
        'l: 'w,
    {
        let state = self.tables().find_map(|table| table.state_of(word));
        state.map_or(word, |state| state.name.as_str())
    }

    /// The tables in order, those of BMAD first: its readers must understand the word.
    fn tables(self) -> impl Iterator<Item = &'l Lifecycle> {
        self.ledger.into_iter().chain(self.own)
    }
}

/// A status of a spec and what the ledger may say with it.
///
/// The steps of `bmad-build` (BMAD 6.11 and later) keep two words for one story. They write `in-progress`
/// into the ledger when they begin, and `review` when the spec is `done`: what is `done` in the ledger,
/// `bmad-code-review` says afterwards. While they plan (`ready-for-dev`) and look over their own work
/// (`in-review`) the ledger stays as it was, and a plan (`draft`) or a halt (`blocked`) has no word there.
///
/// Each is a state of `bmad-spec` with the word that replaces another in a ledger, and one that may stay.
const SPEC_WORDS: [(&str, &str, Option<&str>); 5] = [
    ("ready-for-dev", "ready-for-dev", Some("backlog")),
    ("in-progress", "in-progress", None),
    ("in-review", "in-progress", Some("review")),
    ("done", "review", Some("done")),
    ("awaiting-operator", "awaiting-operator", None),
];

/// The words for a spec with this status; `None` where the ledger has none for it.
fn spec_words(status: &str) -> Option<(&'static str, Option<&'static str>)> {
    let state = &built_in("bmad-spec")?.state_of(status)?.name;
    SPEC_WORDS.iter().find(|(own, ..)| own == state).map(|(_, listed, also)| (*listed, *also))
}

/// The lifecycle of a story.
const STORY: &str = "bmad-story";

/// The beginning of the name of a spec, as `bmad-build` of BMAD 6.11 and later calls it.
pub(super) const SPEC_PREFIX: &str = "spec-";

/// The subject of an entry of a ledger. Ordered as BMAD lists them: an epic, its stories by number, its
/// retrospective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LedgerKey {
    pub epic: u16,
    pub part: LedgerPart,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LedgerPart {
    Epic,
    /// `N-M-slug` or `N-Ma-slug`: a story.
    Story {
        number: u16,
        letter: Option<char>,
    },
    /// `epic-N-retrospective`.
    Retrospective,
    /// A story with another key (`AUTH-1-login`, `login_page`), which is that of its file to the letter.
    Named,
}

impl LedgerKey {
    /// That of a story which is called by no number.
    pub const NAMED: Self = Self { epic: 0, part: LedgerPart::Named };

    /// Reads a key; `None` for any other text, also for one that begins with a year.
    pub fn read(key: &str) -> Option<Self> {
        if let Some(rest) = key.strip_prefix("epic-") {
            let (epic, part) = match rest.strip_suffix("-retrospective") {
                Some(epic) => (epic, LedgerPart::Retrospective),
                None => (rest, LedgerPart::Epic),
            };
            return Some(Self { epic: short_number(epic)?, part });
        }
        let mut parts = key.splitn(3, '-');
        let (epic, story, slug) = (parts.next()?, parts.next()?, parts.next()?);
        let bare = story.strip_suffix(|letter: char| letter.is_ascii_lowercase()).unwrap_or(story);
        let letter = story[bare.len()..].chars().next();
        let part = LedgerPart::Story { number: short_number(bare)?, letter };
        (!slug.is_empty()).then_some(Self { epic: short_number(epic)?, part })
    }

    /// The key that the file at `path` is called by, with its text; a story's spec has `spec-` before it.
    pub fn of(path: &ProjectPath) -> Option<(Self, &str)> {
        Self::of_name(path.file_stem())
    }

    /// The same where the file may also be a story by its heading or its lifecycle, called by any name.
    pub fn of_artifact(artifact: &Artifact, lifecycle: Option<&Lifecycle>) -> Option<Self> {
        let is_called_so = || artifact.has_story_heading() && artifact.is_called_as_its_heading();
        let is_story = || lifecycle.is_some_and(|table| table.name() == STORY) || is_called_so();
        let named = || is_story().then_some(Self::NAMED);
        Self::of(artifact.path()).map(|(key, _)| key).or_else(named)
    }

    pub(super) fn of_name(name: &str) -> Option<(Self, &str)> {
        let Some(numbered) = name.strip_prefix(SPEC_PREFIX) else { return Some((Self::read(name)?, name)) };
        Self::read(numbered).filter(|key| key.is_story()).map(|key| (key, numbered))
    }

    pub const fn is_story(self) -> bool {
        matches!(self.part, LedgerPart::Story { .. } | LedgerPart::Named)
    }
}

/// A number of one to three digits: what is longer is a year or a date.
fn short_number(text: &str) -> Option<u16> {
    let is_short = (1..=3).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_short.then(|| text.parse().ok()).flatten()
}

/// The key by which a file is that of a story: its name without the ending, and without `spec-` before it:
/// `N-M-slug` or `N-Ma-slug`. `None` for files that are called otherwise, also for those that begin with a
/// year.
pub fn story_key(path: &ProjectPath) -> Option<&str> {
    LedgerKey::of(path).filter(|(key, _)| key.is_story()).map(|(_, name)| name)
}

/// Returns whether a name is that of an issue in a tracker: `AUTH-1-login`, `gh-247`.
pub(super) fn is_issue_key(name: &str) -> bool {
    let (project, number) = name.split_once('-').unwrap_or_default();
    project.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && project.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && number.starts_with(|digit: char| digit.is_ascii_digit())
}

/// Returns whether the file is the spec of a story, which BMAD 6.11 and later keep, with a spec's words.
pub(crate) fn is_story_spec(path: &ProjectPath) -> bool {
    path.file_stem().starts_with(SPEC_PREFIX) && story_key(path).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(key: &str) -> LedgerWords<'static> {
        LedgerWords::new(None, LedgerKey::read(key).unwrap(), &ProjectPath::new("docs/1-1-a.md").unwrap())
    }

    #[test]
    fn words_are_ordered_by_their_tables() {
        let (same, forward, back) = (Some(Ordering::Equal), Some(Ordering::Greater), Some(Ordering::Less));
        for (key, from, to, expected) in [
            ("1-1-a", "backlog", "done", forward),
            ("1-1-a", "drafted", "ready-for-dev", same),
            ("1-1-a", "In Review", "review", same),
            ("1-1-a", "completed", "review", back),
            ("1-1-a", "cancelled", "review", None),
            ("1-1-a", "review", "awaiting-operator", None),
            ("1-1-a", "Awaiting_Operator", "awaiting-operator", same),
            ("epic-1", "contexted", "in-progress", same),
            ("epic-1", "done", "in-progress", back),
            ("epic-1-retrospective", "optional", "done", forward),
        ] {
            assert_eq!(words(key).change(from, to), expected, "{key}: {from} → {to}");
        }
    }

    #[test]
    fn the_spec_of_a_story_has_its_own_words() {
        let path = ProjectPath::new("docs/spec-1-1-a.md").unwrap();
        let words = LedgerWords::new(None, LedgerKey::read("1-1-a").unwrap(), &path);
        for (status, listed, fitting) in [
            ("draft", None, &[][..]),
            ("ready-for-dev", Some("ready-for-dev"), &["backlog", "ready-for-dev", "drafted"]),
            ("in-progress", Some("in-progress"), &["in-progress"]),
            ("in-review", Some("in-progress"), &["in-progress", "review"]),
            ("done", Some("review"), &["review", "done"]),
            ("blocked", None, &[]),
            ("awaiting-operator", Some("awaiting-operator"), &["awaiting-operator"]),
        ] {
            assert_eq!(words.in_ledger(status), listed, "{status}");
            let all =
                ["backlog", "drafted", "ready-for-dev", "in-progress", "review", "done", "awaiting-operator"];
            for word in all {
                assert_eq!(words.fits(status, word), fitting.contains(&word), "{status} {word}");
            }
        }
        for (listed, status) in [
            ("backlog", "ready-for-dev"),
            ("drafted", "ready-for-dev"),
            ("in-progress", "in-progress"),
            ("review", "in-review"),
            ("done", "done"),
            ("awaiting-operator", "awaiting-operator"),
        ] {
            assert_eq!(words.in_frontmatter(listed), status, "{listed}");
        }
    }

    #[test]
    fn readers_are_given_words_that_they_know() {
        for (key, word, expected) in [
            ("1-1-a", "in-review", "review"),
            ("1-1-a", "drafted", "ready-for-dev"),
            ("1-1-a", "Done", "done"),
            ("1-1-a", "awaiting-operator", "awaiting-operator"),
            ("epic-2", "contexted", "in-progress"),
        ] {
            assert_eq!(words(key).canonical(word), expected, "{word}");
        }
        let spec = built_in("bmad-spec").unwrap();
        let own = LedgerWords { own: Some(spec), ..words("1-1-a") };
        assert_eq!(own.change("draft", "in-review"), Some(Ordering::Greater), "its own table ranks both");
        assert_eq!(own.canonical("draft"), "draft");
    }
}

#[cfg(test)]
mod ledger_key_tests {
    use super::*;

    #[test]
    fn keys_are_read_and_ordered() {
        let key = |text: &str| LedgerKey::read(text).unwrap_or_else(|| panic!("{text}"));
        let order =
            ["epic-1", "1-1-a", "1-2-b", "1-2a-c", "1-10-d", "epic-1-retrospective", "epic-2", "2-1-a"];
        let keys: Vec<LedgerKey> = order.iter().map(|text| key(text)).collect();
        assert!(keys.is_sorted(), "{keys:?}");
        assert_eq!(key("12-3b-x").part, LedgerPart::Story { number: 3, letter: Some('b') });
        assert!(key("1-1-a").is_story() && !key("epic-1").is_story());
        for text in [
            "2026-01-15-x",
            "1-1",
            "1-1-",
            "epic-",
            "epic-1-retro-x",
            "epic-1234",
            "1-b-c",
            "1-2ab-c",
            "",
            "x",
        ] {
            assert_eq!(LedgerKey::read(text), None, "{text}");
        }
        let path = ProjectPath::new("docs/epic-3.md").unwrap();
        assert_eq!(LedgerKey::of(&path), Some((LedgerKey { epic: 3, part: LedgerPart::Epic }, "epic-3")));
    }

    #[test]
    fn a_spec_is_called_by_the_numbers_of_its_story() {
        let of = |name: &str| {
            let path = ProjectPath::new(format!("docs/{name}.md")).unwrap();
            LedgerKey::of(&path).map(|(key, name)| (key, name.to_owned()))
        };
        assert_eq!(of("spec-3-2-digest"), Some((LedgerKey::read("3-2-x").unwrap(), "3-2-digest".to_owned())));
        for name in
            ["spec-gh-47-fix", "spec-epic-3", "spec-2026-01-15-x", "spec-fix-auth", "spec-", "myspec-1-1-a"]
        {
            assert_eq!(of(name), None, "{name}");
        }
    }
}
