//! Rows of memory, and of the table `tickets`: ledger and plan of every tracker. No tracker is asked.

use std::collections::BTreeMap;

use crate::{
    commands::sharing::sync::SyncContext, environment::Environment, exit::Failure, project::Project,
};
use stepmark_memory::Memory;
use stepmark_store::{
    index::{Brought, TicketRow},
    index_db::{Cell, Row},
};
use stepmark_sync::{
    Error,
    configuration::SyncConfiguration,
    ledger::{Intent, LedgerReader, Link},
    plan::Plan,
    retry::Delivery,
    ticket::Marker,
};

pub(crate) fn ticket_rows(project: &Project, environment: &Environment) -> Result<Vec<TicketRow>, Failure> {
    if SyncConfiguration::of(project.workspace.configuration())?.trackers.is_empty() {
        return Ok(Vec::new());
    }
    let mut rows = Vec::new();
    for context in SyncContext::open_all(project, environment, None, false)? {
        let mut ledger = context.ledger_to_read()?;
        let snapshot = context.snapshot()?;
        let plan = context.plan_over(&snapshot, &mut *ledger, None)?;
        let records = TrackerRecords::read(&*ledger.read()?, &context)?;
        let paths =
            snapshot.artifacts().map(|(marker, facts)| (marker.clone(), facts.path.to_string())).collect();
        rows.extend(records.rows(&plan, &paths));
    }
    Ok(rows)
}

struct TrackerRecords {
    tracker: String,
    links: Vec<Link>,
    intents: Vec<Intent>,
    deliveries: Vec<(Marker, Delivery)>,
}

impl TrackerRecords {
    fn read(ledger: &dyn LedgerReader, context: &SyncContext<'_>) -> Result<Self, Error> {
        let name = &context.settings.name;
        Ok(Self {
            tracker: name.to_string(),
            links: ledger.links(name)?,
            intents: ledger.intents(name)?,
            deliveries: ledger.deliveries(name)?,
        })
    }

    fn rows(&self, plan: &Plan, paths: &BTreeMap<Marker, String>) -> Vec<TicketRow> {
        let mut rows: BTreeMap<&Marker, TicketRow> = BTreeMap::new();
        let new = |marker: &Marker| TicketRow {
            tracker: self.tracker.clone(),
            marker: marker.to_string(),
            artifact: paths.get(marker).cloned(),
            ..TicketRow::default()
        };
        for link in &self.links {
            let row = rows.entry(&link.marker).or_insert_with(|| new(&link.marker));
            row.ticket = Some(link.remote.key.clone());
            row.url = Some(link.remote.url.clone());
            row.linked_at = Some(link.linked_at.to_string());
        }
        for action in &plan.actions {
            let row = rows.entry(&action.marker).or_insert_with(|| new(&action.marker));
            row.artifact = action.path.as_ref().map(ToString::to_string);
            row.action = Some(action.kind.name().to_owned());
            row.differs = action.differences.iter().map(|told| told.field.to_string()).collect();
            if let Some(remote) = &action.remote {
                row.ticket = Some(remote.key.clone());
                row.url = Some(remote.url.clone());
            }
        }
        for (marker, delivery) in &self.deliveries {
            let Some(last) = delivery.last() else { continue };
            let row = rows.entry(marker).or_insert_with(|| new(marker));
            row.delivery = Some(if delivery.until().is_some() { "waiting" } else { "parked" }.to_owned());
            row.reason = Some(format!("{}: {}", last.reason, last.detail));
        }
        for intent in &self.intents {
            let row = rows.entry(&intent.marker).or_insert_with(|| new(&intent.marker));
            row.delivery = Some("in-doubt".to_owned());
        }
        rows.into_values().collect()
    }
}

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
