//! `stepmark session` and `exec`

use std::ffi::OsString;

use clap::{Args, Subcommand};
use jiff::Timestamp;
use serde_json::Value as Json;
use stepmark_model::{
    artifact::ProjectPath,
    journal::{Event, EventDraft, EventId, Kind, SessionId},
};
use stepmark_store::history::Session as Record;

use crate::{
    attribution::SESSION_VARIABLE,
    commands::{memory, sharing::instructions},
    environment::new_id,
    exit::{Exit, Failure},
    output::{ListArguments, Output, Row, table},
    process,
    project::Project,
};

pub(super) const PROCESS: &str = "process";

/// Begin and end sessions, and look back at them
///
/// Commands belong to the session that `STEPMARK_SESSION` or `--session` names; their events have a segment
/// of the journal of their own, which is sealed (and so can be committed) when the session ends.
#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Session {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Begin a session and print its id and the line that attaches a shell to it: eval "$(stepmark session
    /// start)"
    Start {
        /// A name for people
        #[arg(long)]
        name: Option<String>,
    },
    /// End a session and seal its part of the journal
    End {
        /// The session; without it the current one
        #[arg(value_name = "ID")]
        id: Option<SessionId>,
    },
    /// All sessions, the last first
    List(ListArguments),
    /// One session with its events
    Show {
        /// The session; without it the current one
        #[arg(value_name = "ID")]
        id: Option<SessionId>,
    },
}

impl Session {
    pub(crate) fn run(&self, project: Project, output: &Output) -> Result<Exit, Failure> {
        match &self.action {
            Action::Start { name } => start(project, output, name.as_deref()),
            Action::End { id } => end(project, output, id.as_ref()),
            Action::List(list) => self::list(&project, output, list),
            Action::Show { id } => show(&project, output, id.as_ref()),
        }
    }
}

/// The returned project belongs to the session; `process` is the one for whose life it is meant.
pub(super) fn begin(
    project: Project,
    name: Option<&str>,
    process: Option<Json>,
) -> Result<(Project, SessionId), Failure> {
    let id = new_session_id(&project)?;
    let parent = project.workspace.attribution().session.clone();
    let project = project.in_session(Some(id.clone()));
    let mut draft = EventDraft::new(Kind::SESSION_START).with_command("session start");
    if let Some(name) = name {
        draft = draft.with("name", name);
    }
    if let Some(process) = process {
        draft = draft.with(PROCESS, process);
    }
    if let Some(parent) = parent {
        draft = draft.with("parent", parent.as_str());
    }
    project.workspace.history().append_event(draft)?;
    Ok((project, id))
}

fn start(project: Project, output: &Output, name: Option<&str>) -> Result<Exit, Failure> {
    let (project, id) = begin(project, name, process::parent())?;
    refresh_instructions(&project, output);
    let memory = memory::handed_over(&project, None, output);
    let export = export(&id);
    output.answer(|| {
        Answer::Session(Told::Started { session: id.as_str(), name, export: &export, memory: &memory })
    });
    output.line(format_args!("# session {id}{}", name.map(|name| format!(": {name}")).unwrap_or_default()));
    output.line(&export);
    // Comments for a shell: what is recalled is one line each.
    memory.lines().for_each(|line| output.remark(format_args!("# {line}")));
    Ok(Exit::Fine)
}

fn export(id: &SessionId) -> String {
    format!("export {SESSION_VARIABLE}={id}")
}

/// `s-20261122-1015-a1b2c3`: sorts by time, and can name a segment.
fn new_session_id(project: &Project) -> Result<SessionId, Failure> {
    let digits: String = new_id().chars().filter(char::is_ascii_alphanumeric).collect();
    let random = digits.get(digits.len().saturating_sub(6)..).unwrap_or_default().to_ascii_lowercase();
    let id = format!("s-{}-{random}", project.workspace.now().strftime("%Y%m%d-%H%M"));
    id.parse().map_err(|error| Failure::from_error(Exit::Io, &error))
}

fn end(project: Project, output: &Output, id: Option<&SessionId>) -> Result<Exit, Failure> {
    let id = named(&project, id)?;
    let record = record(&project, &id)?;
    if let Some(end) = &record.end {
        return Err(Failure::new(
            Exit::Findings,
            format!("the session `{id}` has ended already, at {}", end.at),
        ));
    }
    let sealed = close(&project.in_session(Some(id.clone())), &id, "session end", output)?;
    output.answer(|| Answer::Session(Told::Ended { session: id.as_str(), state: "ended", sealed: &sealed }));
    output.remark(format_args!("session {id} has ended; its part of the journal is in `.stepmark/journal`"));
    Ok(Exit::Fine)
}

