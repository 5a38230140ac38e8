//! `stepmark sync retry`, `reset` and `adopt`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use clap::Args;

use super::{
    SyncContext,
    apply::{execute, of_this_target},
    holder, plan,
    plan::{Subjects, subjects},
    report,
};
use crate::{
    exit::{Exit, Failure},
    output::{Output, spinner, wire::Open},
};
use stepmark_model::artifact::ProjectPath;
use stepmark_sync::{
    breaker::{self, Reason, Scope},
    ledger::{Ledger as _, LedgerReader, SqliteLedger},
    plan::ActionKind,
    retry::Delivery,
    ticket::{Marker, Snapshot, Ticket, TicketDigest},
    tracker::Tracker,
    worker::{self, LostLink},
};

/// Give tickets that failed another try with the next `apply`
///
/// A ticket that is not there any more, or has lost its marker, is looked for by its marker, and made anew
/// where it is certainly gone.
#[derive(Debug, Args)]
#[group(required = true)]
pub(super) struct Retry {
    /// The artifacts; of a folder, those below it that failed
    #[arg(value_name = "ARTIFACT", conflicts_with_all = ["all", "reason"])]
    artifacts: Vec<PathBuf>,
    /// All tickets that are parked or wait, but for those that have lost their marker
    #[arg(long)]
    all: bool,
    /// All of them that failed for this reason, such as `invalid`, `gone` or `unmarked`; `stepmark sync
    /// status --json` names it
    #[arg(long, value_name = "REASON", value_parser = reason)]
    reason: Option<Reason>,
}

fn reason(word: &str) -> Result<Reason, String> {
    let named = |reason: &Reason| serde_json::to_value(reason).is_ok_and(|name| name == word);
    Reason::ALL.into_iter().find(named).ok_or_else(|| {
        let names = Reason::ALL.iter().filter_map(|reason| serde_json::to_value(reason).ok());
        let names: Vec<String> = names.filter_map(|name| name.as_str().map(str::to_owned)).collect();
        format!("there are {}", names.join(", "))
    })
}

impl Retry {
    pub(super) fn run(&self, context: &SyncContext<'_>, output: &Output) -> Result<Exit, Failure> {
        let mut ledger = context.ledger()?;
        let snapshot = context.snapshot()?;
        let (mut tickets, mut folders) = (BTreeMap::new(), Vec::new());
        for given in &self.artifacts {
            if context.project.is_folder(given) {
                folders.push(context.project.folder(given)?);
                continue;
            }
            let (key, path) = context.project.identity(given)?;
            let chosen = choose(context, &snapshot, Marker::new(&context.project_id, key)?);
            tickets.extend([chosen.ok_or_else(|| {
                Failure::new(Exit::Findings, format!("`{path}` has no ticket"))
                    .with_help("`stepmark sync plan` says why")
            })?]);
        }
        if self.artifacts.is_empty() || !folders.is_empty() {
            tickets.extend(self.failed(context, &snapshot, &*ledger.read()?, &folders)?);
        }
        let tickets: Vec<(Marker, TicketDigest)> = tickets.into_iter().collect();
        let of = (&context.settings.name, &tickets[..]);
        let now = context.clock.now();
        let before = worker::retry(&mut ledger, of, LostLink::Forgotten, &holder(), now)?;
        show(&tickets, &before, &Subjects::of(&snapshot), output);
        Ok(Exit::Fine)
    }

    fn failed(
        &self,
        context: &SyncContext<'_>,
        snapshot: &Snapshot,
        ledger: &dyn LedgerReader,
        folders: &[Option<ProjectPath>],
    ) -> Result<Vec<(Marker, TicketDigest)>, Failure> {
        let subjects = Subjects::of(snapshot);
        let is_wanted = |marker: &Marker, last: &breaker::Failure| {
            let path = subjects.path(marker);
            let is_below = |folder: &Option<ProjectPath>| {
                folder.as_ref().is_none_or(|folder| path.is_some_and(|path| path.starts_with(folder)))
            };
            // A ticket without its marker may still exist: no duplicate.
            self.reason.map_or(last.reason != Reason::Unmarked, |reason| last.reason == reason)
                && (folders.is_empty() || folders.iter().any(is_below))
        };
        let mut tickets = Vec::new();
        for (marker, delivery) in ledger.deliveries(&context.settings.name)? {
            if !delivery.last().is_some_and(|last| is_wanted(&marker, last)) {
                continue;
            }
            match choose(context, snapshot, marker.clone()) {
                Some(ticket) => tickets.push(ticket),
                // That of an artifact that is gone is to be closed, as what it was last made to say.
                None => {
                    let last = ledger.projected(&context.settings.name, &marker)?;
                    tickets.extend(last.map(|ticket| (marker, ticket.digest())));
                }
            }
        }
        Ok(tickets)
    }
}

/// `None` if it has none.
fn choose(context: &SyncContext<'_>, snapshot: &Snapshot, marker: Marker) -> Option<(Marker, TicketDigest)> {
    let desired = Ticket::desired(snapshot, &marker, &context.settings.ticket)?.digest();
    Some((marker, desired))
}

