//! The keys of a sprint's ledger, and the files that are called by them (docs/formats.md, "Sprint status and
//! stories").

use crate::artifact::{Artifact, ProjectPath};

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
    /// A story with another key (`AUTH-1-login`), which is that of its file to the letter.
    Named,
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

    /// The key that the file at `path` is called by, with its text. The spec of a story is called by the
    /// numbers of the story, behind `spec-`.
    pub fn of(path: &ProjectPath) -> Option<(Self, &str)> {
        Self::of_name(path.file_stem())
    }

    /// The same where the file may also be a story by its heading, called by the key of an issue.
    pub fn of_artifact(artifact: &Artifact) -> Option<(Self, &str)> {
        let name = artifact.path().file_stem();
        let is_story = || is_issue_key(name) && artifact.has_story_heading();
        Self::of(artifact.path())
            .or_else(|| is_story().then_some((Self { epic: 0, part: LedgerPart::Named }, name)))
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

/// Returns whether the file at `path` is the spec of a story, which BMAD 6.11 and later keep instead of a
/// story file: its frontmatter has the words of a spec.
pub(crate) fn is_story_spec(path: &ProjectPath) -> bool {
    path.file_stem().starts_with(SPEC_PREFIX) && story_key(path).is_some()
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

    #[test]
    fn stories_are_known_by_their_names() {
        let key = |path: &str| story_key(&ProjectPath::new(path).unwrap()).map(str::to_owned);
        for name in ["1-1-switch", "12-3-a", "1-2a-dim-slowly"] {
            assert_eq!(key(&format!("docs/stories/{name}.md")).as_deref(), Some(name));
        }
        assert_eq!(key("docs/spec-1-1-switch.md").as_deref(), Some("1-1-switch"));
        for name in ["2026-01-15-meeting", "1-1", "0001-use-it", "1-b-c", "epic-1", "1-1-", "1-2ab-c"] {
            assert_eq!(key(&format!("{name}.md")), None, "{name}");
        }
    }
}
