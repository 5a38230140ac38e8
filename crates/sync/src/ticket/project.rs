//! From an artifact to the ticket that it should have.

use std::collections::BTreeSet;

use super::{
    Block, CHANGED, CloseReason, Hangs, Inline, Marker, Placeholder, Snapshot, Stamp, TITLE_LIMIT, Ticket,
    TicketSettings, TicketState, Withheld,
    body::{body, file},
    title::title,
};
use stepmark_model::{
    artifact::{Artifact, Delegation, Field, ProjectPath},
    delegation::Completion,
    journal::ArtifactKey,
    tracked_artifact::TrackedArtifact,
    workflow::{Next, Progress, Step, Unit},
};
use url::Url;

impl Ticket {
    pub fn desired(snapshot: &Snapshot, marker: &Marker, settings: &TicketSettings) -> Option<Self> {
        Self::desired_and_withheld(snapshot, marker, settings).map(|(desired, _)| desired)
    }

    pub(crate) fn desired_and_withheld(
        snapshot: &Snapshot,
        marker: &Marker,
        settings: &TicketSettings,
    ) -> Option<(Self, Withheld)> {
        let read = snapshot.facts(marker)?;
        let (facts, withheld) = read.told();
        let facts = &*facts;
        let fact = |place| facts.fact(place, marker);
        let title = settings.title.fill(fact).filter(|title| !title.trim().is_empty());
        let mut body = body(facts, marker, settings);
        let parent = match snapshot.hangs(marker, settings) {
            Hangs::Below(parent) => Some(parent.clone()),
            Hangs::Alone => None,
            Hangs::Beside(_, path) => {
                body.push(Block::Paragraph(vec![Inline::Text("Part of ".to_owned()), file(path, settings)]));
                None
            }
        };
        let stored = snapshot.get(marker).and_then(|entry| entry.stored.as_ref());
        let closed = stored.and_then(|stored| stored.closed);
        let fields = settings.fields.iter();
        let commit = snapshot.checkout().commit();
        let is_committed = commit.is_some_and(|commit| (commit.holds)(&facts.path));
        let changed = if is_committed { "" } else { CHANGED };
        let stamp = Stamp {
            commit: commit.map(|commit| format!("{}{changed}", commit.id)),
            checkout: snapshot.checkout().clone(),
            ..Stamp::default()
        };
        let desired = Self {
            marker: marker.clone(),
            title: one_line(&title.unwrap_or_else(|| facts.title.clone()), TITLE_LIMIT),
            body,
            file: file(&facts.path, settings),
            file_at_commit: commit
                .filter(|_| is_committed)
                .and_then(|commit| settings.web.as_deref().and_then(|web| commit.address(web, &facts.path))),
            stamp,
            labels: facts.labels(marker, settings),
            state: closed.map_or_else(|| state(facts, settings), TicketState::Closed),
            status: facts.status.clone(),
            kind: Snapshot::kind(facts),
            parent,
            fields: fields.filter_map(|(name, value)| Some((name.clone(), value.fill(fact)?))).collect(),
        };
        let withheld = withheld.in_ticket(&desired);
        Some((desired, withheld))
    }
}

const LABEL_LIMIT: usize = 50;

fn one_line(text: &str, limit: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= limit {
        return line;
    }
    let kept: String = line.chars().take(limit - 1).collect();
    format!("{}…", kept.trim_end())
}

impl TicketFacts {
    /// The last ticket of work that is gone; `None` if it had not ended.
    pub(crate) fn ended(&self, before: &Ticket, settings: &TicketSettings) -> Option<Ticket> {
        let (facts, _) = self.told();
        let (state, status) = (state(&facts, settings), facts.status.clone());
        let labels = facts.labels(&before.marker, settings);
        (!state.is_open()).then(|| Ticket { state, status, labels, ..before.clone() })
    }

    fn labels(&self, marker: &Marker, settings: &TicketSettings) -> BTreeSet<String> {
        let own = settings.labels.iter().filter_map(|label| label.fill(|place| self.fact(place, marker)));
        let mut labels: BTreeSet<String> = own.map(|label| one_line(&label, LABEL_LIMIT)).collect();
        labels.remove("");
        labels.insert(marker.label());
        labels
    }