fn close(project: &Project, id: &SessionId, command: &str, output: &Output) -> Result<Vec<String>, Failure> {
    project.workspace.leases().release_of_session()?;
    let history = project.workspace.history();
    history.append_event(EventDraft::new(Kind::SESSION_END).with_command(command))?;
    let sealed = history.seal(Some(id))?;
    refresh_instructions(project, output);
    Ok(sealed.iter().map(ToString::to_string).collect())
}

/// Does nothing without an open session.
pub(in crate::commands) fn end_current(
    project: &Project,
    command: &str,
    output: &Output,
) -> Result<(), Failure> {
    let Some(id) = project.workspace.attribution().session.clone() else { return Ok(()) };
    let sessions = project.workspace.history().ask(|history| history.sessions())?;
    if sessions
        .iter()
        .any(|record| record.id == id.as_str() && record.start.is_some() && record.end.is_none())
    {
        close(project, &id, command, output)?;
        output.remark(format_args!("session {id} has ended"));
    }
    Ok(())
}

fn list(project: &Project, output: &Output, list: &ListArguments) -> Result<Exit, Failure> {
    let mut records = project.workspace.history().ask(|history| history.sessions())?;
    records.reverse();
    let more = list.cut(&mut records);
    if output.json {
        let sessions = list.keep_fields(records.iter().map(|record| SessionRow::of(project, record)))?;
        output.answer(|| Answer::Session(Told::List { sessions, more }));
    } else if records.is_empty() {
        output.remark("no session yet: `stepmark session start` begins one");
    } else {
        let header = ["SESSION", "NAME", "STATE", "BEGAN", "LAST EVENT", "EVENTS", "ACTOR"];
        output.line(table(&header, records.iter().map(|record| row(project, record))));
        list.remark_more(more, output);
    }
    Ok(Exit::Fine)
}

fn show(project: &Project, output: &Output, id: Option<&SessionId>) -> Result<Exit, Failure> {
    let id = named(project, id)?;
    let record = record(project, &id)?;
    let events = project.workspace.history().ask(|history| history.of_session(id.as_str()))?;
    output.answer(|| {
        let event_list = events.iter().map(EventRow::of).collect();
        Answer::Session(Told::Show { session: SessionRow::of(project, &record), event_list })
    });
    let header = ["SESSION", "NAME", "STATE", "BEGAN", "LAST EVENT", "EVENTS", "ACTOR"];
    output.line(table(&header, [row(project, &record)]));
    output.line("");
    let header = ["EVENT", "AT", "KIND", "ARTIFACT", "COMMAND"];
    output.line(table(&header, events.iter().map(event_row)));
    Ok(Exit::Fine)
}

fn named(project: &Project, id: Option<&SessionId>) -> Result<SessionId, Failure> {
    let current = || project.workspace.attribution().session.clone();
    id.cloned().or_else(current).ok_or_else(|| {
        Failure::new(Exit::Usage, "no session is current")
            .with_help(format!("name one, or set {SESSION_VARIABLE}; `stepmark session list` shows them"))
    })
}

fn record(project: &Project, id: &SessionId) -> Result<Record, Failure> {
    let sessions = project.workspace.history().ask(|history| history.sessions())?;
    sessions.into_iter().find(|record| record.id == id.as_str()).ok_or_else(|| {
        Failure::new(Exit::Findings, format!("the journal knows no session `{id}`"))
            .with_help("`stepmark session list` shows the sessions")
    })
}

/// `current`, `ended`, `running` (its process lives), or `interrupted` (not ended, and no process of it lives
/// here).
fn state(project: &Project, record: &Record) -> &'static str {
    match (&record.end, project.workspace.attribution().session.as_ref()) {
        (Some(_), _) => "ended",
        (None, Some(current)) if current.as_str() == record.id => "current",
        (None, _) if is_running(record) => "running",
        (None, _) => "interrupted",
    }
}

pub(crate) fn is_running(record: &Record) -> bool {
    let noted = record.start.iter().chain([&record.last]).filter_map(|event| event.data.get(PROCESS));
    record.end.is_none() && noted.into_iter().any(process::lives)
}

/// The history of an ended session is closed.
pub(crate) fn refuse_ended(project: &Project) -> Result<(), Failure> {
    let Some(id) = project.workspace.attribution().session.clone() else { return Ok(()) };
    let end = project.workspace.history().ask(|history| history.end_of_session(id.as_str()))?;
    let Some(end) = end else { return Ok(()) };
    let message = format!("nothing was changed: the session `{id}` has ended, at {:.0}", end.at);
    Err(Failure::new(Exit::Findings, message).with_help(format!(
        "begin another: `eval \"$(stepmark session start)\"`; or work without one: `unset {SESSION_VARIABLE}`"
    )))
}

