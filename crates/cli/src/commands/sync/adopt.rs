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
    Scene,
    apply::{carry_out, of_this_target},
    plan, report,
    subjects::subjects,
};
use crate::{
    environment,
    exit::{Exit, Failure},
    output::Output,
};

/// Look through the tracker and link the tickets that carry markers; nothing is written there
///
/// With ARTIFACT: its linked ticket has lost its marker and is its ticket all the same; it gets the marker back, and is brought up to date.
#[derive(Debug, Args)]
pub(super) struct Adopt {
    /// The artifact whose ticket has lost its marker
    artifact: Option<PathBuf>,
}

impl Adopt {
    pub(super) fn run(&self, scene: &Scene<'_>, output: &Output) -> Result<Exit, Failure> {
        let (mut ledger, tracker) = (scene.ledger()?, scene.tracker(Some(output))?);
        if let Some(artifact) = &self.artifact {
            return name_ticket_of(artifact, scene, (&mut ledger, &*tracker), output);
        }
        let tickets = scene.survey(&mut ledger, &*tracker)?;
        let mut found = scene.plan_with(&mut ledger, Some((&*tracker, &tickets)))?;
        found.actions.retain(|action| action.kind == ActionKind::Adopt);
        plan::warn(&found.remarks, output);
        let done = of_this_target(carry_out(scene, &found, &mut ledger, &*tracker, output)?)?;
        Ok(report::show(scene, &done, &subjects(&found), output))
    }
}

/// Gives the ticket of an artifact its marker back.
fn name_ticket_of(
    artifact: &Path,
    scene: &Scene<'_>,
    (ledger, tracker): (&mut SqliteLedger, &dyn Tracker),
    output: &Output,
) -> Result<Exit, Failure> {
    let (key, path) = scene.project.identity(artifact)?;
    let marker = Marker::new(&scene.project_id, key)?;
    let name = &scene.settings.name;
    let linked = ledger.read()?.link(name, &marker)?.ok_or_else(|| {
        Failure::new(Exit::Findings, format!("`{path}` has no ticket that could be given its marker"))
            .with_help("`stepmark sync adopt` looks for one, and `stepmark sync apply` makes one")
    })?;
    let mut plan = scene.plan(ledger)?;
    plan.actions.retain(|action| action.marker == marker);
    let Some(desired) = plan.actions.first().and_then(|action| action.digest) else {
        output
            .remark(format_args!("{path}: {} is not to be changed, so it is left alone", linked.remote.key));
        return Ok(Exit::Fine);
    };
    let tickets = [(marker.clone(), desired)];
    let holder = environment::new_id();
    worker::retry(ledger, (name, &tickets), LostLink::Kept, &holder, scene.clock.now())?;
    let done = scene.work(ledger, tracker, async |worker| {
        worker.name_ticket_of(marker);
        Ok(worker.apply(&plan).await?)
    })?;
    Ok(report::show(scene, &of_this_target(done)?, &subjects(&plan), output))
}
