//! The rows of an artifact.

use jiff::Timestamp;
use serde_json::Value as Json;

use crate::disk::file_reading::FileStat;
use crate::index_db::{Cell, IntoCell as _, Row, add_to_digest};
use stepmark_model::tracked_artifact::TrackedArtifact;
use stepmark_model::{
    artifact::{Delegation, Field, FileHash, Scope, StateDigest},
    journal::ArtifactKey,
    summary::{ArtifactSummary, WorkflowName},
    workflow::Step,
};

#[derive(Debug)]
pub(super) struct ArtifactRows {
    pub(super) artifact: Row,
    pub(super) steps: Vec<Row>,
    /// In `dependencies`, `attempts` and `verifications`, each with its table.
    pub(super) listed: Vec<(&'static str, Row)>,
    /// In `delegations`, if it takes part in a chain.
    pub(super) delegation: Option<Row>,
}

impl ArtifactRows {
    pub(super) fn of(tracked: &TrackedArtifact, stat: Option<&FileStat>) -> Self {
        let summary = ArtifactSummary::of(tracked);
        let state = tracked.artifact().state_value().ok();
        Self {
            artifact: artifact_row(tracked, &summary, state.as_ref(), stat),
            steps: step_rows(tracked, &summary),
            listed: state.as_ref().map(|state| listed_rows(tracked, state)).unwrap_or_default(),
            delegation: delegation_row(tracked),
        }
    }

    pub(super) fn digest(&self) -> FileHash {
        let mut text = Vec::new();
        let listed = self.listed.iter().map(|(_, row)| row);
        let below = self.steps.iter().chain(listed).chain(&self.delegation);
        for row in [&self.artifact].into_iter().chain(below) {
            add_to_digest(row, &mut text);
        }
        FileHash::of(&text)
    }
}

fn filled(field: &Option<Field>) -> Option<&str> {
    field.as_ref().and_then(Field::filled)
}

fn artifact_row(
    tracked: &TrackedArtifact,
    summary: &ArtifactSummary<'_>,
    values: Option<&Json>,
    stat: Option<&FileStat>,
) -> Row {
    let (artifact, state) = (tracked.artifact(), tracked.state());
    let value = |key: &str| values.and_then(|values| values.get(key));
    let kind = value("stepmark_kind").and_then(Json::as_str);
    let parent = state.delegation.as_ref().and_then(Delegation::parent_id);
    let (progress, lifecycle) = (summary.progress.as_ref(), summary.lifecycle.as_ref());
    let named = lifecycle.and_then(|lifecycle| lifecycle.state.as_ref());
    let next = progress.map_or(&[][..], |progress| progress.next.steps());
    let next: Vec<&str> = next.iter().map(|step| step.name).collect();
    let track = match summary.workflow {
        WorkflowName::Known(_, track) => Some(track.to_string()),
        _ => None,
    };
    let digest = values.map(|values| StateDigest::of(values).to_string());
    vec![
        summary.path.as_str().cell(),
        summary.id.cell(),
        ArtifactKey::of(artifact).as_str().cell(),
        summary.title.cell(),
        summary.workflow.known().cell(),
        track.cell(),
        progress.map(|progress| progress.state.as_str()).cell(),
        progress.map(|progress| progress.done).cell(),
        progress.map(|progress| progress.total).cell(),
        progress.and_then(|progress| (progress.done * 100).checked_div(progress.total)).cell(),
        (!next.is_empty()).then(|| next.join(", ")).cell(),
        tracked.completion().is_finished().cell(),
        summary.status.cell(),
        named.map(|(name, _)| &**name).cell(),
        lifecycle.map(|lifecycle| lifecycle.name).cell(),
        summary.scope().map(|scope| scope.to_string()).cell(),
        summary.scope().and_then(|scope| rank(&scope)).cell(),
        filled(&state.scope_source).cell(),
        filled(&state.scope_confidence).and_then(|text| text.parse::<f64>().ok()).cell(),
        summary.agent.as_deref().cell(),
        artifact.state().kind.map(|kind| kind.system.as_str()).cell(),
        kind.cell(),
        parent.or_else(|| value("parent_id").and_then(Json::as_str)).cell(),
        value("priority").and_then(Json::as_i64).cell(),
        digest.cell(),
        artifact.file_hash().to_string().cell(),
        artifact.bytes().len().cell(),
        stat.map(|stat| moment(stat.modified)).cell(),
    ]
}

const DEPENDENCIES: [&str; 2] = ["dependencies", "depends_on"];

pub(super) const LISTED: [&str; 3] = ["dependencies", "attempts", "verifications"];

fn listed_rows(tracked: &TrackedArtifact, state: &Json) -> Vec<(&'static str, Row)> {
    let of = |table: &'static str, rows: Vec<Row>| rows.into_iter().map(move |row| (table, row));
    let dependencies = of(LISTED[0], dependency_rows(tracked, state));
    dependencies
        .chain(of(LISTED[1], attempt_rows(tracked, state)))
        .chain(of(LISTED[2], verification_rows(tracked, state)))
        .collect()
}

fn entries<'s>(state: &'s Json, key: &str) -> impl Iterator<Item = &'s Json> {
    state
        .get(key)
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
        .filter(|entry| entry["attempt_id"].is_string())
}

