//! The rows that an artifact gives.

use jiff::Timestamp;

use crate::disk::file_stat::FileStat;
use crate::index_db::{Cell, IntoCell as _, Row, add_to_digest};
use stepmark_model::tracked_artifact::TrackedArtifact;
use stepmark_model::{
    artifact::{Field, FileHash, Scope, StateDigest},
    delegation::Agent,
    journal::ArtifactKey,
    workflow::{Next, Progress, Step},
};

/// The rows of one artifact.
#[derive(Debug)]
pub(super) struct ArtifactRows {
    /// Its row in `artifacts`.
    pub(super) artifact: Row,
    /// Its rows in `steps`.
    pub(super) steps: Vec<Row>,
    /// Its row in `delegations`, if it says something about a chain.
    pub(super) delegation: Option<Row>,
}

impl ArtifactRows {
    /// The rows of `tracked`; `stat` was taken before it was read.
    pub(super) fn of(tracked: &TrackedArtifact, stat: Option<&FileStat>) -> Self {
        let progress = tracked.progress();
        Self {
            artifact: artifact_row(tracked, progress.as_ref(), stat),
            steps: step_rows(tracked, progress.as_ref()),
            delegation: delegation_row(tracked),
        }
    }

    /// A digest of all of them.
    pub(super) fn digest(&self) -> FileHash {
        let mut text = Vec::new();
        for row in [&self.artifact].into_iter().chain(&self.steps).chain(&self.delegation) {
            add_to_digest(row, &mut text);
        }
        FileHash::of(&text)
    }
}

fn filled(field: &Option<Field>) -> Option<&str> {
    field.as_ref().and_then(Field::filled)
}

fn artifact_row(tracked: &TrackedArtifact, progress: Option<&Progress<'_>>, stat: Option<&FileStat>) -> Row {
    let (artifact, state) = (tracked.artifact(), tracked.state());
    let lifecycle = tracked.lifecycle().map(|choice| &choice.lifecycle);
    let status = filled(&state.status);
    let named = lifecycle.zip(status).and_then(|(lifecycle, word)| lifecycle.state_of(word));
    let completion = tracked.completion();
    let digest = artifact.state_value().ok().map(|value| StateDigest::of(&value).to_string());
    vec![
        tracked.path().as_str().cell(),
        filled(&state.id).or_else(|| filled(&state.stepmark_id)).cell(),
        ArtifactKey::of(artifact).as_str().cell(),
        filled(&state.title).cell(),
        tracked.workflow().map(|workflow| workflow.name.clone()).cell(),
        tracked.workflow().map(|workflow| workflow.chain.track().to_string()).cell(),
        progress.map(|progress| progress.state.as_str()).cell(),
        progress.map(|progress| progress.done_units).cell(),
        progress.map(|progress| progress.total).cell(),
        progress.and_then(|progress| (progress.done_units * 100).checked_div(progress.total)).cell(),
        progress.map(next_names).filter(|names| !names.is_empty()).map(|names| names.join(", ")).cell(),
        (completion.by_workflow || completion.by_status).cell(),
        status.cell(),
        named.map(|named| named.name.clone()).cell(),
        lifecycle.map(|lifecycle| lifecycle.name().to_owned()).cell(),
        state.scope().map(|scope| scope.to_string()).cell(),
        state.scope().and_then(|scope| rank(&scope)).cell(),
        filled(&state.scope_source).cell(),
        filled(&state.scope_confidence).and_then(|text| text.parse::<f64>().ok()).cell(),
        Agent::of(artifact).map(|agent| agent.0).cell(),
        digest.cell(),
        artifact.file_hash().to_string().cell(),
        artifact.bytes().len().cell(),
        stat.map(|stat| moment(stat.modified)).cell(),
    ]
}

/// A time of a file, to the second: what the file system keeps beyond that differs from one to the other.
fn moment(nanoseconds: i64) -> String {
    let seconds = nanoseconds.div_euclid(1_000_000_000);
    Timestamp::from_second(seconds).map_or_else(|_| seconds.to_string(), |time| time.to_string())
}

const fn rank(scope: &Scope) -> Option<i64> {
    match scope {
        Scope::Micro => Some(1),
        Scope::Small => Some(2),
        Scope::Medium => Some(3),
        Scope::Large => Some(4),
        Scope::Epic => Some(5),
        Scope::Unknown(_) => None,
    }
}

fn next_names<'chain>(progress: &Progress<'chain>) -> Vec<&'chain str> {
    match &progress.next {
        Next::Step { step, .. } => vec![step.name()],
        Next::Choice(steps) => steps.iter().map(|step| step.name()).collect(),
        Next::Finished | Next::Unknown(_) => Vec::new(),
    }
}

fn step_rows(tracked: &TrackedArtifact, progress: Option<&Progress<'_>>) -> Vec<Row> {
    let steps: &[Step] = tracked.workflow().map_or(&[], |workflow| workflow.chain.steps());
    let next = progress.map(next_names).unwrap_or_default();
    let done = |step: &Step| {
        progress.is_some_and(|progress| {
            progress.done.iter().any(|item| item.steps.iter().any(|done| done.name() == step.name()))
        })
    };
    // What the list names beside the steps of the workflow; all of it where no workflow is known.
    let listed = tracked.steps().completed();
    let others: Vec<&str> = match progress {
        Some(progress) => {
            progress.unknown.iter().filter_map(|item| Some(listed.get(item.item)?.spelling())).collect()
        }
        None => listed.iter().map(|id| id.spelling()).collect(),
    };
    let known = steps.iter().map(|step| {
        let file = step.path.as_ref().map(|path| path.as_str().to_owned());
        let is_next = next.contains(&step.name());
        (step.name(), file, done(step), is_next, true)
    });
    let others = others.into_iter().map(|name| (name, None, true, false, false));
    known
        .chain(others)
        .enumerate()
        .map(|(place, (name, file, is_done, is_next, is_known))| {
            vec![
                tracked.path().as_str().cell(),
                (place + 1).cell(),
                name.cell(),
                file.cell(),
                is_done.cell(),
                is_next.cell(),
                is_known.cell(),
            ]
        })
        .collect()
}

fn delegation_row(tracked: &TrackedArtifact) -> Option<Row> {
    let delegation = tracked.state().delegation.as_ref()?;
    let chain = delegation.chain_path.as_ref().map(|chain| chain.ids.join("/"));
    Some(vec![
        tracked.path().as_str().cell(),
        delegation.id().cell(),
        delegation.parent_id().cell(),
        filled(&delegation.root_id).cell(),
        delegation.depth().map_or(Cell::Null, |depth| depth.cell()),
        chain.cell(),
    ])
}
