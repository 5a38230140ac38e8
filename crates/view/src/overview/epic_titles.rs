//! What epics are called.

use std::collections::BTreeMap;

use stepmark_model::{
    artifact::{LedgerKey, LedgerPart},
    tracked_artifact::TrackedArtifact,
};

/// The titles of epics, by their numbers.
pub type EpicTitles = BTreeMap<u16, String>;

/// The longest title that is taken, in characters: what is longer is no title.
const LONGEST: usize = 120;

/// Reads the titles of epics: headings `Epic N: TITLE` of files whose names begin with `epic`. Of two the first counts.
pub fn epic_titles<'a>(artifacts: impl IntoIterator<Item = &'a TrackedArtifact>) -> EpicTitles {
    let mut titles = EpicTitles::new();
    for artifact in artifacts {
        let path = artifact.path();
        if !path.file_stem().starts_with("epic") {
            continue;
        }
        let text = String::from_utf8_lossy(artifact.artifact().bytes());
        for (epic, title) in text.lines().filter_map(heading) {
            titles.entry(epic).or_insert(title);
        }
        // `epic-3.md` may carry its title in its frontmatter only.
        if let Some((LedgerKey { epic, part: LedgerPart::Epic }, _)) = LedgerKey::of(path)
            && let Some(title) = artifact.state().title.as_ref().and_then(|title| title.filled())
        {
            titles.entry(epic).or_insert_with(|| title.to_owned());
        }
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
    use crate::sample_project::SampleProject;

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

    #[test]
    fn the_first_of_two_titles_counts() {
        let project = SampleProject::new();
        project.write("epics.md", "---\nstatus: draft\n---\n## Epic 1: Lend\n## Epic 1: Lend again\n");
        project.write("epics/epic-2.md", "---\nstatus: draft\ntitle: Return\n---\n");
        project.write("notes.md", "---\nstatus: draft\n---\n## Epic 4: No\n");
        let titles = epic_titles(&project.workspace().artifacts().unwrap().artifacts);
        assert_eq!(titles, [(1, "Lend".to_owned()), (2, "Return".to_owned())].into());
    }
}