    pub(super) fn fact(&self, place: Placeholder, marker: &Marker) -> Option<String> {
        match place {
            Placeholder::Title => Some(self.title.clone()),
            Placeholder::Workflow => self.workflow.clone(),
            Placeholder::Status => self.status.clone(),
            Placeholder::Scope => self.scope.clone(),
            Placeholder::Path => Some(Withheld::default().cleaned(self.path.as_str())),
            Placeholder::Id => {
                let id = marker.artifact().as_str().strip_prefix("id:");
                id.map(|id| Withheld::default().cleaned(id))
            }
            Placeholder::Done => Some(self.done.to_string()),
            Placeholder::Total => self.total.map(|total| total.to_string()),
            Placeholder::Percent => self.percent().map(|percent| percent.to_string()),
            Placeholder::Next => (!self.next.is_empty()).then(|| self.next.join(" | ")),
        }
    }
}

fn state(facts: &TicketFacts, settings: &TicketSettings) -> TicketState {
    let word = facts.status.as_deref().unwrap_or_default();
    let is_dropped = settings.not_planned.iter().any(|dropped| dropped.eq_ignore_ascii_case(word));
    // Failed work that may be retried is still to be done.
    if facts.is_finished && (is_dropped || !facts.may_go_on) {
        return TicketState::Closed(if is_dropped || facts.is_given_up {
            CloseReason::NotPlanned
        } else {
            CloseReason::Completed
        });
    }
    let is_among = |words: &[&str]| {
        facts.status.as_deref().map(|word| words.iter().any(|own| own.eq_ignore_ascii_case(word)))
    };
    let is_initial = facts.is_initial.unwrap_or_else(|| is_among(&BEGINNING_WORDS).unwrap_or(true));
    let is_planned = is_among(&PLANNED_WORDS).unwrap_or(false);
    if (is_initial || is_planned) && facts.done == 0 { TicketState::ToDo } else { TicketState::InProgress }
}

/// For artifacts without a lifecycle (docs/formats.md, "Statuses").
const BEGINNING_WORDS: [&str; 10] =
    ["draft", "backlog", "todo", "to-do", "ready", "ready-for-dev", "new", "open", "pending", "not-started"];

