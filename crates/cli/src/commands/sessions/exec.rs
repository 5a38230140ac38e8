//! `stepmark exec`

use std::ffi::OsString;

use clap::Args;
use stepmark_model::journal::{EventDraft, Kind};

use super::session;
use crate::{
    exit::{Exit, Failure},
    output::Output,
    process::{self, HandOff, Session},
    project::Project,
};

/// Become another program, after all state is on the disk
///
/// What was cut off is finished, a hand-off event is in the journal, and the process is replaced: the program
/// finds all state in files. `STEPMARK_SESSION` and `STEPMARK_ROOT` are set for it as a convenience; without
/// a current session one begins. Tickets are never waited for.
#[derive(Debug, Args)]
pub(crate) struct Exec {
    /// Neither begin a session nor pass the current one on
    #[arg(long)]
    no_session: bool,
    /// The program and its arguments
    #[arg(required = true, last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl Exec {
    pub(crate) fn run(&self, project: Project, output: &Output) -> Result<Exit, Failure> {
        let Some((program, arguments)) = self.command.split_first() else {
            return Err(Failure::new(Exit::Usage, "a command is wanted"));
        };
        let project = match (&project.workspace.attribution().session, self.no_session) {
            (_, true) => project.in_session(None),
            (Some(_), false) => project,
            (None, false) => session::begin(project, None, process::own())?.0,
        };
        session::refresh_instructions(&project, output);
        // The arguments may hold secrets, and the journal reaches git: only the program is told.
        let draft = EventDraft::new(Kind::HAND_OFF)
            .with_command("exec")
            .with("program", program.to_string_lossy().into_owned())
            .with("arguments", arguments.len());
        // It becomes the program, and keeps its number.
        let draft = process::own().into_iter().fold(draft, |draft, own| draft.with(session::PROCESS, own));
        // This finishes what was cut off, and returns when the event is on the disk.
        project.workspace.history().append_event(draft)?;
        output.finish()?;
        let session = match (&project.workspace.attribution().session, self.no_session) {
            (Some(session), false) => Session::Attached(session.as_str()),
            _ => Session::None,
        };
        let hand_off = HandOff { program, arguments, root: project.root().path(), session };
        Err(hand_off.replace_process())
    }
}
