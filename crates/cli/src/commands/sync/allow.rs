//! `stepmark sync allow`

use clap::Args;
use serde_json::json;
use stepmark_sync::configuration::{BaseUrl, Destination};

use super::permission;
use crate::{
    exit::{Exit, Failure},
    output::Output,
};

/// Allow trackers of repositories to send your credential to this repository or project
///
/// The address of a tracker comes with a repository, which may be a stranger's, so the first time it is asked for. Where nobody can
/// answer, this command does. It is remembered for you, in all projects.
#[derive(Debug, Args)]
pub(super) struct Allow {
    /// The address: `base_url` of the tracker, such as `https://api.github.com`
    base_url: BaseUrl,
    /// The repository (`owner/name`) or the key of the project
    target: String,
}

impl Allow {
    pub(super) fn run(&self, output: &Output) -> Result<Exit, Failure> {
        let destination = Destination::new(&self.base_url, self.target.clone());
        permission::allow(destination.clone())?;
        output.json_or(
            "stepmark.sync-allow/1",
            || json!({ "allowed": destination }),
            || output.line(format_args!("allowed {destination}")),
        );
        Ok(Exit::Fine)
    }
}
