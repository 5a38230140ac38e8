//! `stepmark show`, `log at` and `log diff`

use std::path::PathBuf;

use super::context::Context;
use crate::{
    exit::{Exit, Failure},
    output::{
        ListArguments, Output, Row, bar, history, on_one_line, spinner,
        wire::{ArtifactWire, Open},
    },
    project::Project,
};
use clap::{Args, Subcommand};
use jiff::{Timestamp, civil};
use serde_json::{Map, Value as Json};
use stepmark_frontmatter::{Change, Value, diff};
use stepmark_model::{
    artifact::{Artifact, FileHash, ProjectPath},
    check::ProblemCounts,
    journal::{ArtifactKey, Event, EventId},
    resume::NoResumePoint,
    summary::ArtifactSummary,
    tracked_artifact::{Membership, TrackedArtifact},
    workflow::Unit,
};
use stepmark_store::ErrorKind;
use stepmark_store::history::{History, KnownArtifact, Point};
use stepmark_view::observation::Entry;

/// Show one artifact: its state, its workflow and its steps
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Show {
    /// The artifact; without it the active one of the configuration, else the last one worked on that is not
    /// finished
    artifact: Option<PathBuf>,
    #[command(subcommand)]
    part: Option<Part>,
}

#[derive(Debug, Subcommand)]
enum Part {
    Context(Context),
}

impl Show {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        if let Some(Part::Context(context)) = &self.part {
            return context.run(project, output);
        }
        let path = project.artifact_or_active(self.artifact.as_deref())?;
        let artifact = project.workspace.artifact(&path)?;
        let findings = project.workspace.checks().own_findings(&artifact);
        if output.json {
            output.answer(|| Answer::Show {
                artifact: ArtifactWire::new(&ArtifactSummary::of(&artifact), ProblemCounts::of(&findings)),
                file_hash: artifact.artifact().file_hash(),
                lifecycle: LifecycleRow::of(&artifact),
                frontmatter: frontmatter(artifact.artifact()),
            });
            return Ok(Exit::Fine);
        }
        describe(&artifact, output);
        let (reports, more) = crate::output::Excerpt::new(artifact.artifact().bytes()).reports(&findings);
        reports.into_iter().for_each(|report| output.styled_line(report));
        if more > 0 {
            output.line(format!("{}; `stepmark check` counts all", spinner::count(more, "more finding")));
        }
        Ok(Exit::Fine)
    }
}

answers! { Answer<'a>
    /// `show`: one artifact with its frontmatter
    "stepmark.show/2" Show {
        #[serde(flatten)] artifact: ArtifactWire, file_hash: FileHash, lifecycle: Option<LifecycleRow<'a>>,
        frontmatter: Json,
    }
    /// `log at`: a frontmatter at a time
    "stepmark.at/1" At {
        path: &'a ProjectPath, key: &'a ArtifactKey, event: EventId, at: Timestamp, state: Option<&'a Json>,
    }
    /// `log diff`: what differs between the ends of two sessions
    "stepmark.diff/1" Diff { artifacts: Vec<Row<DifferenceRow<'a>>>, more: usize }
    struct LifecycleRow<'a> {
        name: &'a str, state: Option<&'a str>, moves: Vec<&'a str>, because: Vec<String>,
    }
    struct DifferenceRow<'a> {
        path: &'a ProjectPath, key: &'a ArtifactKey, older: Option<EventId>, newer: Option<EventId>,
        changes: Open<&'a [Change]>,
    }
}

impl<'a> LifecycleRow<'a> {
    fn of(artifact: &'a TrackedArtifact) -> Option<Self> {
        let choice = artifact.lifecycle()?;
        Some(Self {
            name: choice.lifecycle.name(),
            state: artifact.lifecycle_state().map(|state| &*state.name),
            moves: artifact.moves().iter().map(|legal| &*legal.to.name).collect(),
            because: choice.evidence.iter().map(ToString::to_string).collect(),
        })
    }
}

fn frontmatter(artifact: &Artifact) -> Json {
    let yaml = artifact.state_yaml();
    let value = yaml.as_ref().and_then(|yaml| Value::of(yaml, yaml.root()?).ok());
    value.map_or(Json::Null, |value| value.to_json())
}

