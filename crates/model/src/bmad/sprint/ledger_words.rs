//! Order of the words of a ledger.

use super::{LedgerKey, LedgerPart, is_story_spec};
use crate::{
    artifact::ProjectPath,
    lifecycle::{Lifecycle, built_in},
    spelling::folded,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordChange {
    Same,
    Forward,
    Back,
    /// At least one of them is a state of no table that knows the other, or stands beside the way (blocked).
    Unordered,
}

/// The lifecycles that words about one entry of a ledger are read by: that of the artifact, and that of BMAD,
/// which the readers of a ledger keep to.
#[derive(Clone, Copy, Debug)]
pub struct LedgerWords<'l> {
    own: Option<&'l Lifecycle>,
    ledger: Option<&'l Lifecycle>,
    /// True if the artifact is the spec of a story, so that its words and those of the ledger are not the
    /// same.
    is_spec: bool,
}

impl<'l> LedgerWords<'l> {
    /// For an entry with `key`, whose artifact has the lifecycle `own`.
    pub fn new(own: Option<&'l Lifecycle>, key: LedgerKey) -> Self {
        let name = match key.part {
            LedgerPart::Epic => "bmad-epic",
            LedgerPart::Story { .. } | LedgerPart::Named => "bmad-story",
            LedgerPart::Retrospective => "bmad-retrospective",
        };
        Self { own, ledger: built_in(name).map(|table| &**table), is_spec: false }
    }

    pub fn of_story(own: Option<&'l Lifecycle>) -> Self {
        Self { own, ledger: built_in("bmad-story").map(|table| &**table), is_spec: false }
    }

    /// The same where the artifact is the file at `path`, which may be the spec of a story.
    pub fn in_file(self, path: &ProjectPath) -> Self {
        Self { is_spec: is_story_spec(path), ..self }
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
        if self.is_spec { SpecWord::of(status).map(|word| word.listed) } else { Some(self.canonical(status)) }
    }

    pub fn fits(self, status: &str, listed: &str) -> bool {
        if !self.is_spec {
            return self.is_same(status, listed);
        }
        let says = |word: &str| self.is_same(word, listed);
        SpecWord::of(status).is_some_and(|word| says(word.listed) || word.also.is_some_and(says))
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
        let of_spec = || SpecWord::first_that(|listed| self.is_same(listed, word));
        match self.is_spec.then(of_spec) {
            Some(status) => status.unwrap_or(word),
            None => self.canonical(word),
        }
    }

    /// The direction of a change from `from` to `to`. Order is the `rank` of the first table that ranks both.
    pub fn change(self, from: &str, to: &str) -> WordChange {
        if self.is_same(from, to) {
            return WordChange::Same;
        }
        let ranks = |table: &Lifecycle| {
            let rank = |word: &str| table.state_of(word)?.rank;
            Some((rank(from)?, rank(to)?))
        };
        match self.tables().find_map(ranks) {
            Some((from, to)) if from < to => WordChange::Forward,
            Some((from, to)) if from > to => WordChange::Back,
            _ => WordChange::Unordered,
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
#[derive(Debug)]
pub(super) struct SpecWord {
    /// The state of `bmad-spec`.
    status: &'static str,
    /// The word that replaces another in a ledger.
    pub(super) listed: &'static str,
    pub(super) also: Option<&'static str>,
}

const SPEC_WORDS: [SpecWord; 5] = [
    SpecWord { status: "ready-for-dev", listed: "ready-for-dev", also: Some("backlog") },
    SpecWord { status: "in-progress", listed: "in-progress", also: None },
    SpecWord { status: "in-review", listed: "in-progress", also: Some("review") },
    SpecWord { status: "done", listed: "review", also: Some("done") },
    SpecWord { status: "awaiting-operator", listed: "awaiting-operator", also: None },
];

impl SpecWord {
    /// That of a spec with this status; `None` where the ledger has no word for it.
    pub(super) fn of(status: &str) -> Option<&'static Self> {
        let state = &built_in("bmad-spec")?.state_of(status)?.name;
        SPEC_WORDS.iter().find(|word| word.status == state)
    }

    /// The earliest status of a spec that fits what the ledger says: `fits` compares with a word of the
    /// ledger.
    pub(super) fn first_that(fits: impl Fn(&str) -> bool) -> Option<&'static str> {
        let word = SPEC_WORDS.iter().find(|word| fits(word.listed) || word.also.is_some_and(&fits));
        word.map(|word| word.status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(key: &str) -> LedgerWords<'static> {
        LedgerWords::new(None, LedgerKey::read(key).unwrap())
    }

    #[test]
    fn words_are_ordered_by_their_tables() {
        use WordChange::{Back, Forward, Same, Unordered};
        for (key, from, to, expected) in [
            ("1-1-a", "backlog", "done", Forward),
            ("1-1-a", "drafted", "ready-for-dev", Same),
            ("1-1-a", "In Review", "review", Same),
            ("1-1-a", "completed", "review", Back),
            ("1-1-a", "cancelled", "review", Unordered),
            ("1-1-a", "review", "awaiting-operator", Unordered),
            ("1-1-a", "Awaiting_Operator", "awaiting-operator", Same),
            ("epic-1", "contexted", "in-progress", Same),
            ("epic-1", "done", "in-progress", Back),
            ("epic-1-retrospective", "optional", "done", Forward),
        ] {
            assert_eq!(words(key).change(from, to), expected, "{key}: {from} → {to}");
        }
    }

    #[test]
    fn the_spec_of_a_story_has_its_own_words() {
        let path = ProjectPath::new("docs/spec-1-1-a.md").unwrap();
        let words = words("1-1-a").in_file(&path);
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
        let own = LedgerWords::new(Some(spec), LedgerKey::read("1-1-a").unwrap());
        assert_eq!(own.change("draft", "in-review"), WordChange::Forward, "its own table ranks both");
        assert_eq!(own.canonical("draft"), "draft");
    }
}
