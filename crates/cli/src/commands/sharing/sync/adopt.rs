//! `stepmark sync adopt`

use std::path::{Path, PathBuf};

use clap::Args;
use stepmark_sync::{
    ledger::{Ledger as _, SqliteLedger},
    plan::ActionKind,
    ticket::Marker,
    tracker::Tracker,
    worker::{self, LostLink},
};

use super::{
    SyncContext,
    apply::{execute, of_this_target},
    holder, plan, report,
    subjects::subjects,
};
use crate::{
    exit::{Exit, Failure},
    output::Output,
};

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
