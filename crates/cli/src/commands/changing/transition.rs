//! `stepmark transition`

use std::path::PathBuf;

use super::change;
use crate::{
    arguments::{ReasonArguments, reason},
    commands::checking::lifecycle::MoveRow,
    exit::{Exit, Failure},
    output::{Output, table},
    project::Project,
};
use clap::Args;
use stepmark_model::{
    artifact::ProjectPath,
    lifecycle::{Guard, Lifecycle, LifecycleSource, LifecycleState, Move},
    tracked_artifact::TrackedArtifact,
    transition::{Command, Strictness, TransitionRefusal, finish_above},
};
use stepmark_store::{Error, changes::ChangeReason};

/// Move an artifact's status; without STATE, list the legal moves
///
/// The move must be one of the table, and its conditions must hold: steps finished, delegated work finished,
/// a key filled. Counters and remembered states that the table names are written with it. `--force --reason`
/// makes a move all the same; the journal keeps who forced it, and why.
#[derive(Debug, Args)]
pub(crate) struct Transition {
    /// The artifact
    artifact: PathBuf,
    /// The state to go to, in any of its words: `done`, `completed`
    state: Option<String>,
    #[command(flatten)]
    reason: ReasonArguments,
}

impl Transition {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let path = project.artifact_path(&self.artifact)?;
        let Some(state) = &self.state else {
            return list(project, &project.workspace.artifact(&path)?, output);
        };
        let command = Command::Transition { to: state.clone() };
        let reason = self.reason.reason();
        change::execute(project, output, &path, (&command, Strictness::Warn), reason)
    }
}

struct Way<'a> {
    to: &'a LifecycleState,
    /// `None` without a status: then any state is allowed.
    legal: Option<Move<'a>>,
    refused: Option<String>,
}

fn list(project: &Project, artifact: &TrackedArtifact, output: &Output) -> Result<Exit, Failure> {
    let path = artifact.path();
    let Some(choice) = artifact.lifecycle() else {
        let source = TransitionRefusal::NoLifecycle;
        return Err(Error::left(path, source).into());
    };
    let status = artifact.state().status.as_ref().and_then(|status| status.filled());
    let state = status.and_then(|word| choice.lifecycle.state_of(word));
    let ways = ways(project, artifact, &choice.lifecycle, (status, state))?;
    output.answer(|| Answer::Moves {
        path,
        lifecycle: choice.lifecycle.name(),
        because: choice.evidence.iter().map(ToString::to_string).collect(),
        declared: choice.source == LifecycleSource::Declared,
        status,
        state: state.map(|state| &*state.name),
        moves: ways.iter().map(WayRow::of).collect(),
    });
    output.remark(format_args!("{path}: lifecycle `{}`, {choice}", choice.lifecycle.name()));
    match (status, state) {
        // With --json the answer says it.
        (Some(_), None) if output.json => {}
        (Some(word), None) => output.warning(format_args!(
            "{path}: its status `{word}` is no state of `{}`: no move leads out of it",
            choice.lifecycle.name()
        )),
        (Some(_), Some(state)) => output.remark(format_args!("{path}: its state is `{}`", state.name)),
        (None, _) => output.remark(format_args!("{path}: it has no status yet")),
    }
    if !ways.is_empty() {
        output.line(table(&["GOES TO", "WANTS", "IN THE WAY"], ways.iter().map(Way::row)));
    }
    Ok(if status.is_some() && state.is_none() { Exit::Findings } else { Exit::Fine })
}

