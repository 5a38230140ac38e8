//! The keys of a sprint's ledger, and the files that are called by them (FORMATS.md §1, "sprint-status.yaml and stories").

use super::ProjectPath;

/// What an entry of a ledger is about. Ordered as BMAD lists them: an epic, its stories by number, its retrospective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LedgerKey {
    /// The number of the epic.
    pub epic: u16,
    /// What of the epic it is.
    pub part: LedgerPart,
}

/// What of an epic a key names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LedgerPart {
    /// `epic-N`: the epic itself.
    Epic,
    /// `N-M-slug` or `N-Ma-slug`: a story.
    Story {
        /// Its number in the epic.
        number: u16,
        /// The letter of a story that was put in between.
        letter: Option<char>,
    },
    /// `epic-N-retrospective`.
    Retrospective,
}

impl LedgerKey {
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

    /// The key that the file at `path` is called by, with its text.
    pub fn of(path: &ProjectPath) -> Option<(Self, &str)> {
        let name = path.file_stem();
        Some((Self::read(name)?, name))
    }

    /// Whether it is the key of a story.
    pub const fn is_story(self) -> bool {
        matches!(self.part, LedgerPart::Story { .. })
    }
}

/// A number of one to three digits: what is longer is a year or a date.
fn short_number(text: &str) -> Option<u16> {
    let is_short = (1..=3).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_short.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
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
}
