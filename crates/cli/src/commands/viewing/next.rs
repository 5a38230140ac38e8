//! `stepmark next`

use std::{
    cmp::Ordering,
    path::{Path, PathBuf},
};

use clap::Args;
use stepmark_model::{
    artifact::{Problem, ProjectPath},
    check::ProblemCounts,
    projection::order_of,
    resume::{NextStep, NoResumePoint, ResumePoint},
    summary::{ArtifactSummary, Condition},
    tracked_artifact::TrackedArtifact,
    workflow::WorkState,
};
use stepmark_store::{bmad::NextStory, resuming::ResumeChoice};
use stepmark_view::observation::Entry;

use super::tickets;
use crate::{
    exit::{Exit, Failure},
    output::{Output, table, wire::NextWire},
    project::Project,
};

/// Print the next step of an artifact and the file to read for it
///
/// Where it has no workflow, what comes next is a move of its status.
#[derive(Debug, Args)]
pub(crate) struct Next {
    /// The artifact; without it the active one of the configuration, else the last one worked on that is not
    /// finished
    artifact: Option<PathBuf>,
}

answers! { Answer<'a>
    /// `next`: the step to go on with, and its file; else the moves of its status
    "stepmark.next/3" Next {
        path: &'a ProjectPath, #[serde(flatten)] next: NextWire,
        /// Errors and warnings of its own
        problems: usize,
        #[serde(skip_serializing_if = "Option::is_none")] command: Option<String>,
        /// The file of a skill to read for it
        #[serde(skip_serializing_if = "Option::is_none")] read: Option<&'a ProjectPath>,
    }
    /// `next` without an artifact, where several are open: those that were begun first
    "stepmark.next-list/1" List {
        artifacts: Vec<EntryRow<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")] stories: Option<Vec<&'a NextStory>>,
    }
    struct EntryRow<'a> {
        path: &'a ProjectPath, status: Option<&'a str>, next: Option<&'a str>, command: Option<&'a str>,
    }
}

impl Next {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let given = self.artifact.as_deref().and_then(Path::to_str);
        if let Some(answer) = tickets::next(&project.workspace.tickets(), given, output) {
            return answer;
        }
        let path = match &self.artifact {
            Some(given) => project.artifact_path(given)?,
            None => match project.resume_choice()? {
                ResumeChoice::Unclear(paths) => {
                    let stories = project.workspace.next_stories();
                    if !paths.is_empty() || !stories.is_empty() {
                        return list(project, &paths, &stories, output);
                    }
                    let none = ResumeChoice::Unclear(paths);
                    project.chosen(none).map_err(|none| Failure { exit: Exit::Nothing, ..none })?
                }
                choice => project.chosen(choice).map_err(|none| Failure { exit: Exit::Nothing, ..none })?,
            },
        };
        let artifact = project.workspace.artifact(&path)?;
        let (point, progress) = (ResumePoint::of(&artifact), artifact.progress());
        if progress.is_none()
            && let Err(reason) = &point
        {
            return Err(cannot_tell(&artifact, reason));
        }
        let guide = project.workspace.guide(&artifact);
        if output.json {
            let counts = ProblemCounts::of(&project.workspace.checks().own_findings(&artifact));
            let command = Entry::of(&ArtifactSummary::of(&artifact)).command;
            output.answer(|| Answer::Next {
                path: artifact.path(),
                next: NextWire::new(&artifact),
                problems: counts.errors + counts.warnings,
                command: command.filter(|_| has_commands(&artifact)),
                read: guide.as_ref(),
            });
        }
        let Some(progress) = progress else {
            let exit = tell_move(&artifact, guide.as_ref(), output);
            return Ok(if self.artifact.is_some() { Exit::Fine } else { exit });
        };
        if progress.state == WorkState::Interrupted {
            output.warning(format_args!(
                "`{}` has content but no completed step: the workflow was interrupted; look at it before its first \
                 step runs again",
                artifact.path()
            ));
        }
        let point = point.map_err(|reason| cannot_tell(&artifact, &reason))?;
        if point.finished {
            output.remark(format_args!("`{}` is finished", artifact.path()));
            return Ok(if self.artifact.is_some() { Exit::Fine } else { Exit::Nothing });
        }
        tell_steps(&point, output);
        Ok(Exit::Fine)
    }
}

/// `step-03-success  path/of/step-03-success.md`.
pub(super) fn tell_steps(point: &ResumePoint, output: &Output) {
    let line = |next: &NextStep| match &next.file {
        Some(file) => format!("{}  {file}", next.step),
        None => next.step.clone(),
    };
    point.next.iter().for_each(|next| output.line(line(next)));
    point.alternatives.iter().for_each(|next| output.remark(format_args!("or {}", line(next))));
}