/// In any lifecycle the work has not begun, though its first state is passed.
const PLANNED_WORDS: [&str; 2] = ["backlog", "ready-for-dev"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TicketFacts {
    pub key: ArtifactKey,
    pub path: ProjectPath,
    pub title: String,
    pub workflow: Option<String>,
    /// Those of its workflow, else those that it lists, all done.
    pub steps: Vec<StepFact>,
    pub done: usize,
    pub total: Option<usize>,
    pub next: Vec<String>,
    pub scope: Option<String>,
    /// The state of its lifecycle, else the word.
    pub status: Option<String>,
    pub is_finished: bool,
    /// The work ended without being done: it failed or was cancelled.
    pub is_given_up: bool,
    pub may_go_on: bool,
    pub is_initial: Option<bool>,
    /// Its children call it so: the id of its delegation, else its own.
    pub chain_id: Option<String>,
    pub parent_id: Option<String>,
    /// A record of a system: the name of its file says nothing of its kind.
    pub is_record: bool,
    /// If false, only its path is known, and its id may be any ticket's.
    pub is_readable: bool,
    pub inputs: Vec<ProjectPath>,
    pub links: Vec<String>,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepFact {
    pub names: Vec<String>,
    pub is_done: bool,
}

impl TicketFacts {
    pub fn of(tracked: &TrackedArtifact) -> Self {
        let artifact = tracked.artifact();
        let state = artifact.state();
        let filled = |field: &Option<Field>| field.as_ref().and_then(Field::filled).map(str::to_owned);
        // Once: it is the slowest part.
        let progress = tracked.progress();
        let word = filled(&state.status);
        let table = tracked.lifecycle().map(|own| &own.lifecycle);
        let lifecycle_state = word.as_deref().and_then(|word| table?.state_of(word));
        let given_up =
            table.zip(lifecycle_state.filter(|state| state.is_terminal && !state.is_reached_end()));
        let by_word = Completion::of(artifact, progress.as_ref());
        let by_status = lifecycle_state.map_or(by_word.by_status, |state| state.is_terminal);
        let delegation = state.delegation.as_ref();
        let own_id = [&state.id, &state.stepmark_id].into_iter().find_map(filled);
        Self {
            key: ArtifactKey::of(artifact),
            path: artifact.path().clone(),
            title: title(artifact),
            workflow: tracked
                .workflow()
                .map(|workflow| workflow.name.clone())
                .or_else(|| filled(&state.workflow_type)),
            steps: steps(tracked, progress.as_ref()),
            done: progress.as_ref().map_or(tracked.steps().completed().len(), |progress| progress.done_units),
            total: progress.as_ref().map(|progress| progress.total),
            next: progress.as_ref().map(next).unwrap_or_default(),
            scope: state.scope().map(|scope| scope.to_string()),
            status: lifecycle_state.map(|state| state.name.clone()).or(word),
            is_finished: Completion { by_status, ..by_word }.is_finished(),
            is_given_up: given_up.is_some(),
            may_go_on: given_up.is_some_and(|(table, state)| !table.moves_from(state, None).is_empty()),
            is_initial: lifecycle_state.map(|state| state.is_initial),
            chain_id: delegation.and_then(Delegation::id).map(str::to_owned).or(own_id),
            parent_id: delegation.and_then(Delegation::parent_id).map(str::to_owned),
            is_record: state.kind.is_some(),
            is_readable: artifact.is_readable(),
            inputs: inputs(artifact),
            links: links(artifact),
            text: String::from_utf8_lossy(&artifact.bytes()[artifact.document().body().range()]).into_owned(),
        }
    }

    /// Rounded down; `None` without a known total.
    pub fn percent(&self) -> Option<usize> {
        self.total.filter(|total| *total > 0).map(|total| self.done.min(total) * 100 / total)
    }
}

fn steps(tracked: &TrackedArtifact, progress: Option<&Progress<'_>>) -> Vec<StepFact> {
    let (Some(workflow), Some(progress)) = (tracked.workflow(), progress) else {
        let completed = tracked.steps().completed().iter();
        return completed
            .map(|step| StepFact { names: vec![step.spelling().to_owned()], is_done: true })
            .collect();
    };
    let is_done = |step: &Step| progress.done.iter().any(|item| item.steps.contains(&step));
    let is_passed = |step: &Step| progress.passed.contains(&step);
    let units = workflow.chain.units().filter_map(|unit| {
        let members = match unit {
            Unit::Step(step) => vec![step],
            Unit::Choice(members) => members,
        };
        // Steps that were rightly skipped are no work left.
        if members.iter().all(|step| is_passed(step)) {
            return None;
        }
        let taken: Vec<&Step> = members.iter().copied().filter(|step| is_done(step)).collect();
        let is_done = !taken.is_empty();
        let shown = if is_done { taken } else { members };
        Some(StepFact { names: shown.into_iter().map(|step| step.name().to_owned()).collect(), is_done })
    });
    units.collect()
}

fn next(progress: &Progress<'_>) -> Vec<String> {
    let steps: Vec<&Step> = match &progress.next {
        Next::Step { step, .. } => vec![*step],
        Next::Choice(steps) => steps.clone(),
        Next::Finished | Next::Unknown(_) => Vec::new(),
    };
    steps.into_iter().map(|step| step.name().to_owned()).collect()
}

/// Links among the inputs; a reader of the ticket may lack access.
fn links(artifact: &Artifact) -> Vec<String> {
    let mut links: Vec<String> = Vec::new();
    for document in &artifact.state().input_documents {
        let Ok(mut url) = Url::parse(&document.path) else { continue };
        let is_bare = url.set_username("").and_then(|()| url.set_password(None)).is_ok();
        if is_bare && matches!(url.scheme(), "http" | "https") && !links.contains(&url.to_string()) {
            links.push(url.into());
        }
    }
    links
}

/// Skips inputs that are no path of the project (absolute ones, addresses, sentences).
fn inputs(artifact: &Artifact) -> Vec<ProjectPath> {
    let mut inputs: Vec<ProjectPath> = Vec::new();
    for document in &artifact.state().input_documents {
        let path = document.path.strip_prefix("{project-root}/").unwrap_or(&document.path);
        let Ok(path) = ProjectPath::new(path) else { continue };
        if path.extension().is_some() && !path.as_str().contains("://") && !inputs.contains(&path) {
            inputs.push(path);
        }
    }
    inputs
}
