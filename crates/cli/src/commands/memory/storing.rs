//! `stepmark memory status`, `sync` and `rebuild`.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicUsize, Ordering},
};

use super::open;
use crate::{
    commands::sharing::sync::{holder, ledger_to_read, open_ledger},
    environment,
    exit::{Exit, Failure},
    output::{Output, spinner, wire::Open, with_progress},
    project::Project,
};
use clap::Args;
use jiff::Timestamp;
use stepmark_memory::{
    Memory,
    context::plain,
    delivery::{Deliverer, DeliveryReport, Due, StoreState, state_of, try_again},
    store::Counts,
    target::{KuzuMemory, Ladybug, Target, Unit},
};
use stepmark_store::{
    configuration::{MemoryStoreKind, MemoryStoreSettings, Track},
    disk::StateFolder,
    workspace::Workspace,
};
use stepmark_sync::{TrackerName, retry::Jitter};

pub(super) fn status(project: &Project, output: &Output) -> Result<Exit, Failure> {
    let memory = open(project)?;
    let stores = Store::all(&project.workspace, None, &memory)?;
    let units = if stores.is_empty() { Vec::new() } else { memory.units()? };
    let states =
        stores.iter().map(|store| Ok((store.name.to_string(), store.state(&project.workspace, &units)?)));
    let states = states.collect::<Result<Vec<_>, Failure>>()?;
    told(memory.counts()?, &states, project, output)
}

pub(super) fn rebuild(project: &Project, output: &Output) -> Result<Exit, Failure> {
    told(Memory::rebuilt(&project.workspace)?.counts()?, &[], project, output)
}

fn told(
    counts: Counts,
    stores: &[(String, StoreState)],
    project: &Project,
    output: &Output,
) -> Result<Exit, Failure> {
    let track = project.workspace.configuration().memory.track;
    output.answer(|| Answer::Status {
        counts: Open(counts),
        track,
        stores: stores.iter().map(|(name, state)| (&**name, Open(state))).collect(),
    });
    let count = |number: u64, word| spinner::count(usize::try_from(number).unwrap_or(usize::MAX), word);
    output.line(format_args!(
        "{} ({} superseded), {}, {}; made of {}",
        count(counts.memories, "record"),
        counts.superseded,
        count(counts.nodes, "node"),
        count(counts.edges, "edge"),
        count(counts.events, "event"),
    ));
    stores.iter().for_each(|(name, state)| output.line(line(name, state)));
    Ok(Exit::Fine)
}

answers! { Answer<'a>
    /// `memory status`, `rebuild`: how much is remembered, where what is told is kept, and what other stores
    /// lack
    "stepmark.memory-status/1" Status {
        counts: Open<Counts>, track: Track, stores: BTreeMap<&'a str, Open<&'a StoreState>>,
    }
    /// `memory sync`: what each store was given, and what failed
    "stepmark.memory-sync/1" Sync { stores: Vec<StoreRow<'a>> }
    enum StoreRow<'a> {
        Failed { store: &'a str, delivered: usize, held: usize, failures: [&'a str; 1] },
        Done {
            store: &'a str, delivered: usize, held: usize, postponed: usize, withheld: usize,
            forgotten: usize, left_over: usize, failures: Vec<&'a str>, refused_until: Option<Timestamp>,
        },
    }
}

const MOST: usize = 5;

fn line(name: &str, state: &StoreState) -> String {
    let mut line = format!("{name}  {} of {} given", state.held, spinner::count(state.units, "unit"));
    if let Some(until) = state.open_until {
        line.push_str(&format!(", left alone until {until:.0}"));
    }
    if let Some(failure) = &state.failure {
        line.push_str(&format!("\n    failed last: {}", plain(failure, 300)));
    }
    for behind in state.behind.iter().take(MOST) {
        let when = match (behind.is_parked, behind.until, behind.attempts) {
            (true, ..) => format!(", tried {} times, no more", behind.attempts),
            (_, Some(until), _) => format!(", tried again from {until:.0} on"),
            (_, None, _) => String::new(),
        };
        let why =
            behind.failure.as_deref().map(|failure| format!(": {}", plain(failure, 200))).unwrap_or_default();
        line.push_str(&format!("\n    lacks {:.8}  {}{when}{why}", behind.key, plain(&behind.label, 60)));
    }
    if state.behind.len() > MOST {
        line.push_str(&format!(
            "\n    and {} more: `stepmark memory sync` gives them",
            state.behind.len() - MOST
        ));
    }
    line
}

