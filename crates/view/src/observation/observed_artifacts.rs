//! The artifacts of a project, as far as views show them: those that have not changed since they were last
//! checked are not read.

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::Arc,
};

use stepmark_model::{
    artifact::natural_order,
    summary::{EpicTitles, epic_titles},
};
use stepmark_store::{
    checking::{Summaries, SummaryRow},
    disk::par_map,
};

use super::{Entry, TreeRow, entry};

/// All artifacts with workflow state: a post of a blog, of which a status is all, is none of them.
#[derive(Clone, Debug)]
pub struct ObservedArtifacts {
    /// In the natural order of their paths, `1-2` before `1-10`; without problems, tickets and changes.
    pub entries: Arc<[Entry]>,
    pub epic_titles: Arc<EpicTitles>,
    pub tree: Arc<[TreeRow]>,
    texts: Arc<[TextStamp]>,
}

/// A mark that tells the text of an artifact from an earlier one.
#[derive(Clone, Copy, Debug)]
struct TextStamp {
    digest: Option<u64>,
    /// The stat of its file, as bytes.
    stat: Option<[u8; 32]>,
}

impl ObservedArtifacts {
    pub(super) fn of(summaries: &Summaries<'_>) -> Self {
        let rows: Vec<SummaryRow<'_>> =
            summaries.rows().filter(|row| row.brief().has_workflow_state).collect();
        let members = rows.iter().filter_map(SummaryRow::member);
        let tree = entry::tree_rows(members).into();
        let mut all = par_map(&rows, |row| {
            let summary = row.summary();
            (Entry::of(&summary), TextStamp::of(row), summary.epic_titles)
        });
        all.sort_by(|(one, ..), (other, ..)| natural_order(one.path.as_str(), other.path.as_str()));
        let (mut entries, mut texts, mut titles) = (Vec::new(), Vec::new(), Vec::new());
        for (entry, text, own) in all {
            entries.push(entry);
            texts.push(text);
            titles.extend(own);
        }
        let epic_titles = Arc::new(epic_titles(titles));
        Self { entries: entries.into(), epic_titles, tree, texts: texts.into() }
    }

    /// Returns whether the artifacts have the same texts as those of `before`.
    pub fn have_texts_of(&self, before: &Self) -> bool {
        // Two observations of one look share what they saw.
        let is_same = |(own, other): (&TextStamp, &TextStamp)| own.is_of_the_same(*other);
        Arc::ptr_eq(&self.texts, &before.texts)
            || self.texts.len() == before.texts.len() && self.texts.iter().zip(&*before.texts).all(is_same)
    }
}

impl TextStamp {
    fn of(row: &SummaryRow<'_>) -> Self {
        let digest = row.read().map(|artifact| {
            // Tells texts of one run of the program apart; kept nowhere.
            let mut hasher = DefaultHasher::new();
            artifact.artifact().bytes().hash(&mut hasher);
            hasher.finish()
        });
        Self { digest, stat: row.stat() }
    }

    fn is_of_the_same(self, other: Self) -> bool {
        match (self.digest, other.digest) {
            (Some(own), Some(other)) => own == other,
            _ => self.stat.is_some() && self.stat == other.stat,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{thread, time::Duration};

    use crate::{observation::Observation, overview::Overview, page, sample_project::SampleProject};

    /// The time until a file is no longer so new that it may change without a trace.
    const SETTLING: Duration = Duration::from_millis(30);

    #[test]
    fn artifacts_that_have_not_changed_are_not_read_and_shown_alike() {
        let project = SampleProject::new();
        for number in 0..70 {
            let text = format!("---\nstepsCompleted: [outline]\n---\n# Paper {number}\n");
            project.write(&format!("docs/{number}.md"), &text);
            project.write(&format!("s/1-{number}-a.md"), "---\nstatus: review\n---\n# Story\n");
        }
        project.write("epics.md", "---\nstepsCompleted: []\nscope: small\n---\n## Epic 1: Lend\n");
        let look = || {
            thread::sleep(SETTLING);
            let observation = Observation::take(&project.workspace()).unwrap();
            let read = observation.artifacts.texts.iter().filter(|text| text.digest.is_some()).count();
            (read, page::report(&Overview::of(&observation), None), observation)
        };
        let (read, first, before) = look();
        assert_eq!((read, before.artifacts.entries.len()), (141, 141));
        let (read, second, after) = look();
        assert_eq!((read, &second), (0, &first));
        assert!(after.artifacts.have_texts_of(&before.artifacts) && first.contains("Epic 1: Lend"));
        project.write("docs/7.md", "---\nstepsCompleted: [outline]\n---\n# Paper 7\nmore\n");
        project.write("docs/8.md", "---\nstepsCompleted: [\n---\n# Paper 8\n");
        for _ in 0..2 {
            let (read, page, now) = look();
            assert_eq!(read, 2, "few changes are not worth a new cache, and what is wrong is read");
            assert!(page.contains("not YAML") && !now.artifacts.have_texts_of(&before.artifacts));
        }
    }
}
