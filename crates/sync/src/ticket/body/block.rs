//! The body of a ticket as a document: trackers render it as Markdown or as Jira's document format.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Block {
    Heading(String),
    Paragraph(Vec<Inline>),
    List(Vec<Vec<Inline>>),
    Tasks(Vec<Task>),
    /// Points and tasks of the artifact's text, nested as they are there.
    Outline(Vec<Entry>),
    /// Lines that are shown as they are.
    Code(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The number of points above it.
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
    /// The box of a task that is not.
    ToDo,
}

/// `entries` without gaps in their depth: each stands at most one below the one before it, the first at the
/// top.
pub(crate) fn depths(entries: &[Entry]) -> Vec<usize> {
    let mut deepest = 0;
    let depths = entries.iter().map(|entry| {
        let depth = entry.depth.min(deepest).min(DEEPEST);
        deepest = depth + 1;
        depth
    });
    depths.collect()
}

/// `blocks`, and the number of lines that were left out of them: a block that takes three quarters of `limit`
/// by itself shows its beginning, half of `limit`.
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

/// Cuts a run of text. Returns 1 where something was cut.
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
    /// Text, in which nothing has a meaning.
    Text(String),
    Strong(String),
    Code(String),
    /// A path that leads to a file.
    Link {
        text: String,
        /// The address that it leads to: `http://` or `https://`, percent-encoded.
        url: String,
    },
}

impl Inline {
    pub fn shown(&self) -> &str {
        match self {
            Self::Text(text) | Self::Strong(text) | Self::Code(text) | Self::Link { text, .. } => text,
        }
    }
}
