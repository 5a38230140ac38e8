//! Titles of epics.

use std::{borrow::Cow, collections::BTreeMap};

use crate::{
    bmad::sprint::{LedgerKey, LedgerPart},
    tracked_artifact::TrackedArtifact,
};

/// The titles of epics, by their numbers.
pub type EpicTitles = BTreeMap<u16, String>;

/// Collects titles of epics in the order of the paths of their files: of two the first counts.
pub fn epic_titles<'a>(titles: impl IntoIterator<Item = (u16, Cow<'a, str>)>) -> EpicTitles {
    let mut all = EpicTitles::new();
    for (epic, title) in titles {
        all.entry(epic).or_insert_with(|| title.into_owned());
    }
    all
}

/// The longest title that is taken, in characters: what is longer is no title.
const LONGEST: usize = 120;

/// Returns the titles that `artifact` gives to epics: headings `Epic N: TITLE`, where the name of its file
/// begins with `epic`. Of two of an epic the first counts.
pub(super) fn of(artifact: &TrackedArtifact) -> Vec<(u16, Cow<'_, str>)> {
    let path = artifact.path();
    if !path.file_stem().starts_with("epic") {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(artifact.artifact().bytes());
    let headings = text.lines().filter_map(heading);
    let mut titles: Vec<(u16, Cow<'_, str>)> =
        headings.map(|(epic, title)| (epic, Cow::Owned(title))).collect();
    // `epic-3.md` may carry its title in its frontmatter only.
    if let Some((LedgerKey { epic, part: LedgerPart::Epic }, _)) = LedgerKey::of(path)
        && let Some(title) = artifact.state().title.as_ref().and_then(|title| title.filled())
    {
        titles.push((epic, Cow::Borrowed(title)));
    }
    titles
}

/// The number and the title of a heading `## Epic 3: Lending`; a full stop or a dash may stand for the colon.
fn heading(line: &str) -> Option<(u16, String)> {
    let rest = line.strip_prefix('#')?.trim_start_matches('#').trim_start().strip_prefix("Epic ")?;
    let digits = rest.len() - rest.trim_start_matches(|digit: char| digit.is_ascii_digit()).len();
    let (number, rest) = rest.split_at(digits);
    let title = rest.trim_start().strip_prefix([':', '.', '-', '–', '—'])?.trim();
    let is_title = !title.is_empty() && title.chars().count() <= LONGEST;
    Some((number.parse().ok()?, title.to_owned())).filter(|_| is_title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_stand_in_headings() {
        for (line, expected) in [
            ("## Epic 1: Lending tools", Some((1, "Lending tools"))),
            ("### Epic 12 – Bring it back  ", Some((12, "Bring it back"))),
            ("# Epic 3. Count", Some((3, "Count"))),
            ("## Epic 1", None),
            ("## Epic 1:", None),
            ("## Epics: all", None),
            ("Epic 1: no heading", None),
            ("## Epic one: Lending", None),
            ("## Epic 99999: too many", None),
        ] {
            assert_eq!(heading(line), expected.map(|(epic, title)| (epic, title.to_owned())), "{line}");
        }
    }
}
