//! The lines of `stepmark status`: artifacts in groups, in 80 columns.

use std::collections::HashSet;

use stepmark_model::tracked_artifact::TrackedArtifact;
use stepmark_view::overview::{Condition, Entry, EntryGroup, entry_groups, epic_titles, short_names};

use super::{
    Counted,
    columns::{Row, lay_out},
};
use crate::output::wording;

/// What `rows` say of themselves.
pub(super) fn entries(rows: &[Counted<'_>]) -> Vec<Entry> {
    let entry = |(artifact, counts): &Counted<'_>| Entry {
        errors: counts.errors,
        warnings: counts.warnings,
        ..Entry::of(artifact)
    };
    rows.iter().map(entry).collect()
}

/// The places of the entries that are shown, where `limit` are: what is finished and has no problem is left out first, then what comes last.
pub(super) fn chosen(entries: &[Entry], limit: usize) -> Vec<usize> {
    let is_over =
        |entry: &Entry| entry.condition == Condition::Finished && entry.errors + entry.warnings == 0;
    let mut places: Vec<usize> = (0..entries.len()).collect();
    places.sort_by_key(|place| is_over(&entries[*place]));
    places.truncate(limit);
    places
}

/// A header, the groups with their artifacts, and how many are not shown where `limit` are.
pub(super) fn lines<'a>(
    rows: &[Counted<'_>],
    all: impl Iterator<Item = &'a TrackedArtifact>,
    limit: usize,
) -> Vec<String> {
    let entries = entries(rows);
    let groups = entry_groups(&entries, &epic_titles(all));
    let order: Vec<usize> = groups.iter().flat_map(|group| group.places.iter().copied()).collect();
    let ordered: Vec<Entry> = order.iter().map(|place| entries[*place].clone()).collect();
    let shown: HashSet<usize> = chosen(&ordered, limit).into_iter().map(|at| order[at]).collect();
    let names = short_names(&rows.iter().map(|(artifact, _)| artifact.path()).collect::<Vec<_>>());
    let is_shown = |place: &&usize| shown.contains(place);
    let mut laid = Vec::new();
    for group in &groups {
        let heading = group.name.as_ref().map(|name| Row::Heading(heading(name, group, &entries)));
        let rows = group.places.iter().filter(is_shown).map(|place| Row::Artifact {
            cells: cells(&entries[*place], rows[*place].0, &names[*place]),
            is_inner: group.name.is_some(),
        });
        let rows: Vec<Row> = rows.collect();
        if !rows.is_empty() {
            laid.extend(heading.into_iter().chain(rows));
        }
    }
    let mut lines = lay_out(&laid);
    lines.extend(left_out(&entries, &shown));
    lines
}

/// `Epic 3: Lending (2 of 5 done)`
fn heading(name: &str, group: &EntryGroup, entries: &[Entry]) -> String {
    let is_done = |place: &&usize| entries[**place].condition == Condition::Finished;
    let done = group.places.iter().filter(is_done).count();
    format!("{name} ({done} of {} done)", group.places.len())
}

fn cells(entry: &Entry, artifact: &TrackedArtifact, name: &str) -> [String; 5] {
    let listed = artifact.steps().completed().len();
    let done = match &entry.bar {
        Some(bar) => format!("{}/{}", bar.done, bar.total),
        None if listed > 0 => format!("{listed}/?"),
        None => String::new(),
    };
    let title = entry.title.as_deref().filter(|title| says_more(title, name)).unwrap_or_default();
    let status = match entry.condition {
        Condition::NotImported => "not imported".to_owned(),
        _ => entry.status.clone().unwrap_or_default(),
    };
    let next = match entry.condition {
        Condition::Finished if entry.bar.is_some() => "finished".to_owned(),
        _ => entry.next.clone().unwrap_or_default(),
    };
    let problems = match (entry.errors, entry.warnings) {
        (0, 0) => String::new(),
        (0, warnings) => wording::count(warnings, "warning"),
        (errors, _) => wording::count(errors, "error"),
    };
    [format!("{name}  {title}").trim_end().to_owned(), done, status, next, problems]
}

/// Returns whether a word of `title` stands not in `name`: `Story 1.2: Lend a tool` says no more than `1-2-lend-a-tool`.
fn says_more(title: &str, name: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|character: char| !character.is_alphanumeric());
        words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
    };
    let known = words(name);
    words(title).iter().any(|word| word != "story" && !known.contains(word))
}

/// How many artifacts are not shown.
fn left_out(entries: &[Entry], shown: &HashSet<usize>) -> Option<String> {
    let left = entries.len() - shown.len();
    let is_done =
        |(place, entry): &(usize, &Entry)| entry.condition == Condition::Finished && !shown.contains(place);
    let done = entries.iter().enumerate().filter(is_done).count();
    let of_which = if done == 0 { String::new() } else { format!(" ({done} done)") };
    (left > 0).then(|| format!("and {left} more{of_which}: `stepmark status --all`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_shown_where_it_says_more_than_the_name() {
        for (title, name, expected) in [
            ("Story 1.2: Lend a tool", "1-2-lend-a-tool", false),
            ("PRD", "prd", false),
            ("PRD of the tool shed", "prd", true),
            ("Größe", "1-1-grosse", true),
            ("", "prd", false),
        ] {
            assert_eq!(says_more(title, name), expected, "{title} {name}");
        }
    }
}