fn describe(artifact: &TrackedArtifact, output: &Output) {
    let state = artifact.state();
    let progress = artifact.progress();
    let summary = ArtifactSummary::of(artifact);
    let line = |name: &str, value: Option<&str>| {
        if let Some(value) = value {
            output.line(format_args!("{name:<10} {}", on_one_line(value)));
        }
    };
    line("artifact", Some(artifact.path().as_str()));
    line("kind", state.kind.map(|kind| kind.name.as_str()));
    line("title", state.title.as_ref().and_then(|title| title.filled()));
    line("id", [&state.id, &state.stepmark_id].into_iter().flatten().find_map(|id| id.filled()));
    line("workflow", Some(&summary.workflow.in_words()));
    if let Membership::Member { evidence, .. } = artifact.membership() {
        let reasons: Vec<_> = evidence.iter().map(ToString::to_string).collect();
        line("because", Some(&reasons.join("; ")));
    }
    line("status", state.status.as_ref().and_then(|status| status.filled()));
    if let Some(choice) = artifact.lifecycle() {
        let state = artifact.lifecycle_state();
        let state = state.map_or("an unknown state".to_owned(), |state| format!("state `{}`", state.name));
        line("lifecycle", Some(&format!("{}, {state}; {choice}", choice.lifecycle.name())));
    }
    line("agent", state.kind.and(summary.agent.as_deref()));
    line("scope", state.scope().map(|scope| scope.to_string()).as_deref());
    if let Some(progress) = &summary.progress {
        line("work state", Some(progress.state.as_str()));
        line("done", Some(&bar(progress.done, progress.total)));
    }
    let entry = Entry::of(&summary);
    let actions = entry.next.as_ref().map(|_| artifact.artifact().operator_actions()).unwrap_or_default();
    line("waits for", joined(actions.iter().map(String::as_str)).as_deref());
    let import = artifact.waits_for_import().then_some(NoResumePoint::NOT_IMPORTED);
    // The command of a record says it.
    let is_moved = progress.is_none() && state.kind.is_some() && entry.command.is_some();
    line("next", import.or(entry.next.as_deref().filter(|_| !is_moved)));
    if progress.is_none() || state.kind.is_some() {
        line("command", entry.command.as_deref());
    }
    line("inputs", joined(state.input_documents.iter().map(|input| input.path.as_str())).as_deref());
    line("listed", joined(artifact.steps().completed().iter().map(|id| id.spelling())).as_deref());
    if let (Some(workflow), Some(progress)) = (artifact.workflow(), &progress) {
        let is_done = |step: &stepmark_model::workflow::Step| {
            progress.done.iter().any(|item| item.steps.iter().any(|done| done.id == step.id))
        };
        for unit in workflow.chain.units() {
            let (mark, name) = match unit {
                Unit::Step(step) => (is_done(step), step.name().to_owned()),
                Unit::Choice(steps) => {
                    let names: Vec<_> = steps.iter().map(|step| step.name()).collect();
                    (steps.iter().any(|step| is_done(step)), names.join(" | "))
                }
            };
            output.line(format_args!("  [{}] {name}", if mark { 'x' } else { ' ' }));
        }
    }
}

fn joined<'a>(parts: impl Iterator<Item = &'a str>) -> Option<String> {
    let parts: Vec<_> = parts.collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Show the frontmatter an artifact had at a time, an event, or the end of a session
#[derive(Debug, Args)]
pub(crate) struct At {
    /// A time with its offset (2026-11-22T10:00:00Z), a date (its end, UTC), the beginning of an event id, or
    /// a session
    point: String,
    /// The artifact
    artifact: PathBuf,
}

impl At {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let (key, path) = project.identity(&self.artifact)?;
        let history = History::open(project.root())?;
        let point = point(&history, &self.point, output)?;
        let Some(event) = history.at(&key, &path, &point)? else {
            return Err(Failure::new(
                Exit::Findings,
                format!("nothing is recorded of `{path}` at `{}`", self.point),
            )
            .with_help(format!("`stepmark log {path}` shows what is recorded")));
        };
        let state = match event.after {
            Some(_) => Some(history.state_after(event.id)?),
            None => None,
        };
        if output.json {
            let state = state.as_ref();
            output.answer(|| Answer::At { path: &path, key: &key, event: event.id, at: event.at, state });
            return Ok(Exit::Fine);
        }
        let Some(state) = state else {
            return Err(Failure::new(
                Exit::Findings,
                format!("there was no file `{path}` after event {}", history::short(event.id)),
            ));
        };
        show(&event, &state, output)
    }
}

fn show(event: &Event, state: &Json, output: &Output) -> Result<Exit, Failure> {
    output.remark(format_args!("# {}  {}", history::short(event.id), history::origin(event)));
    let text = serde_yaml::to_string(state).map_err(|error| Failure::from_error(Exit::Io, &error))?;
    output.line(text.trim_end());
    Ok(Exit::Fine)
}

