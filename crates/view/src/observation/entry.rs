//! One artifact, for people.

use jiff::Timestamp;
use stepmark_model::{
    artifact::{Kind, ProjectPath},
    bmad::sprint::LedgerKey,
    packs,
    spelling::argument,
    summary::{ArtifactSummary, Condition, NextSteps},
};

use super::{StepBar, TicketLink};
use crate::wording;

/// One artifact, as a row of a table shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub path: ProjectPath,
    /// Its kind, where it is a record of a system.
    pub kind: Option<&'static Kind>,
    /// Its title: of the frontmatter, else its first heading.
    pub title: Option<String>,
    /// Its workflow in words; `-` where none is known.
    pub workflow: String,
    pub bar: Option<StepBar>,
    pub condition: Condition,
    /// The next step, or the next move of its status, where that can be told.
    pub next: Option<String>,
    /// The rank of its state in its lifecycle, and the name that the lifecycle gives it.
    pub state: Option<(u32, String)>,
    /// The command that records the next step or move, where there is one.
    pub command: Option<String>,
    pub status: Option<String>,
    pub scope: Option<String>,
    /// Its key in a ledger: its part of an epic, where it is a story.
    pub story: Option<LedgerKey>,
    pub errors: usize,
    /// The number of warnings that were found in it.
    pub warnings: usize,
    pub tickets: Vec<TicketLink>,
    /// The time of its last change, as far as the latest events tell.
    pub changed_at: Option<Timestamp>,
}

impl Entry {
    /// The entry of an artifact by what it says of itself: without problems, tickets and history.
    pub fn of(summary: &ArtifactSummary<'_>) -> Self {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let condition = summary.condition;
        let state = summary.lifecycle.as_ref().and_then(|lifecycle| lifecycle.state.as_ref());
        Self {
            path: summary.path.clone(),
            kind: summary.kind,
            title: owned(summary.title.or(summary.heading.as_deref())),
            workflow: summary.workflow.in_words().into_owned(),
            bar: summary.progress.as_ref().map(StepBar::of),
            condition,
            next: next_of(summary).filter(|_| condition != Condition::Finished),
            state: state.and_then(|(name, rank)| Some(((*rank)?, name.to_string()))),
            command: command_of(summary)
                .filter(|_| !matches!(condition, Condition::Finished | Condition::Interrupted)),
            status: owned(summary.status.or(summary.body_status)),
            scope: summary.scope().map(|scope| scope.to_string()),
            story: summary.story(),
            errors: 0,
            warnings: 0,
            tickets: Vec::new(),
            changed_at: None,
        }
    }

    /// The title, else the name of the file.
    pub fn name(&self) -> &str {
        self.title.as_deref().unwrap_or_else(|| self.path.file_name())
    }
}

fn command_of(summary: &ArtifactSummary<'_>) -> Option<String> {
    let is_of_pack = summary.lifecycle.as_ref().is_some_and(|lifecycle| lifecycle.command.is_some());
    if is_of_pack || summary.kind.is_some_and(|kind| !kind.commands.is_empty()) {
        return own_command(summary).map(|command| format!("stepmark {command}"));
    }
    match &summary.progress {
        Some(progress) => match &progress.next {
            NextSteps::Step(step, _) => {
                Some(format!("stepmark complete {} {}", argument(summary.path.as_str()), argument(step.name)))
            }
            _ => None,
        },
        None => Some(transition_command(summary.path, summary.lifecycle.as_ref()?.next.as_ref()?)),
    }
}

fn own_command(summary: &ArtifactSummary<'_>) -> Option<String> {
    let lifecycle = summary.lifecycle.as_ref()?;
    if let Some(command) = &lifecycle.command {
        return Some(packs::command_for(command, summary.id.unwrap_or(summary.path.as_str())));
    }
    let (state, _) = lifecycle.state.as_ref()?;
    summary.kind?.command(state, summary.id.unwrap_or_default())
}

pub fn transition_command(path: &ProjectPath, to: &str) -> String {
    format!("stepmark transition {} {}", argument(path.as_str()), argument(to))
}

/// The next step, else the command of its kind, else the next state of the lifecycle that is further on.
fn next_of(summary: &ArtifactSummary<'_>) -> Option<String> {
    if let Some(progress) = &summary.progress {
        return Some(wording::next(&progress.next));
    }
    own_command(summary).or_else(|| Some(format!("status → {}", summary.lifecycle.as_ref()?.next.as_ref()?)))
}
