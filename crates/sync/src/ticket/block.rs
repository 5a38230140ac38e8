//! The body of a ticket as a document: trackers render it as Markdown or as Jira's document format.

use serde::{Deserialize, Serialize};

/// One block of a body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Block {
    /// A heading below the ticket's title.
    Heading(String),
    /// A paragraph.
    Paragraph(Vec<Inline>),
    /// A list of points.
    List(Vec<Vec<Inline>>),
    /// A list of tasks.
    Tasks(Vec<Task>),
}

/// One task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Whether it is done.
    pub done: bool,
    /// What it is.
    pub text: Vec<Inline>,
}

/// A run of text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Inline {
    /// Text, in which nothing has a meaning.
    Text(String),
    /// The name of a field.
    Strong(String),
    /// A name or a path.
    Code(String),
    /// A path that leads to a file.
    Link {
        /// What is shown.
        text: String,
        /// Where it leads: `http://` or `https://`, percent-encoded.
        url: String,
    },
}

impl Inline {
    /// The text that is shown.
    pub fn shown(&self) -> &str {
        match self {
            Self::Text(text) | Self::Strong(text) | Self::Code(text) | Self::Link { text, .. } => text,
        }
    }
}