/// A time, else an event, else a session.
fn point(history: &History, text: &str, output: &Output) -> Result<Point, Failure> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(Point::Time(time));
    }
    if let Some(time) = end_of_day(text) {
        output.remark(format_args!("# `{text}` is taken as the end of that day, {time}"));
        return Ok(Point::Time(time));
    }
    if text.parse::<civil::DateTime>().is_ok() {
        let help = format!("add the offset: `{text}Z` for UTC, or as in `{text}+01:00`");
        return Err(Failure::new(Exit::Usage, format!("`{text}` names no moment: its time zone is missing"))
            .with_help(help));
    }
    match history.event(text) {
        Ok(event) => Ok(Point::Event(event.id)),
        Err(error) if error.kind() == ErrorKind::Unknown => Ok(Point::Session(text.to_owned())),
        Err(error) => Err(error.into()),
    }
}

/// In UTC, to the microsecond.
fn end_of_day(text: &str) -> Option<Timestamp> {
    let date = Some(text).filter(|text| text.len() == 10)?.parse::<civil::Date>().ok()?;
    let end = date.at(23, 59, 59, 999_999_000);
    end.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

/// Show what differs in the artifacts between the ends of two sessions
#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// The session at whose end the older states stood
    older: String,
    /// The session at whose end the newer states stood
    newer: String,
    #[command(flatten)]
    list: ListArguments,
}

struct Difference {
    artifact: KnownArtifact,
    older: Option<Event>,
    newer: Option<Event>,
    changes: Vec<Change>,
}

impl Diff {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let history = History::open(project.root())?;
        let mut differences = Vec::new();
        for artifact in history.touched(&self.older, &self.newer)? {
            differences.extend(self.compare(&history, artifact)?);
        }
        let answer = |artifacts, more| Answer::Diff { artifacts, more };
        self.list.answer(output, &mut differences, DifferenceRow::of, answer, |differences| {
            if differences.is_empty() {
                output.remark(format_args!(
                    "no artifact differs between the ends of {} and {}",
                    self.older, self.newer
                ));
            }
            differences.iter().for_each(|difference| tell(difference, output));
        })?;
        Ok(Exit::Fine)
    }

    fn compare(&self, history: &History, artifact: KnownArtifact) -> Result<Option<Difference>, Failure> {
        let at_end =
            |session: &str| history.at(&artifact.key, &artifact.path, &Point::Session(session.to_owned()));
        let (older, newer) = (at_end(&self.older)?, at_end(&self.newer)?);
        if older.as_ref().map(|event| event.id) == newer.as_ref().map(|event| event.id) {
            return Ok(None);
        }
        let changes = diff(&state(history, older.as_ref())?, &state(history, newer.as_ref())?);
        let is_same = changes.is_empty() && exists(older.as_ref()) == exists(newer.as_ref());
        Ok((!is_same).then_some(Difference { artifact, older, newer, changes }))
    }
}

fn exists(event: Option<&Event>) -> bool {
    event.is_some_and(|event| event.after.is_some())
}

fn state(history: &History, event: Option<&Event>) -> Result<Json, Failure> {
    match event.filter(|event| event.after.is_some()) {
        Some(event) => Ok(history.state_after(event.id)?),
        None => Ok(Json::Object(Map::new())),
    }
}

impl<'a> DifferenceRow<'a> {
    fn of(Difference { artifact, older, newer, changes }: &'a Difference) -> Self {
        let [older, newer] = [older, newer].map(|event| event.as_ref().map(|event| event.id));
        Self { path: &artifact.path, key: &artifact.key, older, newer, changes: Open(changes) }
    }
}

fn tell(difference: &Difference, output: &Output) {
    let presence = match (exists(difference.older.as_ref()), exists(difference.newer.as_ref())) {
        (false, true) => " (new)",
        (true, false) => " (gone)",
        _ => "",
    };
    output.line(format_args!("{}{presence}", difference.artifact.path));
    for change in &difference.changes {
        output.line(format_args!("    {}", on_one_line(&history::change(change))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_its_end_in_utc() {
        let end = end_of_day("2026-11-22").map(|time| time.to_string());
        assert_eq!(end.as_deref(), Some("2026-11-22T23:59:59.999999Z"));
        for text in ["2026-11-32", "20261122", "2026-11", "2026-11-22T10:00", "today"] {
            assert_eq!(end_of_day(text), None, "{text}");
        }
    }
}
