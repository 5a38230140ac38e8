//! `stepmark sync` where nothing is to be done, beside `status`, which lists the same artifacts.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use stepmark_store::{disk::StateFolder, workspace::Workspace};
use stepmark_sync::{
    configuration::SyncConfiguration,
    ledger::{LEDGER_FILE, Ledger as _, SqliteLedger},
    plan::{Plan, PlanInputs},
    ticket::Snapshot,
};

use crate::{
    failure::Failure,
    process,
    report::{self, Target},
    timing::{Contender, alternate},
    tools::Tools,
};

/// A tracker that is a file: whatever a tracker takes by itself is left out.
const CONFIGURATION: &str = "project_id: bench\ntrackers:\n  file:\n    path: tickets.jsonl\n";

/// Projects everything once, then measures and prints.
pub(crate) fn measure(tools: &Tools, folder: &Path, rounds: usize) -> Result<(), Failure> {
    let place = folder.join(".stepmark/config.yaml");
    fs::write(&place, CONFIGURATION).map_err(Failure::file("write", &place))?;
    give_ids(tools, folder)?;
    let run = |arguments: &[&str]| -> Result<Duration, Failure> {
        process::time(&mut tools.stepmark(folder, &[arguments, &["--quiet"]].concat()))
    };
    let first = run(&["sync", "apply"])?;
    let series = alternate(
        rounds,
        vec![
            Contender::new("sync apply, nothing to do", || run(&["sync", "apply"])),
            Contender::new("sync plan, nothing to do", || run(&["sync", "plan"])),
            Contender::new("status", || run(&["status"])),
        ],
    )?;
    report::title("sync where nothing is to be done");
    println!("  the first sync, with a tracker that is a file: {:.2} s", first.as_secs_f64());
    series[1..].iter().for_each(|series| report::time(series, None));
    report::slower(&series[0], &series[2], Target::AtMost(1.5));
    report::slower(&series[1], &series[2], Target::AtMost(1.5));
    plan(folder, rounds)
}

/// The part of it that is planning: inside this process, by its parts.
fn plan(folder: &Path, rounds: usize) -> Result<(), Failure> {
    let failed = |intent: &'static str, error: &dyn std::error::Error| Failure::Process {
        command: intent.to_owned(),
        reason: error.to_string(),
    };
    let workspace = Workspace::open(folder).map_err(|error| failed("open the project", &error))?;
    let configuration = SyncConfiguration::of(workspace.configuration())
        .map_err(|error| failed("read the configuration", &error))?;
    let [settings] = &configuration.trackers[..] else { return Ok(()) };
    let place = workspace.root().state().path(StateFolder::Sync).join(LEDGER_FILE);
    let mut ledger = SqliteLedger::open(&place).map_err(|error| failed("open the ledger", &error))?;
    let (mut taken, mut planned) = (Vec::new(), Vec::new());
    let mut unchanged = 0;
    for _ in 0..rounds {
        let started = Instant::now();
        let summaries =
            workspace.checks().summaries().map_err(|error| failed("list the artifacts", &error))?;
        let snapshot = Snapshot::of("bench", &summaries);
        taken.push(started.elapsed());
        let started = Instant::now();
        let reader = ledger.read().map_err(|error| failed("read the ledger", &error))?;
        let grounds = PlanInputs { snapshot: &snapshot, settings, ledger: &*reader, survey: None };
        let plan = Plan::make(&grounds).map_err(|error| failed("make a plan", &error))?;
        planned.push(started.elapsed());
        unchanged = plan.unchanged;
    }
    println!("  of which, for {unchanged} tickets, in this process (fastest of {rounds}):");
    for (name, times) in [("what the artifacts say", taken), ("the plan", planned)] {
        let fastest = times.into_iter().min().unwrap_or_default();
        println!("    {name:<30} {:.0} ms", fastest.as_secs_f64() * 1000.0);
    }
    Ok(())
}

/// Only what has an id has a ticket.
fn give_ids(tools: &Tools, folder: &Path) -> Result<(), Failure> {
    let listed = process::stdout(&mut tools.stepmark(folder, &["status", "--json"]))?;
    let status: serde_json::Value = serde_json::from_str(&listed).map_err(|error| Failure::Process {
        command: "stepmark status --json".to_owned(),
        reason: error.to_string(),
    })?;
    let artifacts = status["artifacts"].as_array().into_iter().flatten();
    for (number, path) in artifacts.filter_map(|artifact| artifact["path"].as_str()).enumerate() {
        let place = folder.join(path);
        let text = fs::read_to_string(&place).map_err(Failure::file("read", &place))?;
        if let Some(rest) = text.strip_prefix("---\n").filter(|rest| !rest.contains("\nid: ")) {
            let text = format!("---\nid: A-{number:06}\n{rest}");
            fs::write(&place, text).map_err(Failure::file("write", &place))?;
        }
    }
    Ok(())
}
