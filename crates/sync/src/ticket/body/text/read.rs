//! Reads Markdown as blocks.

use std::mem;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::{may_be_linked, text_of};
use stepmark_model::artifact::with_plain_boxes;

use crate::ticket::{Block, Entry, Inline, Mark};

/// Headings below `level` become strong lines; images become their description, HTML its text. Links to
/// tickets, and ones that lead nowhere from a ticket, become their text.
pub(in crate::ticket) fn blocks(markdown: &str, level: u8) -> Vec<Block> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS;
    let mut reader = Reader { level, ..Reader::default() };
    for event in Parser::new_ext(&with_plain_boxes(markdown), options) {
        reader.read(event);
    }
    reader.flush();
    reader.blocks
}

#[derive(Default)]
struct Reader {
    level: u8,
    blocks: Vec<Block>,
    inlines: Vec<Inline>,
    lists: Vec<Option<u64>>,
    items: Vec<Item>,
    /// Open links: target, and begin of the text in `inlines`.
    links: Vec<(String, usize)>,
    cells: Vec<Vec<Inline>>,
    strong: usize,
    is_apart: bool,
    raw: Option<String>,
}

struct Item {
    mark: Mark,
    has_text: bool,
}

impl Reader {
    fn read(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.begin(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Html(text) => match &mut self.raw {
                Some(raw) => raw.push_str(&text),
                None => self.push(&text),
            },
            Event::Code(text) => self.inlines.push(Inline::Code(text.into_string())),
            Event::InlineHtml(html) if html.starts_with("<!--") => {}
            Event::InlineHtml(html) => match text_of(&html).as_str() {
                // Mostly it is no tag, but what a type or a place to fill in is called.
                "" if !html.starts_with("<br") => self.push(&html),
                "" => self.push(" "),
                text => self.push(text),
            },
            Event::SoftBreak | Event::HardBreak => self.push(" "),
            Event::TaskListMarker(is_done) => {
                let mark = if is_done { Mark::Done } else { Mark::ToDo };
                self.items.last_mut().into_iter().for_each(|item| item.mark = mark);
            }
            _ => {}
        }
    }

    fn begin(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::List(first) => {
                self.flush();
                self.is_apart |= self.lists.is_empty();
                self.lists.push(first);
            }
            Tag::Item => {
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        let own = *number;
                        *number = number.saturating_add(1);
                        Mark::Number(own)
                    }
                    _ => Mark::Point,
                };
                self.items.push(Item { mark, has_text: false });
            }
            Tag::CodeBlock(_) | Tag::HtmlBlock => {
                self.flush();
                self.raw = Some(String::new());
            }
            Tag::Table(_) => {
                self.flush();
                self.is_apart |= self.items.is_empty();
            }
            Tag::Strong => self.strong += 1,
            Tag::Link { dest_url, .. } => self.links.push((dest_url.into_string(), self.inlines.len())),
            Tag::Image { .. } => self.push("[image: "),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.flush(),
            TagEnd::Heading(level) => {
                let title: String = mem::take(&mut self.inlines).iter().map(Inline::shown).collect();
                let is_own = level as u8 <= self.level && self.items.is_empty();
                self.blocks.push(match is_own {
                    true => Block::Heading(title),
                    false => Block::Paragraph(vec![Inline::Strong(title)]),
                });
            }
            TagEnd::Item => {
                self.flush();
                self.items.pop();
            }
            TagEnd::List(_) => drop(self.lists.pop()),
            TagEnd::CodeBlock => {
                let code = self.raw.take().unwrap_or_default();
                self.blocks.push(Block::Code(code.trim_end().to_owned()));
            }
            TagEnd::HtmlBlock => {
                let text = text_of(&self.raw.take().unwrap_or_default());
                self.push(&text);
                self.flush();
            }
            TagEnd::TableCell => self.cells.push(mem::take(&mut self.inlines)),
            TagEnd::TableHead => self.row(Inline::Strong),
            TagEnd::TableRow => self.row(Inline::Text),
            TagEnd::Strong => self.strong = self.strong.saturating_sub(1),
            TagEnd::Link => self.end_link(),
            TagEnd::Image => self.push("]"),
            _ => {}
        }
    }

    fn end_link(&mut self) {
        let Some((url, start)) = self.links.pop() else { return };
        if may_be_linked(&url) && start < self.inlines.len() {
            let text: String = self.inlines.drain(start..).map(|inline| inline.shown().to_owned()).collect();
            self.inlines.push(Inline::Link { text, url });
        }
    }

    fn push(&mut self, text: &str) {
        let is_strong = self.strong > 0;
        // Where a link begins, so does another run of text.
        let begins = self.links.iter().any(|(_, start)| *start == self.inlines.len());
        match self.inlines.last_mut().filter(|_| !begins) {
            Some(Inline::Strong(last)) if is_strong => last.push_str(text),
            Some(Inline::Text(last)) if !is_strong => last.push_str(text),
            _ if is_strong => self.inlines.push(Inline::Strong(text.to_owned())),
            _ => self.inlines.push(Inline::Text(text.to_owned())),
        }
    }

    fn row(&mut self, of: fn(String) -> Inline) {
        let mut text = Vec::new();
        for (at, cell) in mem::take(&mut self.cells).into_iter().enumerate() {
            if at > 0 {
                text.push(Inline::Text(" · ".to_owned()));
            }
            text.extend(cell.into_iter().map(|inline| match inline {
                Inline::Text(text) => of(text),
                other => other,
            }));
        }
        self.entry(Entry { depth: self.items.len(), mark: Mark::Point, text });
    }

    fn flush(&mut self) {
        let text = trimmed(mem::take(&mut self.inlines));
        if text.iter().all(|inline| inline.shown().trim().is_empty()) {
            return;
        }
        let depth = self.items.len();
        let entry = match self.items.last_mut() {
            None => return self.blocks.push(Block::Paragraph(text)),
            Some(item) if item.has_text => Entry { depth, mark: Mark::Point, text },
            Some(item) => {
                item.has_text = true;
                Entry { depth: depth - 1, mark: item.mark, text }
            }
        };
        self.entry(entry);
    }

    fn entry(&mut self, entry: Entry) {
        match self.blocks.last_mut() {
            Some(Block::Outline(entries)) if !self.is_apart => entries.push(entry),
            _ => self.blocks.push(Block::Outline(vec![entry])),
        }
        self.is_apart = false;
    }
}

