//! Signs of life of agents, and the files that follow records.

use crate::index_db::{Contents, IntoCell as _, Row};
use crate::workspace::Workspace;
use stepmark_model::records::{Signal, Signals};

pub(super) fn refresh(workspace: &Workspace, contents: &mut Contents<'_>) -> rusqlite::Result<()> {
    let coordination = workspace.coordination().map(|own| own.signals());
    let signals = [
        ("asdd", workspace.asdd().map(|own| own.signals())),
        ("coordination", coordination),
        ("flows", workspace.flows().map(|own| own.signals())),
    ];
    let heartbeats =
        signals.into_iter().flat_map(|(system, own)| heartbeats(system, own.unwrap_or_default()));
    contents.replace_named("heartbeats", heartbeats.collect())?;
    contents.replace_named("projections", projections(workspace))
}

fn heartbeats(system: &'static str, signals: Signals) -> impl Iterator<Item = Row> {
    let row = move |signal: Signal| {
        let numbers = (!signal.numbers.is_empty()).then(|| serde_json::json!(signal.numbers).to_string());
        vec![
            system.cell(),
            signal.agent.cell(),
            signal.at.cell(),
            signal.status.cell(),
            signal.current.cell(),
            numbers.cell(),
        ]
    };
    signals.into_values().map(row)
}

#[cfg(not(feature = "write"))]
fn projections(_: &Workspace) -> Vec<Row> {
    Vec::new()
}

/// None where the records cannot be read: what is wrong with them a check tells.
#[cfg(feature = "write")]
fn projections(workspace: &Workspace) -> Vec<Row> {
    let row = |system: &'static str| {
        move |file: crate::projection::FollowingFile| {
            let records = (!file.drift.is_empty()).then(|| file.drift.join(", "));
            vec![system.cell(), file.path.as_str().cell(), file.state.cell(), records.cell()]
        }
    };
    let asdd = workspace.asdd().and_then(|own| own.file_states().ok()).unwrap_or_default();
    let coordination = workspace.coordination().and_then(|own| own.file_states().ok()).unwrap_or_default();
    asdd.into_iter().map(row("asdd")).chain(coordination.into_iter().map(row("coordination"))).collect()
}
