//! Signs of life of agents, and the files that follow records.

use crate::coordination::Coordination;
use crate::index_db::{Contents, IntoCell as _, Row};
use crate::workspace::Workspace;

/// The system that both come from.
const COORDINATION: &str = "coordination";

/// Takes in all of them.
pub(super) fn refresh(workspace: &Workspace, contents: &mut Contents<'_>) -> rusqlite::Result<()> {
    let coordination = workspace.coordination();
    contents.replace_named("heartbeats", coordination.as_ref().map(heartbeats).unwrap_or_default())?;
    contents.replace_named("projections", coordination.as_ref().map(projections).unwrap_or_default())
}

fn heartbeats(coordination: &Coordination<'_>) -> Vec<Row> {
    let signals = coordination.signals().into_values();
    let row = |signal: stepmark_model::records::Signal| {
        let numbers = (!signal.numbers.is_empty()).then(|| serde_json::json!(signal.numbers).to_string());
        vec![
            COORDINATION.cell(),
            signal.agent.cell(),
            signal.at.cell(),
            signal.status.cell(),
            signal.current.cell(),
            numbers.cell(),
        ]
    };
    signals.map(row).collect()
}

#[cfg(not(feature = "write"))]
fn projections(_: &Coordination<'_>) -> Vec<Row> {
    Vec::new()
}

/// None where the records cannot be read: what is wrong with them a check tells.
#[cfg(feature = "write")]
fn projections(coordination: &Coordination<'_>) -> Vec<Row> {
    let row = |file: crate::coordination::FileState| {
        let records = (!file.drift.is_empty()).then(|| file.drift.join(", "));
        let records = records.cell();
        vec![COORDINATION.cell(), file.path.as_str().cell(), file.state.cell(), records]
    };
    coordination.file_states().unwrap_or_default().into_iter().map(row).collect()
}