fn trimmed(mut text: Vec<Inline>) -> Vec<Inline> {
    if let Some(Inline::Text(first)) = text.first_mut() {
        *first = first.trim_start().to_owned();
    }
    if let Some(Inline::Text(last)) = text.last_mut() {
        last.truncate(last.trim_end().len());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ticket::markdown;

    fn shown(text: &str) -> String {
        markdown(&blocks(text, 2), &Inline::Code("a.md".to_owned()), 10_000).text
    }

    #[test]
    fn what_it_says_stays() {
        for (text, expected) in [
            ("**As a** user,\n**I want** x", "**As a** user, **I want** x"),
            ("a `b` *c* __d__", "a `b` c **d**"),
            ("## Two\n\n### Three\n\ntext", "### Two\n\n**Three**\n\ntext"),
            ("- [ ] a (AC: #1)\n  - [x] b\n- [ ] c", "- [ ] a (AC: #\u{200B}1)\n    - [x] b\n- [ ] c"),
            ("1. a\n   - b\n\n   more\n2. c", "1. a\n    - b\n    - more\n2. c"),
            ("- a\n- b\n\ntext\n\n- c", "- a\n- b\n\ntext\n\n- c"),
            ("@[ada](b.md) @*ada*", "@\u{200B}ada @\u{200B}ada"),
            ("[a](https://h/x) [b](b.md)", "[a](<https://h/x>) b"),
            ("![a](https://h/x.png)", "\\[image: a\\]"),
            ("> quoted", "quoted"),
            ("| a | b |\n|---|---|\n| 1 | `2` |", "- **a** · **b**\n- 1 · `2`"),
            ("```rust\nlet a = 1;\n```", "```\nlet a = 1;\n```"),
            ("Vec<T> and <!-- hidden --> x<br/>y", "Vec\\<T\\> and  x y"),
            ("<frozen>\ntext\n</frozen>", "text"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn nobody_is_called_and_nothing_closed() {
        let text = "Fixes #12, closes GH-12, gh-13 and o/r#14 by @ada and @o/team, see https://github.com/o/r/issues/15, \
                    www.github.com/o/r/pull/16, [here](https://github.com/o/r/issues/17) and <https://github.com/o/r/issues/18>; \
                    &#64;ada [@ada](https://h/x)\n\n- @ada\n\n## @ada #12\n\n**@ada** `@ada`\n\n| @ada |\n|---|\n| #12 |\n";
        let text = shown(text);
        let outside = text.replace("`@ada`", "");
        for called in ["#12", "GH-12", "gh-13", "#14", "@ada", "@o", "https://github.com", "www.g"] {
            assert!(!outside.contains(called), "{called}: {outside}");
        }
        assert!(
            outside.contains("closes GH-\u{200B}12")
                && outside.contains("https:\u{200B}//github.com/o/r/issues/15"),
            "{outside}"
        );
    }

    proptest::proptest! {
        /// Nothing in a text ends the managed section, begins another or calls somebody, whatever stands
        /// around it.
        #[test]
        fn no_text_breaks_out(words in "([ >`*_#~|-]{0,3}(<!-- stepmark:(end|begin v1 p/id:b) -->|@ada|#12|GH-12|x|[0-9]\\.|```|\\[x\\]|\n| ){1,2}){1,20}") {
            let text = shown(&words);
            proptest::prop_assert!(!text.lines().any(|line| line.trim().starts_with("<!-- stepmark:")), "{}", text);
        }
    }
}
