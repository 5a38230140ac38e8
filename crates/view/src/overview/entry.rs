//! One artifact, for people.

use jiff::Timestamp;
use stepmark_model::{
    artifact::{Field, LedgerKey, ProjectPath},
    tracked_artifact::TrackedArtifact,
    workflow::Next,
};

use super::{Condition, StepBar};
use crate::{observation::TicketLink, wording};

/// One artifact, as a row of a table shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Where it stands.
    pub path: ProjectPath,
    /// Its title: of the frontmatter, else its first heading.
    pub title: Option<String>,
    /// Its workflow in words; `-` where none is known.
    pub workflow: String,
    /// Its steps, where its workflow is known.
    pub bar: Option<StepBar>,
    /// Where it stands.
    pub condition: Condition,
    /// What comes next, where that can be told: a step, or a move of its status.
    pub next: Option<String>,
    /// What its lifecycle calls its state, and how far along that is.
    pub state: Option<(u32, String)>,
    /// The command that records the next step or move, where there is one.
    pub command: Option<String>,
    /// Its status word.
    pub status: Option<String>,
    /// How big the work is.
    pub scope: Option<String>,
    /// What it is to an epic, where it is a story.
    pub story: Option<LedgerKey>,
    /// How many errors were found in it.
    pub errors: usize,
    /// How many warnings were found in it.
    pub warnings: usize,
    /// Its tickets, one a tracker at most.
    pub tickets: Vec<TicketLink>,
    /// When it was last changed, as far as the latest events tell.
    pub changed_at: Option<Timestamp>,
}

impl Entry {
    /// What `artifact` says of itself: without problems, tickets and history.
    pub fn of(artifact: &TrackedArtifact) -> Self {
        let state = artifact.state();
        let filled = |field: &Option<Field>| field.as_ref().and_then(Field::filled).map(str::to_owned);
        let condition = Condition::of(artifact);
        Self {
            path: artifact.path().clone(),
            title: filled(&state.title).or_else(|| artifact.artifact().first_heading()),
            workflow: wording::workflow(artifact),
            bar: StepBar::of(artifact),
            condition,
            next: next_of(artifact).filter(|_| condition != Condition::Finished),
            state: state_of(artifact),
            command: command_of(artifact).filter(|_| condition != Condition::Finished),
            status: filled(&state.status).or_else(|| Some(state.body_status.as_ref()?.text.clone())),
            scope: state.scope().map(|scope| scope.to_string()),
            story: LedgerKey::of(artifact.path()).map(|(key, _)| key).filter(|key| key.is_story()),
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

/// Its state, where its lifecycle knows its status and how far that is.
fn state_of(artifact: &TrackedArtifact) -> Option<(u32, String)> {
    let lifecycle = &artifact.lifecycle()?.lifecycle;
    let state = lifecycle.state_of(artifact.state().status.as_ref()?.filled()?)?;
    Some((state.rank?, state.name.clone()))
}

/// The command for what comes next.
fn command_of(artifact: &TrackedArtifact) -> Option<String> {
    let path = quoted(artifact.path().as_str());
    match artifact.progress() {
        Some(progress) => match progress.next {
            Next::Step { step, .. } => Some(format!("stepmark complete {path} {}", quoted(step.name()))),
            _ => None,
        },
        None => Some(format!("stepmark transition {path} {}", quoted(&next_state(artifact)?))),
    }
}

/// `text` as one word of a shell.
fn quoted(text: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_./".contains(character);
    if !text.is_empty() && !text.starts_with('-') && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// The next step, else the next state of the lifecycle that is further on.
fn next_of(artifact: &TrackedArtifact) -> Option<String> {
    if let Some(progress) = artifact.progress() {
        return Some(wording::next(&progress));
    }
    Some(format!("status → {}", next_state(artifact)?))
}

/// The nearest state that is further on.
fn next_state(artifact: &TrackedArtifact) -> Option<String> {
    let lifecycle = &artifact.lifecycle()?.lifecycle;
    let state = lifecycle.state_of(artifact.state().status.as_ref()?.filled()?)?;
    let remembered = artifact.remembered();
    let moves = lifecycle.moves_from(state, remembered.as_deref());
    let further = moves.iter().filter(|legal| legal.is_return || legal.to.rank > state.rank);
    let nearest = further.min_by_key(|legal| (!legal.is_return, legal.to.rank))?;
    Some(nearest.to.name.clone())
}