fn ways<'a>(
    project: &Project,
    artifact: &'a TrackedArtifact,
    lifecycle: &'a Lifecycle,
    (status, state): (Option<&str>, Option<&'a LifecycleState>),
) -> Result<Vec<Way<'a>>, Failure> {
    let remembered = artifact.remembered();
    let mut ways: Vec<Way<'a>> = match (status, state) {
        (None, _) => lifecycle.states().iter().map(|to| Way { to, legal: None, refused: None }).collect(),
        (Some(_), None) => Vec::new(),
        (Some(_), Some(state)) => {
            let moves = lifecycle.moves_from(state, remembered.as_deref());
            moves.into_iter().map(|legal| Way { to: legal.to, legal: Some(legal), refused: None }).collect()
        }
    };
    // Lazily, once: it reads all artifacts.
    let mut children = None;
    for way in &mut ways {
        let judged = artifact.judge_status(&way.to.name);
        way.refused = match judged {
            Some(Err(refusal)) => Some(refusal.to_string()),
            Some(Ok(verdict)) if verdict.wants(&Guard::ChildrenFinished) || way.to.is_terminal => {
                if children.is_none() {
                    children = Some(project.workspace.delegations().open_children_of(artifact)?);
                }
                finish_above(children.clone().unwrap_or_default(), None)
                    .err()
                    .map(|refusal| refusal.to_string())
            }
            _ => None,
        };
    }
    Ok(ways)
}

impl Way<'_> {
    fn row(&self) -> Vec<String> {
        let guards = self.legal.iter().flat_map(|legal| legal.guards).map(ToString::to_string);
        let wants = guards.collect::<Vec<_>>().join(", ");
        let dash = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
        vec![self.to.name.clone(), dash(&wants), dash(self.refused.as_deref().unwrap_or_default())]
    }
}

answers! { Answer<'a>
    /// `transition` without STATE: the legal moves, and what is in the way
    "stepmark.transition/1" Moves {
        path: &'a ProjectPath, lifecycle: &'a str, because: Vec<String>, declared: bool,
        status: Option<&'a str>, state: Option<&'a str>, moves: Vec<WayRow<'a>>,
    }
    struct WayRow<'a> {
        to: &'a str, #[serde(skip_serializing_if = "Option::is_none")] guards: Option<Vec<String>>,
        #[serde(skip_serializing_if = "Option::is_none")] is_return: Option<bool>, refused: Option<&'a str>,
    }
}

impl<'a> WayRow<'a> {
    fn of(way: &'a Way<'_>) -> Self {
        let legal = way.legal.as_ref().map(MoveRow::of);
        let is_return = legal.as_ref().map(|legal| legal.is_return);
        let guards = legal.map(|legal| legal.guards);
        Self { to: &way.to.name, guards, is_return, refused: way.refused.as_deref() }
    }
}

/// Add steps to the completed ones of an artifact
///
/// The new item copies the spelling of its neighbours. `lastStep`, `currentStep` and `current_step` come
/// along where they exist; `status` is never touched. A step that is listed already changes nothing, and one
/// that the workflow does not have is refused. The step that finishes a workflow is refused while work that
/// was delegated from the artifact is open.
#[derive(Debug, Args)]
#[command(override_usage = "stepmark complete [OPTIONS] [ARTIFACT] <STEP>...")]
pub(crate) struct Complete {
    /// The artifact, then the steps in any spelling: `step-03-success`, `3`, `03`; steps alone are those of
    /// the active artifact: that of the configuration, else the last one worked on that is not finished
    #[arg(required = true, value_name = "ARTIFACT|STEP")]
    words: Vec<String>,
    /// Refuse a step that is not the next one, instead of warning
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    reason: ReasonArguments,
}

impl Complete {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let reason = self.reason.reason();
        let strictness = match (self.strict, &reason) {
            (true, _) => Strictness::Refuse,
            (false, ChangeReason::Forced(_)) => Strictness::Warn,
            (false, _) => Strictness::Known,
        };
        let (artifact, steps) = project.artifact_and_steps(&self.words)?;
        let command = Command::Complete { steps: steps.to_vec() };
        change::execute(project, output, &artifact, (&command, strictness), reason)
    }
}

/// Take steps out of the completed ones of an artifact
#[derive(Debug, Args)]
pub(crate) struct Reopen {
    /// The artifact
    artifact: PathBuf,
    /// The steps, in any spelling
    #[arg(required = true)]
    steps: Vec<String>,
    /// Why, for history
    #[arg(short = 'm', long, value_name = "TEXT", value_parser = reason)]
    reason: Option<String>,
}

impl Reopen {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let command = Command::Reopen { steps: self.steps.clone() };
        let path = project.artifact_path(&self.artifact)?;
        let reason = ChangeReason::said(self.reason.clone());
        change::execute(project, output, &path, (&command, Strictness::Warn), reason)
    }
}
