//! Where the sections of a text begin.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// A heading of a text, outside of lists and quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heading {
    /// 1 to 6.
    pub(super) level: u8,
    /// What it says.
    pub(super) title: String,
    /// Where its line begins.
    pub(super) start: usize,
    /// Where the text behind it begins.
    pub(super) end: usize,
}

/// The headings of `markdown`, in their order.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_lists_and_quotes_have_no_headings() {
        let text = "# One `a`\ntext\n\n```\n# no\n```\n> ## no\n\n- ## no\n\nTwo\n---\nend\n";
        let found: Vec<_> = headings(text).into_iter().map(|own| (own.level, own.title)).collect();
        assert_eq!(found, [(1, "One a".to_owned()), (2, "Two".to_owned())]);
    }
}
