//! `stepmark sync reset`

use clap::Args;
use stepmark_sync::worker;

use super::Scene;
use crate::{
    exit::{Exit, Failure},
    output::{Output, wording},
};

/// Close all breakers: what they kept away is tried again with the next `apply`
#[derive(Debug, Args)]
pub(super) struct Reset {}

impl Reset {
    pub(super) fn run(&self, scene: &Scene<'_>, output: &Output) -> Result<Exit, Failure> {
        let scopes = worker::reset(&mut scene.ledger()?)?;
        let scopes: Vec<String> = scopes.iter().map(ToString::to_string).collect();
        output.json_or(
            "stepmark.sync-reset/1",
            || serde_json::json!({ "scopes": scopes }),
            || {
                scopes.iter().for_each(|scope| output.line(scope));
                output.remark(format_args!("{} reset", wording::count(scopes.len(), "breaker")));
            },
        );
        Ok(Exit::Fine)
    }
}
