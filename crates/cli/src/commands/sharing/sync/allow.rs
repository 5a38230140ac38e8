//! `stepmark sync allow`

use clap::Args;
use serde_json::json;
use stepmark_sync::configuration::{BaseUrl, Destination};

use super::permission;
use crate::{
    exit::{Exit, Failure},
    output::Output,
};

/// Allow trackers of repositories to send your credential to this repository or project; without arguments,
/// list what is allowed
///
/// The address of a tracker comes with a repository, which may be a stranger's, so the first time it is asked
/// for. Where nobody can answer, this command does. It is remembered for you, in all projects.
#[derive(Debug, Args)]
pub(super) struct Allow {
    /// The address: `base_url` of the tracker, such as `https://api.github.com`
    #[arg(requires = "target")]
    base_url: Option<BaseUrl>,
    /// The repository (`owner/name`) or the key of the project
    target: Option<String>,
    /// Take it back: the next time, it is asked for again
    #[arg(long, requires = "target")]
    remove: bool,
}

impl Allow {
    pub(super) fn run(&self, output: &Output) -> Result<Exit, Failure> {
        let outcome = match (&self.base_url, &self.target) {
            (Some(base_url), Some(target)) => {
                let destination = Destination::new(base_url, target.clone());
                Some((self.change(&destination)?, destination))
            }
            _ => None,
        };
        let allowed = permission::read()?;
        output.json_or(
            "stepmark.sync-allow/2",
            || {
                let outcome = outcome.as_ref().map(|(outcome, _)| outcome);
                json!({ "outcome": outcome, "allowed": allowed.iter().collect::<Vec<_>>() })
            },
            || match &outcome {
                Some((outcome, destination)) => output.line(format_args!("{outcome} {destination}")),
                None if allowed.iter().next().is_none() => output.note("no tracker is allowed yet"),
                None => allowed.iter().for_each(|destination| output.line(destination)),
            },
        );
        Ok(Exit::Fine)
    }

    fn change(&self, destination: &Destination) -> Result<&'static str, Failure> {
        if self.remove {
            return Ok(if permission::remove(destination)? { "removed" } else { "not allowed" });
        }
        permission::allow(destination.clone())?;
        Ok("allowed")
    }
}
