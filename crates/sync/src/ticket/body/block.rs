//! The body of a ticket as a document: trackers render it as Markdown or as Jira's document format.

use std::str::FromStr;

use super::text::blocks;
use crate::{
    Error, Result,
    scalar::deserialize_as_scalar,
    ticket::{Placeholder, Section, Template, title::percent_encoded},
};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Block {
    Heading(String),
    Paragraph(Vec<Inline>),
    List(Vec<Vec<Inline>>),
    Tasks(Vec<Task>),
    Outline(Vec<Entry>),
    Code(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub depth: usize,
    pub mark: Mark,
    pub text: Vec<Inline>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    Point,
    Number(u64),
    Done,
    ToDo,
}

/// Each at most one below the one before it, the first at the top.
pub(crate) fn depths(entries: &[Entry]) -> Vec<usize> {
    let mut deepest = 0;
    let depths = entries.iter().map(|entry| {
        let depth = entry.depth.min(deepest).min(DEEPEST);
        deepest = depth + 1;
        depth
    });
    depths.collect()
}

/// Also the number of lines left out: a block that takes three quarters of `limit` by itself is cut to half
/// of `limit`.
pub(crate) fn shortened(blocks: &[Block], limit: usize) -> (Vec<Block>, usize) {
    let (mut shortened, mut omitted, most) = (blocks.to_vec(), 0, limit / 2);
    for block in &mut shortened {
        match block {
            Block::Heading(text) => omitted += shorten(text, most),
            Block::Code(text) => {
                let lines = text.lines().count();
                if shorten(text, most) > 0 {
                    text.truncate(text.rfind('\n').unwrap_or(text.len()));
                    omitted += lines - text.lines().count().min(lines - 1);
                }
            }
            Block::Paragraph(inlines) => omitted += shorten_all(inlines, most),
            Block::List(points) => {
                omitted += points.iter_mut().map(|own| shorten_all(own, most)).sum::<usize>()
            }
            Block::Tasks(tasks) => {
                omitted += tasks.iter_mut().map(|task| shorten_all(&mut task.text, most)).sum::<usize>();
            }
            Block::Outline(entries) => {
                omitted += entries.iter_mut().map(|entry| shorten_all(&mut entry.text, most)).sum::<usize>();
            }
        }
    }
    (shortened, omitted)
}

fn shorten_all(inlines: &mut Vec<Inline>, most: usize) -> usize {
    if inlines.iter().map(|inline| inline.shown().len()).sum::<usize>() <= most + most / 2 {
        return 0;
    }
    let mut room = most;
    for at in 0..inlines.len() {
        let length = inlines[at].shown().len();
        if length > room {
            let (Inline::Text(text) | Inline::Strong(text) | Inline::Code(text) | Inline::Link { text, .. }) =
                &mut inlines[at];
            *text = format!("{}…", &text[..text.floor_char_boundary(room)]);
            inlines.truncate(at + 1);
            return 1;
        }
        room -= length;
    }
    0
}

fn shorten(text: &mut String, most: usize) -> usize {
    if text.len() <= most + most / 2 {
        return 0;
    }
    text.truncate(text.floor_char_boundary(most));
    text.push('…');
    1
}

const DEEPEST: usize = 8;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    pub done: bool,
    pub text: Vec<Inline>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Inline {
    Text(String),
    Strong(String),
    Code(String),
    Link { text: String, url: String },
}

impl Inline {
    pub fn shown(&self) -> &str {
        match self {
            Self::Text(text) | Self::Strong(text) | Self::Code(text) | Self::Link { text, .. } => text,
        }
    }
}

/// Markdown in which `{name}` is a fact of the artifact or, alone in a paragraph, a section of its ticket
/// without its heading. Values are text: no Markdown in them counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyTemplate(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Section(Section),
    Block(Block),
}

impl BodyTemplate {
    pub(super) fn fill(
        &self,
        fact: impl Fn(Placeholder) -> Option<String>,
        section: impl Fn(&Section) -> Vec<Block>,
    ) -> Vec<Block> {
        let filled = self.0.iter().flat_map(|part| match part {
            Part::Section(own) => section(own),
            Part::Block(block) => filled_block(block, &fact).into_iter().collect(),
        });
        filled.collect()
    }
}

type Fact<'f> = &'f dyn Fn(Placeholder) -> Option<String>;

fn filled_block(block: &Block, fact: Fact<'_>) -> Option<Block> {
    Some(match block {
        Block::Heading(text) => Block::Heading(filled(text, fact)?),
        Block::Paragraph(inlines) => Block::Paragraph(filled_inlines(inlines, fact)?),
        Block::Code(text) => Block::Code(filled(text, fact)?),
        Block::Outline(entries) => {
            let kept = entries.iter().filter_map(|entry| {
                Some(super::Entry { text: filled_inlines(&entry.text, fact)?, ..entry.clone() })
            });
            Block::Outline(kept.collect())
        }
        // A text is never read as one of these.
        Block::List(_) | Block::Tasks(_) => block.clone(),
    })
}

