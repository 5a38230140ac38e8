//! `stepmark sync install`

use clap::Args;
use serde_json::json;

use super::{
    SyncContext,
    service::{Manager, Service, ServiceFolders, place},
};
use crate::{
    environment,
    exit::{Exit, Failure},
    output::{Output, Reader},
};

/// Let the system start `stepmark sync run` for this project: a user unit of systemd, or a launch agent of
/// launchd
///
/// A file is written and nothing is started: the commands for that are shown. It holds no credential.
#[derive(Debug, Args)]
pub(super) struct Install {
    /// Print the file, and write nothing
    #[arg(long, conflicts_with = "uninstall")]
    print: bool,
    /// Take the file away again
    #[arg(long)]
    uninstall: bool,
    /// What starts services here; without it, that of this system
    #[arg(long, value_name = "NAME")]
    manager: Option<Manager>,
}

impl Install {
    /// `tracker` is the one that is named on the command line; without it the service runs for all.
    pub(super) fn run(
        &self,
        contexts: &[SyncContext<'_>],
        tracker: Option<&str>,
        output: &Output,
    ) -> Result<Exit, Failure> {
        let manager = self.manager.map_or_else(Manager::of_this_system, Ok)?;
        let folders =
            ServiceFolders::of(&environment::home()?, environment::configuration_folder().as_deref());
        let service = service(contexts, tracker)?;
        let file = manager.file(&service, &folders);
        let text = manager.text(&service, &folders)?;
        if self.print {
            output.rendered(&text, Reader::Program);
            return Ok(Exit::Fine);
        }
        let (outcome, commands) = if self.uninstall {
            let is_gone = place::remove(&file, manager.links(&service, &folders).as_deref())?;
            (if is_gone { "removed" } else { "not there" }, manager.commands_to_stop(&service))
        } else {
            let is_new = place::write(&file, &text)?;
            (if is_new { "written" } else { "unchanged" }, manager.commands_to_start(&service, &folders))
        };
        output.json_or(
            "stepmark.sync-install/1",
            || json!({ "file": file, "outcome": outcome, "service": service.name, "commands": commands }),
            || {
                output.line(format_args!("{outcome:<10} {}", file.display()));
                commands.iter().for_each(|command| output.remark(format_args!("run        {command}")));
                if !self.uninstall {
                    manager.credentials(&service, &folders).iter().for_each(|line| output.remark(line));
                }
            },
        );
        Ok(Exit::Fine)
    }
}

fn service(contexts: &[SyncContext<'_>], tracker: Option<&str>) -> Result<Service, Failure> {
    let root = contexts.first().map(|context| context.project.root().path().to_owned()).unwrap_or_default();
    let drain = contexts.iter().map(|context| context.settings.run.drain()).max().unwrap_or_default();
    let variables = environment::user_folders();
    Service::new(environment::executable()?, root, tracker.map(str::to_owned), drain, variables)
}
