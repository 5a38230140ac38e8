//! Rows that other crates than the store know: of tickets, and of memory.

use stepmark_memory::Memory;
use stepmark_store::{
    index::Brought,
    index_db::{Cell, Row},
};

use super::tickets::ticket_rows;
use crate::{environment::Environment, exit::Failure, project::Project};

pub(crate) fn brought(
    (tickets, memory): (bool, bool),
    project: &Project,
    environment: &Environment,
) -> Result<Brought, Failure> {
    let mut brought = Brought::default();
    if tickets {
        brought.tickets = ticket_rows(project, environment)?;
    }
    if memory {
        let memory = Memory::open(&project.workspace)?;
        brought.memories = memories(&memory)?;
        let edge = |edge: [String; 5]| edge.map(Cell::Text).to_vec();
        brought.memory_edges = memory.edges()?.into_iter().map(edge).collect();
    }
    Ok(brought)
}

fn memories(memory: &Memory) -> Result<Vec<Row>, Failure> {
    let optional = |text: Option<String>| text.map_or(Cell::Null, Cell::Text);
    let records = memory.records()?.into_iter().map(|record| {
        let later = memory.superseded_by(&record.id)?.join(", ");
        let source = record.source;
        Ok(vec![
            Cell::Text(record.id),
            Cell::Text(record.kind.name().to_owned()),
            Cell::Text(record.content),
            optional(record.rationale),
            optional(source.artifact),
            optional(source.session),
            Cell::Text(source.agent),
            Cell::Text(record.created_at.to_string()),
            optional(record.valid_to.map(|end| end.to_string())),
            optional(Some(later).filter(|later| !later.is_empty())),
        ])
    });
    records.collect()
}
