//! `stepmark log`

use std::{collections::BTreeSet, path::PathBuf};

use clap::{Args, Subcommand};
use serde_json::json;
use stepmark_model::artifact::ProjectPath;
use stepmark_model::journal::{ArtifactKey, Digests, Event, Kind, SessionId};
use stepmark_store::history::{History, Selection};
use stepmark_store::workspace::ArtifactError;

use super::{at::At, diff::Diff, journal::Journal, replay::Replay};
use crate::{
    exit::{Exit, Failure},
    output::{Output, history, keep_fields, on_one_line, wording},
    project::Project,
};

/// The most events that are shown where nothing narrows them.
const SHOWN: usize = 100;

/// Show what happened, the latest first
///
/// With `--session ID` only what happened in that session.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Log {
    /// Only the history of this artifact
    artifact: Option<PathBuf>,
    /// At most so many events; without it all of an artifact or a session, else 100
    #[arg(short = 'n', long, visible_alias = "limit", value_name = "N")]
    number: Option<usize>,
    /// With --json, only these fields of each event, with commas between them
    #[arg(long, value_name = "FIELDS", requires = "json", value_delimiter = ',')]
    fields: Vec<String>,
    #[command(subcommand)]
    part: Option<Part>,
}

#[derive(Debug, Subcommand)]
enum Part {
    At(At),
    Diff(Diff),
    Replay(Replay),
    Journal(Journal),
}

impl Part {
    fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        match self {
            Self::At(command) => command.run(project, output),
            Self::Diff(command) => command.run(project, output),
            Self::Replay(command) => command.run(project, output),
            Self::Journal(command) => command.run(project, output),
        }
    }
}

impl Log {
    /// `session` is the one that a flag names: that of the environment does not narrow.
    pub(crate) fn run(
        &self,
        project: &Project,
        session: Option<&SessionId>,
        output: &Output,
    ) -> Result<Exit, Failure> {
        if let Some(part) = &self.part {
            return part.run(project, output);
        }
        let artifact = self.artifact.as_deref().map(|given| project.identity(given)).transpose()?;
        let is_narrowed = artifact.is_some() || session.is_some();
        let limit = self.number.or(Some(SHOWN).filter(|_| !is_narrowed));
        let history = History::open(project.root())?;
        // One more tells whether there are more.
        let mut events = history.select(Selection {
            artifact: artifact.as_ref().map(|(key, path)| (key, path)),
            session: session.map(SessionId::as_str),
            limit: limit.map(|limit| limit.saturating_add(1)),
        })?;
        if let Some((key, path)) = artifact.as_ref().filter(|_| session.is_none()) {
            add_earlier_names(project, &history, (key, path), &mut events)?;
        }
        let has_more = limit.is_some_and(|limit| events.len() > limit);
        events.truncate(limit.unwrap_or(usize::MAX));
        if output.json {
            let events: Result<Vec<serde_json::Value>, _> = events.iter().map(serde_json::to_value).collect();
            let events = events.map_err(|error| Failure::from_error(Exit::Io, &error))?;
            let events = keep_fields(&self.fields, events)?;
            output.json("stepmark.log/1", json!({ "events": events, "more": has_more }));
        } else {
            // In one piece: thousands of lines are thousands of writes otherwise.
            let is_elsewhere = |event: &Event| {
                let own = artifact.as_ref().map(|(_, path)| path);
                event.artifact.as_ref().is_some_and(|artifact| Some(&artifact.path) != own)
            };
            let lines: Vec<String> =
                events.iter().flat_map(|event| told(event, is_elsewhere(event))).collect();
            if !lines.is_empty() {
                output.line(lines.join("\n"));
            }
            self.remark(&events, has_more, output);
        }
        wording::warn_of_damage(&history, output)?;
        Ok(Exit::Fine)
    }

    fn remark(&self, events: &[Event], has_more: bool, output: &Output) {
        if has_more && self.number.is_none() {
            output.remark(format_args!("… and more: name an artifact, or how many with -n"));
        }
        if events.is_empty() {
            output.remark("nothing is recorded");
        }
    }
}

/// Adds what happened under earlier names to `events` of an artifact without an id, which `git mv` and other
/// programs move untold: its history begins, or is empty, with the state in which that of a file that is gone
/// ended.
fn add_earlier_names(
    project: &Project,
    history: &History,
    (key, path): (&ArtifactKey, &ProjectPath),
    events: &mut Vec<Event>,
) -> Result<(), Failure> {
    let mut known = BTreeSet::from([path.clone()]);
    while key.is_path() {
        let state = match events.last() {
            Some(first) if first.kind == Kind::FIRST_SEEN => first.after,
            Some(_) => None,
            None => project.workspace.artifact(path).ok().map(|now| Digests::of(now.artifact())),
        };
        let Some(state) = state else { break };
        let is_gone = |path: &ProjectPath| {
            matches!(project.workspace.artifact(path), Err(ArtifactError::Missing { .. }))
        };
        let ended = history.paths_that_ended_in(state)?.into_iter();
        let left: Vec<ProjectPath> = ended.filter(|path| is_gone(path) && !known.contains(path)).collect();
        // Several that look alike are told by nothing.
        let [earlier] = &left[..] else { break };
        let key = ArtifactKey::of_path(earlier);
        events.extend(history.select(Selection { artifact: Some((&key, earlier)), ..Selection::default() })?);
        known.insert(earlier.clone());
    }
    Ok(())
}

/// One line of who and when, one of what.
fn told(event: &Event, with_path: bool) -> Vec<String> {
    let kind = if event.kind == Kind::CHANGE { String::new() } else { format!("  {}", event.kind.as_str()) };
    let path = event.artifact.as_ref().filter(|_| with_path).map(|artifact| artifact.path.to_string());
    let changes = Some(history::changes(&event.changes)).filter(|words| !words.is_empty());
    let what: Vec<String> = path.into_iter().chain(changes.or_else(|| event.command.clone())).collect();
    let reason = event.reason.as_ref().map(|reason| format!("  ({reason})")).unwrap_or_default();
    let mut lines = vec![format!("{}  {}{kind}", history::short(event.id), history::origin(event))];
    if !what.is_empty() || !reason.is_empty() {
        lines.push(format!("    {}{reason}", what.join(": ")));
    }
    // What a file holds may hold line ends.
    lines.iter().map(|line| on_one_line(line)).collect()
}
