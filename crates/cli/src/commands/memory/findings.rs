//! The findings of `stepmark check` in memory, at the place of the configuration that turns it on.

use stepmark_frontmatter::Span;
use stepmark_memory::{Memory, audit::Fault};
use stepmark_model::{
    artifact::ProjectPath,
    check::rules::memory::{secret_in_memory_finding, store_behind_finding, superseded_by_missing_finding},
};
use stepmark_store::{checking::CheckReport, disk::CONFIGURATION_PATH};

use super::{open, stores::Store};
use crate::{exit::Failure, project::Project};

pub(in crate::commands) fn add_findings(
    project: &Project,
    report: &mut CheckReport<'_>,
) -> Result<(), Failure> {
    let workspace = &project.workspace;
    let Ok(path) = ProjectPath::new(CONFIGURATION_PATH) else { return Ok(()) };
    if !workspace.configuration().uses_memory() {
        return Ok(());
    }
    let memory = open(project)?;
    let (faults, behind) = (memory.faults()?, behind(project, &memory)?);
    let find = |bytes: &[u8]| {
        let span = place(bytes, 0, "memory:");
        let of_fault = |fault: &Fault| match fault {
            Fault::Secret { id, secret } => secret_in_memory_finding(&path, span, (id, secret)),
            Fault::SupersededByMissing { old, new } => superseded_by_missing_finding(&path, span, (old, new)),
        };
        let of_store = |(name, count): &(String, usize)| {
            store_behind_finding(&path, place(bytes, span.start, &format!("{name}:")), (name, *count))
        };
        faults.iter().map(of_fault).chain(behind.iter().map(of_store)).collect()
    };
    Ok(workspace.checks().add_beside(report, path.clone(), find)?)
}

/// The stores that lack something, and how much, or that failed last.
fn behind(project: &Project, memory: &Memory) -> Result<Vec<(String, usize)>, Failure> {
    let stores = Store::all(&project.workspace, None, memory)?;
    let units = if stores.is_empty() { Vec::new() } else { memory.units()? };
    let mut behind = Vec::new();
    for store in stores {
        let state = store.state(&project.workspace, &units)?;
        if !state.behind.is_empty() || state.failure.is_some() {
            behind.push((store.name.to_string(), state.behind.len()));
        }
    }
    Ok(behind)
}

fn place(bytes: &[u8], from: usize, word: &str) -> Span {
    let is_begin = |at: &usize| *at == 0 || b"\n {,".contains(&bytes[*at - 1]);
    let found = (from..bytes.len()).filter(is_begin).find(|at| bytes[*at..].starts_with(word.as_bytes()));
    Span::at(found.unwrap_or(from))
}
