//! `stepmark sync retry`

use std::path::PathBuf;

use clap::Args;
use stepmark_sync::{
    retry::Delivery,
    ticket::{Marker, Ticket},
    worker,
};

use super::Scene;
use crate::{
    environment,
    exit::{Exit, Failure},
    output::Output,
};

/// Give a ticket that failed another try with the next `apply`
///
/// A ticket that is not there any more is looked for by its marker, and made anew where it is certainly gone.
#[derive(Debug, Args)]
pub(super) struct Retry {
    /// The artifact
    artifact: PathBuf,
}

impl Retry {
    pub(super) fn run(&self, scene: &Scene<'_>, output: &Output) -> Result<Exit, Failure> {
        let (key, path) = scene.project.identity(&self.artifact)?;
        let marker = Marker::new(&scene.project_id, key)?;
        let desired =
            Ticket::desired(&scene.snapshot()?, &marker, &scene.settings.ticket).ok_or_else(|| {
                Failure::new(Exit::Findings, format!("`{path}` has no ticket"))
                    .with_help("`stepmark sync plan` says why")
            })?;
        let (mut ledger, holder) = (scene.ledger()?, environment::new_id());
        let of = (&scene.settings.name, &marker, desired.digest());
        let before = worker::retry(&mut ledger, of, &holder, scene.clock.now())?;
        output.json_or(
            "stepmark.sync-retry/1",
            || serde_json::json!({ "path": path.as_str(), "marker": marker, "before": before }),
            || match &before {
                Delivery::Due => output.remark(format_args!("{path}: nothing was in its way")),
                _ => output.remark(format_args!("{path}: `stepmark sync apply` tries it again")),
            },
        );
        Ok(Exit::Fine)
    }
}