fn filled_inlines(inlines: &[Inline], fact: Fact<'_>) -> Option<Vec<Inline>> {
    let filled_inline = |inline: &Inline| {
        Some(match inline {
            Inline::Text(text) => Inline::Text(filled(text, fact)?),
            Inline::Strong(text) => Inline::Strong(filled(text, fact)?),
            Inline::Code(text) => Inline::Code(filled(text, fact)?),
            Inline::Link { text, url } => Inline::Link {
                text: filled(text, fact)?,
                url: filled(url, &|place| fact(place).map(|value| percent_encoded(&value)))?,
            },
        })
    };
    inlines.iter().map(filled_inline).collect()
}

fn filled(text: &str, fact: Fact<'_>) -> Option<String> {
    // It was read before.
    text.parse::<Template>().ok()?.fill(fact)
}

impl FromStr for BodyTemplate {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parts = blocks(text, 6).into_iter().map(|block| {
            if let Some(section) = section_named(&block) {
                return Ok(Part::Section(section));
            }
            texts(&block).into_iter().try_for_each(check)?;
            Ok(Part::Block(block))
        });
        parts.collect::<Result<_, _>>().map(Self)
    }
}

fn section_named(block: &Block) -> Option<Section> {
    let Block::Paragraph(inlines) = block else { return None };
    let [Inline::Text(text)] = inlines.as_slice() else { return None };
    let name = text.strip_prefix('{')?.strip_suffix('}')?.trim();
    let is_fact = Placeholder::from_str(name).is_ok();
    Section::from_str(name).ok().filter(|_| !is_fact)
}

fn texts(block: &Block) -> Vec<&str> {
    match block {
        Block::Heading(text) | Block::Code(text) => vec![text],
        Block::Paragraph(inlines) => of(inlines),
        Block::Outline(entries) => entries.iter().flat_map(|entry| of(&entry.text)).collect(),
        Block::List(_) | Block::Tasks(_) => Vec::new(),
    }
}

fn of(inlines: &[Inline]) -> Vec<&str> {
    let texts = inlines.iter().flat_map(|inline| match inline {
        Inline::Link { text, url } => vec![text.as_str(), url.as_str()],
        other => vec![other.shown()],
    });
    texts.collect()
}

fn check(text: &str) -> Result<()> {
    Template::read(text).map(drop).map_err(|reason| {
        let names = Section::NAMED.iter().filter(|(name, _)| Placeholder::from_str(name).is_err());
        let names: Vec<String> = names.map(|(name, _)| format!("`{{{name}}}`")).collect();
        let names = names.join(", ");
        Template::unusable(
            text,
            &format!("{reason}; in a paragraph of its own also {names}, and `{{# Heading}}`"),
        )
    })
}

deserialize_as_scalar!(BodyTemplate);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ticket::markdown;

    fn shown(template: &str) -> String {
        let template: BodyTemplate = template.parse().unwrap();
        let fact = |place| match place {
            Placeholder::Title => Some("A *b* @ada".to_owned()),
            Placeholder::Path => Some("docs/a b.md".to_owned()),
            Placeholder::Status => Some("done".to_owned()),
            _ => None,
        };
        let section = |section: &Section| vec![Block::Code(format!("{section:?}"))];
        markdown(&template.fill(fact, section), &Inline::Code("a.md".to_owned()), 1000).text
    }

    #[test]
    fn places_are_filled_as_text() {
        for (template, expected) in [
            (
                "## Why\n\n{story}\n\n{ # Dev Notes }",
                "### Why\n\n```\nStory\n```\n\n```\nHeading(\"Dev Notes\")\n```",
            ),
            ("**{title}** is `{status}`", "**A \\*b\\* @\u{200B}ada** is `done`"),
            ("{status}", "done"),
            ("- {status}\n- {scope}\n- x", "- done\n- x"),
            ("[it](https://h/{path})", "[it](<https://h/docs/a%20b.md>)"),
            ("Scope: {scope}\n\n{{status}}", "{status}"),
            ("", ""),
        ] {
            assert_eq!(shown(template), expected, "{template}");
        }
    }

    #[test]
    fn unknown_places_are_named() {
        for (template, reason) in [
            ("It is {statsu}", "`{statsu}` stands for nothing"),
            ("{storey}", "`{storey}` stands for nothing"),
            ("Of {story}", "in a paragraph of its own also `{progress}`, `{story}`"),
            ("- [ ] {x}", "`{x}`"),
            ("[a](https://h/{x})", "`{x}`"),
        ] {
            let error = template.parse::<BodyTemplate>().unwrap_err().to_string();
            assert!(error.contains(reason), "{template}: {error}");
        }
    }
}