fn name(record: &Record) -> Option<&str> {
    record.start.as_ref()?.data.get("name")?.as_str()
}

fn row(project: &Project, record: &Record) -> Vec<String> {
    let actor = record.start.as_ref().unwrap_or(&record.last).actor.to_string();
    let last = format!("{} {}", record.last.at, last_in_words(&record.last));
    vec![
        record.id.clone(),
        name(record).unwrap_or("-").to_owned(),
        state(project, record).to_owned(),
        record.first_at.to_string(),
        last,
        record.events.to_string(),
        actor,
    ]
}

fn last_in_words(event: &Event) -> String {
    match (&event.artifact, &event.command) {
        (Some(artifact), Some(command)) => format!("{command} ({})", artifact.path),
        (Some(artifact), None) => format!("{} ({})", event.kind.as_str(), artifact.path),
        (None, _) => event.kind.as_str().to_owned(),
    }
}

fn event_row(event: &Event) -> Vec<String> {
    let dash = || "-".to_owned();
    vec![
        event.id.to_string().get(..12).unwrap_or_default().to_owned(),
        event.at.to_string(),
        event.kind.as_str().to_owned(),
        event.artifact.as_ref().map_or_else(dash, |artifact| artifact.path.to_string()),
        event.command.clone().unwrap_or_else(dash),
    ]
}

answers! { Answer<'a>
    /// `session`: one session, or all in `sessions`
    "stepmark.session/1" Session (Told<'a>)
    struct SessionRow<'a> {
        session: &'a str, name: Option<&'a str>, state: &'static str, began: Timestamp,
        ended: Option<Timestamp>, events: u64, last_event: EventRow<'a>,
    }
    struct EventRow<'a> {
        id: EventId, at: Timestamp, kind: &'a str, actor: String, artifact: Option<&'a ProjectPath>,
        command: Option<&'a str>,
    }
    enum Told<'a> {
        Started { session: &'a str, name: Option<&'a str>, export: &'a str, memory: &'a str },
        Ended { session: &'a str, state: &'static str, sealed: &'a [String] },
        List { sessions: Vec<Row<SessionRow<'a>>>, more: usize },
        Show { #[serde(flatten)] session: SessionRow<'a>, event_list: Vec<EventRow<'a>> },
    }
}

impl<'a> EventRow<'a> {
    fn of(event: &'a Event) -> Self {
        Self {
            id: event.id,
            at: event.at,
            kind: event.kind.as_str(),
            actor: event.actor.to_string(),
            artifact: event.artifact.as_ref().map(|artifact| &artifact.path),
            command: event.command.as_deref(),
        }
    }
}

impl<'a> SessionRow<'a> {
    fn of(project: &Project, record: &'a Record) -> Self {
        Self {
            session: &record.id,
            name: name(record),
            state: state(project, record),
            began: record.first_at,
            ended: record.end.as_ref().map(|end| end.at),
            events: record.events,
            last_event: EventRow::of(&record.last),
        }
    }
}

/// Allowed at the boundaries of a cycle only. A failure does not keep a session from beginning.
pub(super) fn refresh_instructions(project: &Project, output: &Output) {
    match project.workspace.instructions().refresh() {
        Ok(Some(refreshed)) => instructions::say_kept(&refreshed, output),
        Ok(None) => {}
        Err(error) => {
            output.warning(format_args!("the instructions stay as they are: {}", crate::exit::chain(&error)))
        }
    }
}

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
            (None, false) => begin(project, None, process::own())?.0,
        };
        refresh_instructions(&project, output);
        // The arguments may hold secrets, and the journal reaches git: only the program is told.
        let draft = EventDraft::new(Kind::HAND_OFF)
            .with_command("exec")
            .with("program", program.to_string_lossy().into_owned())
            .with("arguments", arguments.len());
        // It becomes the program, and keeps its number.
        let draft = process::own().into_iter().fold(draft, |draft, own| draft.with(PROCESS, own));
        // This finishes what was cut off, and returns when the event is on the disk.
        project.workspace.history().append_event(draft)?;
        output.finish()?;
        let session = match (&project.workspace.attribution().session, self.no_session) {
            (Some(session), false) => process::Session::Attached(session.as_str()),
            _ => process::Session::None,
        };
        let hand_off = process::HandOff { program, arguments, root: project.root().path(), session };
        Err(hand_off.replace_process())
    }
}
