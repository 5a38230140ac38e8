//! Parts of the text of an artifact: headings, HTML and links. Pure.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// A heading of a text, outside of lists and quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heading {
    pub(super) level: u8,
    pub(super) title: String,
    pub(super) start: usize,
    /// The offset at which the text behind it begins.
    pub(super) end: usize,
}

pub(super) fn headings(markdown: &str) -> Vec<Heading> {
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

/// `html` without comments, and without lines that are one tag; blanks and line ends become one blank.
pub(super) fn text_of(html: &str) -> String {
    let lines = without_comments(html);
    let said = lines.lines().map(str::trim).filter(|line| !is_tag(line));
    said.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

fn is_tag(line: &str) -> bool {
    line.strip_prefix('<')
        .and_then(|rest| rest.strip_suffix('>'))
        .is_some_and(|inner| !inner.contains(['<', '>']))
}

/// A comment that never ends is left out to its end, as browsers do.
fn without_comments(html: &str) -> String {
    let (mut kept, mut rest) = (String::with_capacity(html.len()), html);
    while let Some((before, comment)) = rest.split_once("<!--") {
        kept.push_str(before);
        rest = comment.split_once("-->").map_or("", |(_, after)| after);
    }
    kept + rest
}

/// Parts of an address behind which GitHub and its like name a ticket, a change or a discussion: a link there
/// shows up in it.
const REFERRED: [&str; 6] = ["issues", "pull", "pulls", "discussions", "commit", "merge_requests"];

/// Returns whether `address` leads to a ticket or a change: a tracker would tell that one of ours, and keep
/// telling it.
pub(in crate::ticket) fn refers_to_ticket(address: &str) -> bool {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let mut parts = path.split('/');
    parts.any(|part| REFERRED.iter().any(|own| part.eq_ignore_ascii_case(own)))
        && parts.next().is_some_and(|part| !part.is_empty())
}

pub(in crate::ticket) fn may_be_linked(address: &str) -> bool {
    let is_plain = address.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>\"`\\".contains(&byte));
    let is_web = ["http://", "https://"].iter().any(|scheme| address.starts_with(scheme));
    is_plain && is_web && address.len() <= LONGEST && !refers_to_ticket(address)
}

/// The longest address, in bytes.
const LONGEST: usize = 2000;

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
