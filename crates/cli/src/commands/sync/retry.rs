//! `stepmark sync retry`

use std::path::PathBuf;

use clap::Args;
use stepmark_core::artifact::ProjectPath;
use stepmark_sync::{
    breaker::Reason,
    ledger::Ledger as _,
    retry::Delivery,
    ticket::{Marker, Snapshot, Ticket, TicketDigest},
    worker::{self, LostLink},
};

use super::{Scene, report::name_of};
use crate::{
    environment,
    exit::{Exit, Failure},
    output::Output,
};

/// Give tickets that failed another try with the next `apply`
///
/// A ticket that is not there any more, or has lost its marker, is looked for by its marker, and made anew where it is certainly gone.
#[derive(Debug, Args)]
#[group(required = true)]
pub(super) struct Retry {
    /// The artifact
    #[arg(conflicts_with_all = ["all", "reason"])]
    artifact: Option<PathBuf>,
    /// All tickets that are parked or wait
    #[arg(long)]
    all: bool,
    /// All of them that failed for this reason, such as `invalid`, `gone` or `unmarked`; `stepmark sync status --json` names it
    #[arg(long, value_name = "REASON", value_parser = reason)]
    reason: Option<Reason>,
}

/// A reason by its name in JSON.
fn reason(word: &str) -> Result<Reason, String> {
    let named = |reason: &Reason| serde_json::to_value(reason).is_ok_and(|name| name == word);
    Reason::ALL.into_iter().find(named).ok_or_else(|| {
        let names = Reason::ALL.iter().filter_map(|reason| serde_json::to_value(reason).ok());
        let names: Vec<String> = names.filter_map(|name| name.as_str().map(str::to_owned)).collect();
        format!("there are {}", names.join(", "))
    })
}

/// A ticket that gets another try.
struct Chosen {
    path: Option<ProjectPath>,
    marker: Marker,
    desired: TicketDigest,
}

impl Retry {
    pub(super) fn run(&self, scene: &Scene<'_>, output: &Output) -> Result<Exit, Failure> {
        let mut ledger = scene.ledger()?;
        let snapshot = scene.snapshot()?;
        let chosen = match &self.artifact {
            Some(artifact) => {
                let (key, path) = scene.project.identity(artifact)?;
                let marker = Marker::new(&scene.project_id, key)?;
                let chosen = choose(scene, &snapshot, marker, Some(path.clone()));
                vec![chosen.ok_or_else(|| {
                    Failure::new(Exit::Findings, format!("`{path}` has no ticket"))
                        .with_help("`stepmark sync plan` says why")
                })?]
            }
            None => {
                let failed = ledger.read()?.deliveries(&scene.settings.name)?.into_iter();
                let is_wanted = |delivery: &Delivery| {
                    self.reason.is_none_or(|reason| delivery.last().is_some_and(|last| last.reason == reason))
                };
                let wanted = failed.filter(|(_, delivery)| is_wanted(delivery));
                wanted.filter_map(|(marker, _)| choose(scene, &snapshot, marker, None)).collect()
            }
        };
        let tickets: Vec<_> = chosen.iter().map(|chosen| (chosen.marker.clone(), chosen.desired)).collect();
        let of = (&scene.settings.name, &tickets[..]);
        let (holder, now) = (environment::new_id(), scene.clock.now());
        let before = worker::retry(&mut ledger, of, LostLink::Forgotten, &holder, now)?;
        show(&chosen, &before, output);
        Ok(Exit::Fine)
    }
}

/// The ticket of an artifact; `None` where it has none.
fn choose(
    scene: &Scene<'_>,
    snapshot: &Snapshot,
    marker: Marker,
    path: Option<ProjectPath>,
) -> Option<Chosen> {
    let desired = Ticket::desired(snapshot, &marker, &scene.settings.ticket)?.digest();
    let path = path.or_else(|| snapshot.get(&marker).map(|facts| facts.path.clone()));
    Some(Chosen { path, marker, desired })
}

fn show(chosen: &[Chosen], before: &[Delivery], output: &Output) {
    let told = || {
        chosen.iter().zip(before).map(|(chosen, before)| {
            let path = chosen.path.as_ref().map(ProjectPath::as_str);
            serde_json::json!({ "path": path, "marker": chosen.marker, "before": before })
        })
    };
    let lines = || {
        for (chosen, before) in chosen.iter().zip(before) {
            let name = name_of(chosen.path.as_ref(), &chosen.marker);
            match before {
                Delivery::Due => output.remark(format_args!("{name}: nothing was in its way")),
                _ => output.remark(format_args!("{name}: `stepmark sync apply` tries it again")),
            }
        }
        if chosen.is_empty() {
            output.remark("nothing is parked or waits");
        }
    };
    output.json_or(
        "stepmark.sync-retry/2",
        || serde_json::json!({ "tickets": told().collect::<Vec<_>>() }),
        lines,
    );
}
