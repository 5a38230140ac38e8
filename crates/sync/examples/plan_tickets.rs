//! What would be done to the tickets of a project, as JSON: a pure function of artifacts, configuration and
//! what is remembered. No tracker is asked, and nothing is written.
//!
//! `cargo run -p stepmark-sync --example plan_tickets -- PROJECT`

use std::{env, error::Error, path::Path};

use stepmark_store::workspace::Workspace;
use stepmark_sync::{
    configuration::SyncConfiguration,
    ledger::{Ledger as _, SqliteLedger},
    plan::{Plan, PlanInputs},
    ticket::Snapshot,
};

/// A tracker that writes tickets into a file; a project's own configuration would name another.
const TRACKERS: &str = "trackers: {file: {path: out/tickets.jsonl}}\n";

fn main() -> Result<(), Box<dyn Error>> {
    let root = env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let plan = plan(&root)?;
    report(&serde_json::to_string_pretty(&plan)?);
    Ok(())
}

/// Returns what an empty tracker would need for the artifacts of the project.
fn plan(root: &str) -> Result<Plan, Box<dyn Error>> {
    let workspace = Workspace::open(root)?;
    let snapshot = Snapshot::of("example", &workspace.checks().summaries()?);
    let configuration = SyncConfiguration::read(Path::new("example"), TRACKERS.as_bytes())?;
    let Some(settings) = configuration.as_ref().and_then(|known| known.trackers.first()) else {
        return Err("no tracker is configured".into());
    };
    let mut ledger = SqliteLedger::in_memory()?;
    let reader = ledger.read()?;
    Ok(Plan::make(&PlanInputs { snapshot: &snapshot, settings, ledger: &*reader, survey: None })?)
}

#[expect(clippy::print_stdout, reason = "an example shows what it found")]
fn report(text: &str) {
    println!("{text}");
}

#[test]
fn an_artifact_without_an_id_gets_no_ticket() {
    let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/repos/demo");
    let plan = plan(demo).unwrap();
    let planned: Vec<_> = plan.actions.iter().map(|action| action.marker.to_string()).collect();
    assert_eq!(planned.len(), 1, "{planned:?}");
    assert!(!plan.remarks.is_empty(), "{plan:#?}");
}
