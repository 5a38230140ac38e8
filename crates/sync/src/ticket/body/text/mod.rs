//! The Markdown of an artifact as blocks, without anything that a tracker would act on. Pure.

mod read;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

pub(super) use read::blocks;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Heading {
    level: u8,
    title: String,
    start: usize,
    end: usize,
}

fn headings(markdown: &str) -> Vec<Heading> {
    let mut found: Vec<Heading> = Vec::new();
    let (mut depth, mut is_open) = (0_usize, false);
    for (event, range) in Parser::new_ext(markdown, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                is_open = true;
                found.push(Heading {
                    level: level as u8,
                    title: String::new(),
                    start: range.start,
                    end: range.end,
                });
            }
            Event::End(TagEnd::Heading(_)) => is_open = false,
            Event::Text(text) | Event::Code(text) if is_open => {
                found.iter_mut().last().into_iter().for_each(|heading| heading.title.push_str(&text));
            }
            Event::Start(Tag::BlockQuote(_) | Tag::List(_)) => depth += 1,
            Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_)) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    found
}

/// Drops comments and lines that are one tag; merges blanks and line ends.
fn text_of(html: &str) -> String {
    let lines = without_comments(html);
    let said = lines.lines().map(str::trim).filter(|line| !is_tag(line));
    said.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

fn is_tag(line: &str) -> bool {
    line.strip_prefix('<')
        .and_then(|rest| rest.strip_suffix('>'))
        .is_some_and(|inner| !inner.contains(['<', '>']))
}

/// An unclosed comment runs to the end, as in browsers.
fn without_comments(html: &str) -> String {
    let (mut kept, mut rest) = (String::with_capacity(html.len()), html);
    while let Some((before, comment)) = rest.split_once("<!--") {
        kept.push_str(before);
        rest = comment.split_once("-->").map_or("", |(_, after)| after);
    }
    kept + rest
}

/// A link to one of these shows up in the ticket that it leads to.
const REFERRED: [&str; 6] = ["issues", "pull", "pulls", "discussions", "commit", "merge_requests"];

/// Trackers list such links in that ticket.
pub(super) fn refers_to_ticket(address: &str) -> bool {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let mut parts = path.split('/');
    parts.any(|part| REFERRED.iter().any(|own| part.eq_ignore_ascii_case(own)))
        && parts.next().is_some_and(|part| !part.is_empty())
}

pub(super) fn may_be_linked(address: &str) -> bool {
    let is_plain = address.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>\"`\\".contains(&byte));
    let is_web = ["http://", "https://"].iter().any(|scheme| address.starts_with(scheme));
    is_plain && is_web && address.len() <= LONGEST && !refers_to_ticket(address)
}

const LONGEST: usize = 2000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextSection<'t> {
    pub(in crate::ticket) markdown: &'t str,
}

/// To the next heading of its level or above; also returns its heading.
pub(super) fn section(markdown: &str, is_wanted: impl Fn(&str) -> bool) -> Option<(String, TextSection<'_>)> {
    let all = headings(markdown);
    let is_section = |heading: &Heading| title(&all).is_none_or(|title| title != heading);
    let at = all.iter().position(|heading| is_section(heading) && is_wanted(&heading.title))?;
    let own = &all[at];
    let end =
        all[at + 1..].iter().find(|next| next.level <= own.level).map_or(markdown.len(), |next| next.start);
    let text = markdown.get(own.end..end).unwrap_or_default();
    Some((own.title.clone(), TextSection { markdown: text }))
}

/// Text before the first section, without the title and the status line.
pub(super) fn opening(markdown: &str) -> TextSection<'_> {
    let all = headings(markdown);
    let begin = title(&all).map_or(0, |title| title.end);
    let end =
        all.iter().find(|heading| heading.start >= begin).map_or(markdown.len(), |heading| heading.start);
    TextSection { markdown: without_status(markdown.get(begin..end).unwrap_or_default()) }
}

pub(super) fn whole(markdown: &str) -> TextSection<'_> {
    let begin = title(&headings(markdown)).map_or(0, |title| title.end);
    TextSection { markdown: without_status(markdown.get(begin..).unwrap_or_default()) }
}

/// As in BMAD's story files and specs.
pub(super) fn is_story(title: &str) -> bool {
    ["story", "user story", "story statement", "intent"].contains(&words(title).as_str())
}

pub(super) fn is_acceptance(title: &str) -> bool {
    begins(title, "acceptance criteria")
        || begins(title, "acceptance criterion")
        || words(title) == "acceptance"
}

/// `Tasks / Subtasks`, `Tasks & Acceptance`.
pub(super) fn is_tasks(title: &str) -> bool {
    begins(title, "tasks")
}

pub(super) fn is_same_title(one: &str, other: &str) -> bool {
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

/// Drops a first line `Status: …`: the ticket has a status.
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

    #[test]
    fn code_lists_and_quotes_have_no_headings() {
        let text = "# One `a`\ntext\n\n```\n# no\n```\n> ## no\n\n- ## no\n\nTwo\n---\nend\n";
        let found: Vec<_> = headings(text).into_iter().map(|own| (own.level, own.title)).collect();
        assert_eq!(found, [(1, "One a".to_owned()), (2, "Two".to_owned())]);
    }

    #[test]
    fn tags_and_comments_say_nothing() {
        for (html, expected) in [
            ("<frozen reason=\"x\">\ntext one\n two\n</frozen>", "text one two"),
            ("<!-- a\n--> b <!-- c", "b"),
            ("<b>bold</b>", "<b>bold</b>"),
            ("<br>", ""),
        ] {
            assert_eq!(text_of(html), expected, "{html}");
        }
    }

    #[test]
    fn tickets_of_others_are_not_linked() {
        for (address, expected) in [
            ("https://example.org/a?b#c", true),
            ("https://github.com/o/r", true),
            ("https://github.com/o/r/issues", true),
            ("https://github.com/o/r/issues/12#issuecomment-1", false),
            ("https://github.com/o/r/Pull/12", false),
            ("https://github.com/o/r/commit/abc", false),
            ("javascript:alert(1)", false),
            ("../b.md", false),
            ("https://example.org/a b", false),
            ("https://example.org/>", false),
        ] {
            assert_eq!(may_be_linked(address), expected, "{address}");
        }
    }
}

#[cfg(test)]
mod sections_tests {
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
