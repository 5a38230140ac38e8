//! `stepmark sync reset`

use clap::Args;
use stepmark_sync::{breaker::Scope, worker};

use super::SyncContext;
use crate::{
    exit::{Exit, Failure},
    output::{Output, wording},
};

/// Close all breakers and forget every wait: what waits is tried again with the next `apply`
#[derive(Debug, Args)]
pub(super) struct Reset {}

impl Reset {
    pub(super) fn run(&self, context: &SyncContext<'_>, output: &Output) -> Result<Exit, Failure> {
        let reset = worker::reset(&mut context.ledger()?, &[&context.settings.name])?;
        let spelled = |scopes: &[Scope]| scopes.iter().map(ToString::to_string).collect::<Vec<_>>();
        let (scopes, paces) = (spelled(&reset.breakers), spelled(&reset.paces));
        output.json_or(
            "stepmark.sync-reset/1",
            || serde_json::json!({ "scopes": scopes, "paces": paces, "deliveries": reset.deliveries }),
            || {
                scopes.iter().for_each(|scope| output.line(scope));
                let breakers = wording::count(scopes.len(), "breaker");
                let tickets = wording::count(reset.deliveries.len(), "ticket");
                output.remark(format_args!("{breakers} and all limits reset, {tickets} waited"));
            },
        );
        Ok(Exit::Fine)
    }
}