/// The first begun first, those that wait for something last.
fn list(
    project: &Project,
    paths: &[ProjectPath],
    stories: &[NextStory],
    output: &Output,
) -> Result<Exit, Failure> {
    let open = paths.iter().map(|path| project.workspace.artifact(path));
    let open = in_order(open.collect::<Result<Vec<_>, _>>()?);
    let mut entries: Vec<Entry> =
        open.iter().map(|artifact| Entry::of(&ArtifactSummary::of(artifact))).collect();
    // An artifact that is held up is not next.
    entries.retain(|entry| match entry.condition {
        Condition::Blocked => entry.kind.is_some(),
        condition => condition != Condition::Waiting,
    });
    // Stories of a list come one after the other.
    let is_later = |entry: &Entry| {
        let folder = entry.path.parent().and_then(|folder| folder.parent());
        let of_list =
            |own: &&NextStory| own.list.parent() == folder && own.spec.as_ref() != Some(&entry.path);
        entry.path.parent().is_some_and(|folder| folder.file_name() == "stories")
            && stories.iter().any(|own| of_list(&own))
    };
    let is_begun = |entry: &Entry| {
        let is_past_start = entry.state.as_ref().is_some_and(|(rank, _)| *rank > 1);
        is_past_start || entry.bar.as_ref().is_some_and(|bar| bar.done > 0)
    };
    entries.retain(|entry| is_begun(entry) || !is_later(entry));
    let unwritten: Vec<&NextStory> = stories.iter().filter(|story| story.spec.is_none()).collect();
    entries.sort_by_key(|entry| if entry.command.is_none() { 2 } else { u8::from(!is_begun(entry)) });
    let exit = if entries.is_empty() && unwritten.is_empty() { Exit::Person } else { Exit::Fine };
    output.answer(|| Answer::List {
        artifacts: entries.iter().map(EntryRow::of).collect(),
        stories: (!unwritten.is_empty()).then(|| unwritten.clone()),
    });
    for own in &unwritten {
        let title = &own.title;
        output.line(format_args!("story {} of {}, which has no spec yet: {title}", own.id, own.list));
    }
    if entries.is_empty() && unwritten.is_empty() {
        output.remark("every open artifact waits for a person: `stepmark status` shows them");
    }
    if !entries.is_empty() {
        let cell = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
        let cells = |entry: &Entry| vec![entry.path.to_string(), cell(&entry.status), cell(&entry.next)];
        output.line(table(&["ARTIFACT", "STATUS", "NEXT"], entries.iter().map(cells)));
        output.remark("`stepmark next ARTIFACT` names the command");
    }
    Ok(exit)
}

impl<'a> EntryRow<'a> {
    fn of(Entry { path, status, next, command, .. }: &'a Entry) -> Self {
        let [status, next, command] = [status, next, command].map(Option::as_deref);
        Self { path, status, next, command }
    }
}

/// Kinds with an order of their own are sorted, at the place of their first artifact.
fn in_order(open: Vec<TrackedArtifact>) -> Vec<TrackedArtifact> {
    let kind = |own: &TrackedArtifact| {
        own.lifecycle().and_then(|choice| choice.kind.clone()).filter(|kind| !kind.order.is_empty())
    };
    let first = |place: usize| match kind(&open[place]) {
        Some(own) => open.iter().position(|other| kind(other).as_ref() == Some(&own)).unwrap_or(place),
        None => place,
    };
    let state = |own: &TrackedArtifact| own.artifact().state_value().unwrap_or_default();
    let place = |(place, own): (usize, &TrackedArtifact)| (first(place), state(own), own.clone());
    let mut all: Vec<_> = open.iter().enumerate().map(place).collect();
    all.sort_by(|(place, state, one), (other_place, other_state, other)| {
        let by_kind =
            || kind(one).map(|own| order_of(&own, (one.path(), state), (other.path(), other_state)));
        place.cmp(other_place).then_with(|| by_kind().unwrap_or(Ordering::Equal))
    });
    all.into_iter().map(|(_, _, own)| own).collect()
}

/// `status → in-progress`, its command, and the other moves; or that nothing is left.
fn tell_move(artifact: &TrackedArtifact, guide: Option<&ProjectPath>, output: &Output) -> Exit {
    let entry = Entry::of(&ArtifactSummary::of(artifact));
    let (Some(next), Some(command)) = (entry.next, entry.command) else {
        output.remark(format_args!("`{}` is finished", artifact.path()));
        return Exit::Nothing;
    };
    for action in artifact.artifact().operator_actions() {
        output.line(format_args!("a person has to: {action}"));
    }
    if has_commands(artifact) {
        output.line(command);
    } else {
        output.line(next);
        output.remark(format_args!("  {command}"));
    }
    guide.iter().for_each(|file| output.line(format_args!("read {file}")));
    let named = artifact.next_state();
    let others = artifact.moves();
    let others = others.iter().map(|legal| legal.to).filter(|other| named != Some(*other));
    let others: Vec<&str> = others.map(|other| other.name.as_str()).collect();
    if !others.is_empty() {
        output.remark(format_args!("  or to {}", others.join(", ")));
    }
    if artifact.waits_for_person() { Exit::Person } else { Exit::Fine }
}

fn has_commands(artifact: &TrackedArtifact) -> bool {
    let of_pack = artifact.lifecycle().and_then(|choice| choice.kind.as_deref());
    artifact.state().kind.or(of_pack).is_some_and(|kind| !kind.commands.is_empty())
}

fn cannot_tell(artifact: &TrackedArtifact, reason: &NoResumePoint) -> Failure {
    let path = artifact.path();
    let damage = artifact.artifact().diagnoses().iter().find_map(|own| match &own.problem {
        Problem::NotYaml { error } => Some((own.span.start, error)),
        _ => None,
    });
    let (reason, help) = match damage {
        Some((at, error)) => (
            format!("line {}: {error}", artifact.artifact().document().position(at)),
            format!("fix it; `stepmark resume {path}` says what history knows"),
        ),
        None => (reason.to_string(), reason.help.to_owned()),
    };
    Failure::new(Exit::Findings, format!("cannot tell the next step of `{path}`: {reason}")).with_help(help)
}
