//! A tool as clients see it.

use std::sync::Arc;

use rmcp::model::{Tool as ToolOnTheWire, ToolAnnotations};

use crate::Schema;

#[derive(Clone, Debug)]
pub struct Tool {
    /// Unique among all sets of a server.
    pub name: &'static str,
    /// The model chooses tools by it.
    pub description: &'static str,
    pub input: Schema,
    pub output: Schema,
    pub effect: Effect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Reads,
    /// Reversible.
    Changes,
    /// Reversible and idempotent.
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
