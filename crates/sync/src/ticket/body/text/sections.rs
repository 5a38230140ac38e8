//! Parts of the text of an artifact.

use super::headings::{Heading, headings};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ticket) struct TextSection<'t> {
    /// Its content, as Markdown, without its heading.
    pub(in crate::ticket) markdown: &'t str,
}

/// The first section whose heading `is_wanted`, to the next heading of its level or above, and that heading.
pub(in crate::ticket) fn section(
    markdown: &str,
    is_wanted: impl Fn(&str) -> bool,
) -> Option<(String, TextSection<'_>)> {
    let all = headings(markdown);
    let is_section = |heading: &Heading| title(&all).is_none_or(|title| title != heading);
    let at = all.iter().position(|heading| is_section(heading) && is_wanted(&heading.title))?;
    let own = &all[at];
    let end =
        all[at + 1..].iter().find(|next| next.level <= own.level).map_or(markdown.len(), |next| next.start);
    let text = markdown.get(own.end..end).unwrap_or_default();
    Some((own.title.clone(), TextSection { markdown: text }))
}

/// Returns what stands before the first section: behind the title, and behind the line of the status.
pub(in crate::ticket) fn opening(markdown: &str) -> TextSection<'_> {
    let all = headings(markdown);
    let begin = title(&all).map_or(0, |title| title.end);
    let end =
        all.iter().find(|heading| heading.start >= begin).map_or(markdown.len(), |heading| heading.start);
    TextSection { markdown: without_status(markdown.get(begin..end).unwrap_or_default()) }
}

pub(in crate::ticket) fn whole(markdown: &str) -> TextSection<'_> {
    let begin = title(&headings(markdown)).map_or(0, |title| title.end);
    TextSection { markdown: without_status(markdown.get(begin..).unwrap_or_default()) }
}

/// Returns whether a heading is that of the story itself (BMAD's story files and specs).
pub(in crate::ticket) fn is_story(title: &str) -> bool {
    ["story", "user story", "story statement", "intent"].contains(&words(title).as_str())
}

pub(in crate::ticket) fn is_acceptance(title: &str) -> bool {
    begins(title, "acceptance criteria")
        || begins(title, "acceptance criterion")
        || words(title) == "acceptance"
}

/// Returns whether a heading is that of the tasks: `Tasks / Subtasks`, `Tasks & Acceptance`.
pub(in crate::ticket) fn is_tasks(title: &str) -> bool {
    begins(title, "tasks")
}

pub(in crate::ticket) fn is_same_title(one: &str, other: &str) -> bool {
    words(one) == words(other)
}

fn begins(title: &str, with: &str) -> bool {
    words(title).strip_prefix(with).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

fn words(title: &str) -> String {
    let words = title.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

fn title(headings: &[Heading]) -> Option<&Heading> {
    headings.first().filter(|first| first.level == 1)
}

/// `markdown` without a line `Status: …` at its beginning: the ticket tells the status by itself.
fn without_status(markdown: &str) -> &str {
    let text = markdown.trim_start();
    let is_status = text.trim_start_matches('*').starts_with("Status:");
    match text.split_once('\n') {
        _ if !is_status => text,
        Some((_, rest)) => rest,
        None => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STORY: &str = "# Story 1.1: A\n\nStatus: review\n\nAs a b.\n\n## Acceptance Criteria\n\n1. One\n\n### More\n\n2. Two\n\n## Dev\n\nx\n";

    #[test]
    fn a_section_ends_with_the_next_of_its_level() {
        let wanted = |title: &str| title == "Acceptance Criteria";
        let (title, own) = section(STORY, wanted).unwrap();
        assert_eq!(title, "Acceptance Criteria");
        assert_eq!(own.markdown.trim(), "1. One\n\n### More\n\n2. Two");
        assert!(section(STORY, |title| title == "No").is_none());
    }

    #[test]
    fn sections_are_known_by_their_headings() {
        assert!(is_story("Story") && is_story("User Story:") && !is_story("Story 1.1: A"));
        assert!(is_acceptance("Acceptance Criteria (BDD)") && !is_acceptance("Acceptance tests"));
        assert!(is_tasks("Tasks / Subtasks") && is_tasks("Tasks & Acceptance") && !is_tasks("Taskslist"));
        assert!(is_same_title("Dev Notes", "dev notes:") && !is_same_title("Dev", "Dev notes"));
        let (title, _) = section("# Tasks\n\n## Tasks\n\nx", is_tasks).unwrap();
        assert_eq!(title, "Tasks");
    }

    #[test]
    fn titles_and_statuses_are_told_elsewhere() {
        assert_eq!(opening(STORY).markdown.trim(), "As a b.");
        assert_eq!(opening("**Status:** done\nAs a b.\n## C").markdown, "As a b.\n");
        assert_eq!(opening("text").markdown, "text");
        assert_eq!(opening("# A\nStatus: done").markdown, "");
        assert!(whole(STORY).markdown.trim().starts_with("As a b.\n\n## Acceptance"));
    }
}