fn attempt_rows(tracked: &TrackedArtifact, state: &Json) -> Vec<Row> {
    let open = state.get("attempt").filter(|open| open["attempt_id"].is_string());
    let row = |(place, attempt): (usize, &Json)| {
        let text = |key: &str| attempt.get(key).and_then(Json::as_str).cell();
        vec![
            tracked.path().as_str().cell(),
            (place + 1).cell(),
            text("attempt_id"),
            text("agent"),
            text("runtime"),
            text("started_at"),
            text("ended_at"),
            attempt.get("exit_status").and_then(Json::as_i64).cell(),
        ]
    };
    entries(state, "attempts").chain(open).enumerate().map(row).collect()
}

fn verification_rows(tracked: &TrackedArtifact, state: &Json) -> Vec<Row> {
    let row = |(place, judged): (usize, &Json)| {
        let reasons = judged["failure_reasons"].as_array().map(Vec::as_slice).unwrap_or_default();
        let reasons: Vec<&str> = reasons.iter().filter_map(Json::as_str).collect();
        vec![
            tracked.path().as_str().cell(),
            (place + 1).cell(),
            judged["attempt_id"].as_str().cell(),
            judged["verifier"]["agent"].as_str().cell(),
            judged["verifier"]["decision"].as_str().cell(),
            (!reasons.is_empty()).then(|| reasons.join("; ")).cell(),
            judged["confidence"].as_f64().map(|confidence| confidence.to_string()).cell(),
            judged["decided_at"].as_str().cell(),
        ]
    };
    entries(state, "verifications").enumerate().map(row).collect()
}

fn dependency_rows(tracked: &TrackedArtifact, state: &Json) -> Vec<Row> {
    let lists = DEPENDENCIES.iter().filter_map(|key| state.get(*key)?.as_array()).flatten();
    let ids = lists.filter_map(Json::as_str).enumerate();
    ids.map(|(place, id)| vec![tracked.path().as_str().cell(), (place + 1).cell(), id.cell()]).collect()
}

/// To the second: finer times depend on the file system.
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

fn step_rows(tracked: &TrackedArtifact, summary: &ArtifactSummary<'_>) -> Vec<Row> {
    let steps: &[Step] = tracked.workflow().map_or(&[], |workflow| workflow.chain.steps());
    let next = summary.progress.as_ref().map_or(&[][..], |progress| progress.next.steps());
    let progress = tracked.progress();
    let done = |step: &Step| {
        progress.as_ref().is_some_and(|progress| {
            progress.done.iter().any(|item| item.steps.iter().any(|done| done.name() == step.name()))
        })
    };
    // Listed steps beyond the workflow's; all if the workflow is unknown.
    let listed = tracked.steps().completed();
    let others: Vec<&str> = match &progress {
        Some(progress) => {
            progress.unknown.iter().filter_map(|item| Some(listed.get(item.item)?.spelling())).collect()
        }
        None => listed.iter().map(|id| id.spelling()).collect(),
    };
    let known = steps.iter().map(|step| {
        let file = step.path.as_ref().map(|path| path.as_str().to_owned());
        let is_next = next.iter().any(|next| next.name == step.name());
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
