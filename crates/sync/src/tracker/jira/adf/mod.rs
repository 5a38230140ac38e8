//! Bodies in Atlassian's document format (ADF), in which Jira keeps descriptions. Pure.
//!
//! What is ours stands in one panel at the top of the description, whose last line names the marker: a person
//! sees where stepmark writes, and writes elsewhere. All other nodes are kept as they are, of whatever kind.

mod render;
mod normal_form;
mod section;

pub(super) use section::{Description, Section};

pub(super) fn paragraph_document(text: &str) -> serde_json::Value {
    section::document(vec![section::paragraph(&[crate::ticket::Inline::Text(text.to_owned())])])
}