pub(super) const LEDGER: &str = "memory-stores.db";

pub(super) struct Store {
    pub(super) name: TrackerName,
    pub(super) target: Box<dyn Target>,
    due: Due,
}

impl Store {
    pub(super) fn all(
        workspace: &Workspace,
        wanted: Option<&str>,
        memory: &Memory,
    ) -> Result<Vec<Self>, Failure> {
        let stores = &workspace.configuration().memory.stores;
        let own = stores.iter().filter(|(name, _)| wanted.is_none_or(|wanted| wanted == *name));
        let own = own.map(|(name, settings)| Self::open(workspace, (name, settings), memory));
        let own = own.collect::<Result<Vec<_>, Failure>>()?;
        match (own.is_empty(), wanted) {
            (true, Some(wanted)) => Err(Failure::new(Exit::Usage, format!("no store of memory is called `{wanted}`"))
                .with_help("`memory.stores` in `.stepmark/config.yaml` names them: `stores: {kuzu: {kind: kuzu-memory}}`")),
            _ => Ok(own),
        }
    }

    fn open(
        workspace: &Workspace,
        (name, settings): (&str, &MemoryStoreSettings),
        memory: &Memory,
    ) -> Result<Self, Failure> {
        let name: TrackerName = name.parse().map_err(|error| Failure::from_error(Exit::Usage, &error))?;
        let cache = workspace.root().state().folder(StateFolder::Cache)?;
        let target: Box<dyn Target> = match settings.kind {
            MemoryStoreKind::KuzuMemory => Box::new(KuzuMemory::new(cache.join(name.as_str()))),
            MemoryStoreKind::Ladybug => Box::new(Ladybug::new(cache.join(format!("{name}.lbug")))),
        };
        let tiers = settings.tiers.iter().map(|tier| (*tier).into()).collect();
        let due = Due { tiers, milestone: memory.last_milestone()?, now: workspace.now() };
        Ok(Self { name, target, due })
    }

    pub(super) fn due<'u>(&self, units: &'u [Unit]) -> Vec<&'u Unit> {
        units.iter().filter(|unit| self.due.has_come(unit)).collect()
    }

    pub(super) fn state(&self, workspace: &Workspace, units: &[Unit]) -> Result<StoreState, Failure> {
        let mut ledger = ledger_to_read(workspace, LEDGER)?;
        let reader = ledger.read()?;
        Ok(state_of(&*reader, (&self.name, &*self.target), project_id(workspace), &self.due(units))?)
    }
}

pub(super) fn project_id(workspace: &Workspace) -> &str {
    workspace.configuration().project_id.as_deref().unwrap_or("project")
}

pub(super) fn store_failed(name: &str, failure: &stepmark_sync::breaker::Failure) -> Failure {
    Failure::new(Exit::Remote, format!("the store `{name}` cannot be asked: {}", failure.reason))
        .with_help(plain(&failure.detail, 400))
}

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
        output.answer(|| Answer::Sync { stores: told.iter().map(StoreRow::of).collect() });
        told.iter().for_each(|(name, report)| output.line(report_line(name, report)));
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

/// `progress` may end it.
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

/// While `goes_on`; a store that is complete by the ledger is asked only with `asks_all`.
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

impl<'a> StoreRow<'a> {
    fn of((store, report): &'a (String, Result<DeliveryReport, Failure>)) -> Self {
        match report {
            Err(failure) => Self::Failed { store, delivered: 0, held: 0, failures: [&failure.message] },
            Ok(report) => Self::Done {
                store,
                delivered: report.delivered,
                held: report.held,
                postponed: report.postponed,
                withheld: report.withheld,
                forgotten: report.forgotten,
                left_over: report.left_over,
                failures: report.failures.iter().map(|failure| &*failure.detail).collect(),
                refused_until: report.refused.as_ref().map(|(until, _)| *until),
            },
        }
    }
}

fn report_line(name: &str, report: &Result<DeliveryReport, Failure>) -> String {
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
