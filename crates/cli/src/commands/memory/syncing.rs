//! `stepmark memory sync`

use std::sync::atomic::{AtomicUsize, Ordering};

use clap::Args;
use serde_json::json;
use stepmark_memory::{
    Memory,
    context::plain,
    delivery::{Deliverer, DeliveryReport, try_again},
    target::Unit,
};
use stepmark_store::{disk::StateFolder, workspace::Workspace};
use stepmark_sync::retry::Jitter;

use super::{
    open,
    storing::{LEDGER, Store, project_id},
};
use crate::{
    commands::sharing::sync::{holder, open_ledger},
    environment,
    exit::{Exit, Failure},
    output::{Output, spinner, with_progress},
    project::Project,
};

const SCHEMA: &str = "stepmark.memory-sync/1";

/// Give the stores of `memory.stores` what they lack
///
/// Each is asked first for what it holds, so nothing is given twice, and a store that was deleted is filled
/// again. What fails is tried again later, by this command or by `stepmark sync run`; a store that keeps
/// failing is left alone for a while.
#[derive(Debug, Args)]
pub(super) struct Sync {
    /// Only this store
    #[arg(long, value_name = "NAME")]
    store: Option<String>,
    /// Try at once what failed before
    #[arg(long)]
    again: bool,
}

impl Sync {
    pub(super) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let memory = open(project)?;
        let mut stores = Store::all(&project.workspace, self.store.as_deref(), &memory)?;
        if stores.is_empty() {
            output.remark("no store is configured: `memory.stores` in `.stepmark/config.yaml` names them");
        }
        let units = memory.units()?;
        let mut told = Vec::new();
        for store in &mut stores {
            if self.again {
                try_again(&mut open_ledger(&project.workspace, LEDGER)?, &store.name)?;
            }
            told.push((store.name.to_string(), shown(project, store, &units, output)));
        }
        output.json_or(
            SCHEMA,
            || json!({"stores": told.iter().map(wire).collect::<Vec<_>>()}),
            || told.iter().for_each(|(name, report)| output.line(line(name, report))),
        );
        let failed = told.iter().find_map(|(_, report)| report.as_ref().err().map(|failure| failure.exit));
        let is_whole = told.iter().flat_map(|(_, report)| report).all(is_whole);
        Ok(failed.unwrap_or(if is_whole { Exit::Fine } else { Exit::Remote }))
    }
}

fn is_whole(report: &DeliveryReport) -> bool {
    report.failures.is_empty() && report.refused.is_none() && report.postponed + report.withheld == 0
}

fn shown(
    project: &Project,
    store: &mut Store,
    units: &[Unit],
    output: &Output,
) -> Result<DeliveryReport, Failure> {
    let (name, done, all) = (store.name.to_string(), AtomicUsize::new(0), AtomicUsize::new(0));
    let mut progress = |now, of| {
        done.store(now, Ordering::Relaxed);
        all.store(of, Ordering::Relaxed);
        true
    };
    let message = |done| format!("`{name}`: {done} of {} given", all.load(Ordering::Relaxed));
    let work = || deliver(&project.workspace, store, units, &mut progress);
    with_progress(&message, output.quiet, &done, work)
}

/// Gives a store what it lacks; `progress` may end it.
pub(super) fn deliver(
    workspace: &Workspace,
    store: &mut Store,
    units: &[Unit],
    progress: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<DeliveryReport, Failure> {
    let now = || workspace.now();
    let holder = holder();
    let mut chance = || Jitter(environment::random());
    let due = store.due(units);
    workspace.root().state().make(StateFolder::Cache)?;
    let mut deliverer = Deliverer {
        store: store.name.clone(),
        project: project_id(workspace),
        holder: &holder,
        now: &now,
        chance: &mut chance,
        progress,
    };
    Ok(deliverer.deliver((&mut open_ledger(workspace, LEDGER)?, &mut *store.target), &due)?)
}

pub(in crate::commands) type Told = Vec<(String, Result<DeliveryReport, Failure>)>;

/// For as long as `goes_on`; a store that lacks nothing by the ledger is asked only with `asks_all`.
pub(in crate::commands) fn deliver_to_all(
    workspace: &Workspace,
    asks_all: bool,
    goes_on: &dyn Fn() -> bool,
) -> Result<Told, Failure> {
    let memory = Memory::open(workspace)?;
    let units = memory.units()?;
    let mut told = Vec::new();
    for mut store in Store::all(workspace, None, &memory)? {
        if goes_on() && (asks_all || !store.state(workspace, &units)?.behind.is_empty()) {
            let report = deliver(workspace, &mut store, &units, &mut |_, _| goes_on());
            told.push((store.name.to_string(), report));
        }
    }
    Ok(told)
}

fn wire((name, report): &(String, Result<DeliveryReport, Failure>)) -> serde_json::Value {
    match report {
        Err(failure) => json!({"store": name, "delivered": 0, "held": 0, "failures": [failure.message]}),
        Ok(report) => json!({
            "store": name,
            "delivered": report.delivered,
            "held": report.held,
            "postponed": report.postponed,
            "withheld": report.withheld,
            "forgotten": report.forgotten,
            "left_over": report.left_over,
            "failures": report.failures.iter().map(|failure| &failure.detail).collect::<Vec<_>>(),
            "refused_until": report.refused.as_ref().map(|(until, _)| until),
        }),
    }
}

fn line(name: &str, report: &Result<DeliveryReport, Failure>) -> String {
    let report = match report {
        Ok(report) => report,
        Err(failure) => return format!("{name}  failed: {}", failure.message),
    };
    let mut line =
        format!("{name}  {} given, {} there", spinner::count(report.delivered, "unit"), report.held);
    for (count, word) in [
        (report.forgotten, "taken away"),
        (report.left_over, "that are no more, which it cannot take away"),
        (report.withheld, "that hold a secret, which nobody is given"),
        (report.postponed, "that failed before: `--again` tries them at once"),
    ] {
        if count > 0 {
            line.push_str(&format!(", {count} {word}"));
        }
    }
    for failure in &report.failures {
        line.push_str(&format!("\n    failed: {}: {}", failure.reason, plain(&failure.detail, 400)));
    }
    if let Some((until, cause)) = &report.refused {
        line.push_str(&format!("\n    left alone until {until:.0}: {}", plain(&cause.detail, 400)));
    }
    line
}