fn show(tickets: &[(Marker, TicketDigest)], before: &[Delivery], subjects: &Subjects, output: &Output) {
    output.answer(|| {
        let rows = tickets.iter().zip(before).map(|((marker, _), before)| TicketRow {
            path: subjects.path(marker),
            marker: Open(marker),
            before: Open(before),
        });
        Answer::Retry { tickets: rows.collect() }
    });
    for ((marker, _), before) in tickets.iter().zip(before) {
        let name = subjects.name(marker);
        match before {
            Delivery::Due => output.remark(format_args!("{name}: nothing was in its way")),
            _ => output.remark(format_args!("{name}: `stepmark sync apply` tries it again")),
        }
    }
    if tickets.is_empty() {
        output.remark("nothing is parked or waits");
    }
}

answers! { Answer<'a>
    /// `sync retry`: the tickets that are tried again
    "stepmark.sync-retry/2" Retry { tickets: Vec<TicketRow<'a>> }
    /// `sync reset`: which breakers, limits and waits were forgotten
    "stepmark.sync-reset/1" Reset {
        scopes: &'a [String], paces: &'a [String], deliveries: Open<&'a [Marker]>,
    }
    struct TicketRow<'a> {
        path: Option<&'a ProjectPath>, marker: Open<&'a Marker>, before: Open<&'a Delivery>,
    }
}

/// Close all breakers and forget every wait: what waits is tried again with the next `apply`
#[derive(Debug, Args)]
pub(super) struct Reset {}

impl Reset {
    pub(super) fn run(&self, context: &SyncContext<'_>, output: &Output) -> Result<Exit, Failure> {
        let reset = worker::reset(&mut context.ledger()?, &[&context.settings.name])?;
        let spelled = |scopes: &[Scope]| scopes.iter().map(ToString::to_string).collect::<Vec<_>>();
        let (scopes, paces) = (spelled(&reset.breakers), spelled(&reset.paces));
        let deliveries = Open(&*reset.deliveries);
        output.answer(|| Answer::Reset { scopes: &scopes, paces: &paces, deliveries });
        scopes.iter().for_each(|scope| output.line(scope));
        let breakers = spinner::count(scopes.len(), "breaker");
        let tickets = spinner::count(reset.deliveries.len(), "ticket");
        output.remark(format_args!("{breakers} and all limits reset, {tickets} waited"));
        Ok(Exit::Fine)
    }
}

/// Look through the tracker and link the tickets that carry markers; nothing is written there
///
/// With ARTIFACT: its linked ticket has lost its marker and is its ticket all the same; it gets the marker
/// back, and is brought up to date.
#[derive(Debug, Args)]
pub(super) struct Adopt {
    /// The artifact whose ticket has lost its marker
    artifact: Option<PathBuf>,
}

impl Adopt {
    pub(super) fn run(&self, context: &SyncContext<'_>, output: &Output) -> Result<Exit, Failure> {
        let (mut ledger, tracker) = (context.ledger()?, context.tracker(Some(output))?);
        if let Some(artifact) = &self.artifact {
            return name_ticket_of(artifact, context, (&mut ledger, &*tracker), output);
        }
        let tickets = context.survey(&mut ledger, &*tracker)?;
        let mut found = context.plan_with(&mut ledger, Some((&*tracker, &tickets)))?;
        found.actions.retain(|action| action.kind == ActionKind::Adopt);
        plan::warn(&found.remarks, output);
        let done = of_this_target(execute(context, &found, &mut ledger, &*tracker, output)?)?;
        Ok(report::show(context, &done, &subjects(&found), output))
    }
}

fn name_ticket_of(
    artifact: &Path,
    context: &SyncContext<'_>,
    (ledger, tracker): (&mut SqliteLedger, &dyn Tracker),
    output: &Output,
) -> Result<Exit, Failure> {
    let (key, path) = context.project.identity(artifact)?;
    let marker = Marker::new(&context.project_id, key)?;
    let name = &context.settings.name;
    let linked = ledger.read()?.link(name, &marker)?.ok_or_else(|| {
        Failure::new(Exit::Findings, format!("`{path}` has no ticket that could be given its marker"))
            .with_help("`stepmark sync adopt` looks for one, and `stepmark sync apply` makes one")
    })?;
    let mut plan = context.plan_over(&context.snapshot()?.forced(), ledger, None)?;
    plan.actions.retain(|action| action.marker == marker);
    let Some(desired) = plan.actions.first().and_then(|action| action.digest) else {
        output
            .remark(format_args!("{path}: {} is not to be changed, so it is left alone", linked.remote.key));
        return Ok(Exit::Fine);
    };
    let tickets = [(marker.clone(), desired)];
    worker::retry(ledger, (name, &tickets), LostLink::Kept, &holder(), context.clock.now())?;
    let done = context.work(ledger, tracker, async |worker| {
        worker.name_ticket_of(marker);
        Ok(worker.apply(&plan).await?)
    })?;
    Ok(report::show(context, &of_this_target(done)?, &subjects(&plan), output))
}
