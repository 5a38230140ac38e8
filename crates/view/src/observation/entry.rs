//! Artifacts as rows of tables and trees, with their steps as cells.

use jiff::Timestamp;
use stepmark_model::{
    artifact::{Kind, ProjectPath},
    bmad::sprint::LedgerKey,
    delegation::{Chains, Forest, Member},
    packs,
    spelling::argument,
    summary::{ArtifactSummary, CellState, Condition, NextSteps, ProgressSummary, TicketPlace},
};

use super::TicketLink;
use crate::wording;

#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub path: ProjectPath,
    /// For records of a system.
    pub kind: Option<&'static Kind>,
    /// From the frontmatter, else the first heading.
    pub title: Option<String>,
    /// `-` if unknown.
    pub workflow: String,
    pub bar: Option<StepBar>,
    pub condition: Condition,
    pub next: Option<String>,
    pub state: Option<(u32, String)>,
    pub command: Option<String>,
    pub status: Option<String>,
    pub scope: Option<String>,
    /// For stories: the key in the sprint status, which names the epic.
    pub story: Option<LedgerKey>,
    pub ticket: Option<TicketPlace>,
    pub errors: usize,
    pub warnings: usize,
    pub tickets: Vec<TicketLink>,
    pub changed_at: Option<Timestamp>,
}

impl Entry {
    /// From the artifact alone: without problems, tickets and history.
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
            ticket: summary.ticket.clone(),
            errors: 0,
            warnings: 0,
            tickets: Vec::new(),
            changed_at: None,
        }
    }

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
        None => {
            let next = summary.lifecycle.as_ref()?.next.as_ref()?;
            let name = summary.ticket.as_ref().map_or(summary.path.as_str(), |ticket| &ticket.reference);
            Some(format!("stepmark transition {} {}", argument(name), argument(next)))
        }
    }
}

fn own_command(summary: &ArtifactSummary<'_>) -> Option<String> {
    let lifecycle = summary.lifecycle.as_ref()?;
    if let Some(command) = &lifecycle.command {
        let id = summary.ticket.as_ref().map(|ticket| &*ticket.reference).or(summary.id);
        return Some(packs::command_for(command, id.unwrap_or(summary.path.as_str())));
    }
    let (state, _) = lifecycle.state.as_ref()?;
    summary.kind?.command(state, summary.id.unwrap_or_default())
}

pub fn transition_command(path: &ProjectPath, to: &str) -> String {
    format!("stepmark transition {} {}", argument(path.as_str()), argument(to))
}

fn next_of(summary: &ArtifactSummary<'_>) -> Option<String> {
    if let Some(progress) = &summary.progress {
        return Some(wording::next(&progress.next));
    }
    if let Some(ticket) = summary.ticket.as_ref().filter(|ticket| !ticket.hindrance.is_empty()) {
        return Some(ticket.hindrance.clone());
    }
    own_command(summary).or_else(|| Some(format!("status → {}", summary.lifecycle.as_ref()?.next.as_ref()?)))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepBar {
    /// In units; at most `total`.
    pub done: usize,
    pub total: usize,
    pub cells: Vec<StepCell>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepCell {
    /// Alternatives are joined with ` | `.
    pub name: String,
    pub state: CellState,
}

impl StepBar {
    pub fn of(progress: &ProgressSummary<'_>) -> Self {
        let cells = progress.units.iter().map(|(name, state)| StepCell { name: name.to_owned(), state });
        Self { done: progress.done, total: progress.total, cells: cells.collect() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeRow {
    pub path: ProjectPath,
    pub title: Option<String>,
    /// Distance from the top, from 0.
    pub level: usize,
    pub agent: Option<String>,
    pub status: Option<String>,
    /// Done and total; `None` for an unknown workflow.
    pub progress: Option<(usize, usize)>,
    pub is_finished: bool,
    /// Its parent is missing.
    pub is_cut_off: bool,
}

pub(super) fn tree_rows(members: impl IntoIterator<Item = Member>) -> Vec<TreeRow> {
    let chains = Chains::of(members);
    let forest = Forest::of(&chains);
    let rows = forest.rows.iter().map(|row| TreeRow {
        path: row.member.path.clone(),
        title: row.member.title.clone(),
        level: row.level,
        agent: row.member.agent.as_ref().map(|agent| agent.0.clone()),
        status: row.member.status.clone(),
        progress: row.member.progress,
        is_finished: row.member.completion.is_finished(),
        is_cut_off: row.is_cut_off,
    });
    rows.collect()
}
