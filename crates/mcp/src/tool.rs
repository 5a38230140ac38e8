//! A tool as clients see it.

use std::sync::Arc;

use rmcp::model::{Tool as ToolOnTheWire, ToolAnnotations};

use crate::Schema;

/// A tool: its name, a short text for the model, and the form of what goes in and comes out.
#[derive(Clone, Debug)]
pub struct Tool {
    /// The name, unique among all sets of a server.
    pub name: &'static str,
    /// The text by which a model chooses it.
    pub description: &'static str,
    /// The form of the arguments: an object.
    pub input: Schema,
    /// The form of the answer: an object.
    pub output: Schema,
    pub effect: Effect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Reads,
    /// It adds or moves what can be taken back.
    Changes,
    /// The same, and a second call with the same arguments changes nothing more.
    ChangesOnce,
}

impl From<Tool> for ToolOnTheWire {
    fn from(tool: Tool) -> Self {
        let hints = ToolAnnotations::new().open_world(false);
        let hints = match tool.effect {
            Effect::Reads => hints.read_only(true),
            Effect::Changes => hints.read_only(false).destructive(false),
            Effect::ChangesOnce => hints.read_only(false).destructive(false).idempotent(true),
        };
        Self::new(tool.name, tool.description, tool.input.into_map())
            .with_raw_output_schema(Arc::new(tool.output.into_map()))
            .with_annotations(hints)
    }
}
