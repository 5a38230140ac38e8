//! `stepmark import`

pub(crate) mod bmad_7;
mod flow;
pub(crate) mod pack;
mod records;
mod stories;

use std::path::PathBuf;

use crate::{
    exit::{Exit, Failure},
    output::Output,
    project::Project,
};
use clap::{Args, Subcommand};
use serde_json::json;
use stepmark_store::autodev::{Adoption, AdoptionError};

/// Bring what other files say into frontmatter, after asking
///
/// Frontmatter is the truth, and nothing flows back into it by itself. Where a project kept its state
/// elsewhere before, this brings it in once.
#[derive(Debug, Args)]
pub(crate) struct Import {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Stories(stories::Stories),
    Autodev(Autodev),
    Asdd(records::ImportAsdd),
    Coordination(records::ImportCoordination),
    Flow(flow::ImportFlow),
    Pack(pack::ImportRows),
    #[command(name = "bmad-7")]
    Bmad7(bmad_7::ImportBmad7),
}

impl Import {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        match &self.what {
            What::Stories(command) => command.run(project, output),
            What::Autodev(command) => command.run(project, output),
            What::Asdd(command) => command.run(project, output),
            What::Coordination(command) => command.run(project, output),
            What::Flow(command) => command.run(project, output),
            What::Pack(command) => command.run(project, output),
            What::Bmad7(command) => command.run(project, output),
        }
    }
}

/// Take in the state file of the /autodev skill
///
/// Adds the key `autodev` to .stepmark/config.yaml, which switches the commands and rules of autodev on. The
/// state file stays as it is. One of an older generation (`_autopilot_state.md`, a sub-step in free text) is
/// converted with `--convert` alone; under another name it stays beside the new one.
#[derive(Debug, Args)]
pub(crate) struct Autodev {
    /// The state file; without it that in `_docs`
    path: Option<PathBuf>,
    /// Convert a file of an older generation
    #[arg(long)]
    convert: bool,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
}

impl Autodev {
    fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let path = self.path.as_deref().map(|path| project.path(path)).transpose()?;
        let adoption = project.workspace.autodev_to_adopt(path.as_ref())?;
        let is_refused = adoption.is_older && !self.convert;
        if !is_refused && !self.dry_run {
            project.workspace.adopt_autodev(&adoption)?;
        }
        self.report(&adoption, is_refused, output);
        if !is_refused {
            return Ok(Exit::Fine);
        }
        let message = format!("`{}` is of an older generation; nothing was written", adoption.from);
        Err(Failure::new(Exit::Findings, message).with_help("`--convert` writes it as shown"))
    }

    fn report(&self, adoption: &Adoption, is_refused: bool, output: &Output) {
        let Adoption { from, file, position, is_older, lacks_key, .. } = adoption;
        let sub_step = &position.sub_step;
        if output.json {
            output.json(
                "stepmark.import-autodev/1",
                json!({
                    "from": from.as_str(),
                    "file": file.as_str(),
                    "older": is_older,
                    "lacks_key": lacks_key,
                    "written": !is_refused && !self.dry_run && (*is_older || *lacks_key),
                    "flow": position.flow,
                    "step": position.step.to_string(),
                    "name": position.name,
                    "status": position.status,
                    "sub_step": {"phase": sub_step.phase, "name": sub_step.name, "detail": sub_step.detail},
                }),
            );
            return;
        }
        output.line(format_args!(
            "{file}: {}, step {} `{}`, {}",
            position.flow, position.step, position.name, position.status
        ));
        let detail =
            if sub_step.detail.is_empty() { String::new() } else { format!(" ({})", sub_step.detail) };
        output.line(format_args!("  phase {} {}{detail}", sub_step.phase, sub_step.name));
        match (lacks_key, is_refused || self.dry_run) {
            (true, false) => output.remark("`autodev` is switched on in .stepmark/config.yaml"),
            (true, true) => output.remark("`autodev` would be switched on in .stepmark/config.yaml"),
            (false, _) => output.remark("`autodev` is switched on already"),
        }
    }
}

failures! {
    AdoptionError: Findings { Artifact, Change, Configure };
}
