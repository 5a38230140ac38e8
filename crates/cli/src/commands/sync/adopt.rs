//! `stepmark sync adopt`

use clap::Args;
use stepmark_sync::plan::ActionKind;

use super::{Scene, apply::carry_out, plan, report, subjects::subjects};
use crate::{
    exit::{Exit, Failure},
    output::Output,
};

/// Look through the tracker and link the tickets that carry markers; nothing is written there
#[derive(Debug, Args)]
pub(super) struct Adopt {}

impl Adopt {
    pub(super) fn run(&self, scene: &Scene<'_>, output: &Output) -> Result<Exit, Failure> {
        let (mut ledger, tracker) = (scene.ledger()?, scene.tracker(Some(output))?);
        let tickets = scene.survey(&mut ledger, &tracker)?;
        let mut found = scene.plan_with(&mut ledger, Some((&tracker, &tickets)))?;
        found.actions.retain(|action| action.kind == ActionKind::Adopt);
        plan::warn(&found.remarks, output);
        let done = carry_out(scene, &found, &mut ledger, &tracker, output)?;
        Ok(report::show(scene, &done, &subjects(&found), output))
    }
}
