//! The answers of `stepmark memory`, and the findings of `stepmark check` in memory, at the place of the
//! configuration that turns it on.

use serde_json::{Value as Json, json};
use stepmark_frontmatter::Span;
use stepmark_memory::{Memory, Recalled, audit::Fault, context::plain};
use stepmark_model::{
    artifact::ProjectPath,
    check::rules::memory::{secret_in_memory_finding, store_behind_finding, superseded_by_missing_finding},
};
use stepmark_store::{checking::CheckReport, disk::CONFIGURATION_PATH};

use super::{open, storing::Store};
use crate::{
    exit::{Exit, Failure},
    output::{ListArguments, Output},
    project::Project,
};

const SCHEMA: &str = "stepmark.memories/1";

pub(super) fn records(
    (output, list): (&Output, &ListArguments),
    found: Vec<Recalled>,
    explains: bool,
) -> Result<Exit, Failure> {
    list.answer((output, SCHEMA, "memories"), found, wire, |found| {
        found.iter().for_each(|recalled| output.line(told(recalled, explains)));
        if found.is_empty() {
            output.remark("nothing is remembered of it");
        }
    })?;
    Ok(Exit::Fine)
}

fn wire(recalled: &Recalled) -> Json {
    serde_json::to_value(recalled).unwrap_or_else(|_| json!({}))
}

fn told(recalled: &Recalled, explains: bool) -> String {
    let (record, score) = (&recalled.record, &recalled.score);
    let mut lines =
        vec![format!("{:.8}  {}  {}", record.id, record.kind.name(), plain(&record.content, 400))];
    let mut below = |word: &str, text: &str| lines.push(format!("          {word} {}", plain(text, 400)));
    if let Some(rationale) = &record.rationale {
        below("because", rationale);
    }
    if let Some(decision) = record.decision.as_ref().filter(|own| !own.alternatives.is_empty()) {
        below("rejected:", &decision.alternatives.join(", "));
    }
    if !recalled.superseded_by.is_empty() {
        let ids: Vec<String> = recalled.superseded_by.iter().map(|id| format!("{id:.8}")).collect();
        below("superseded by", &ids.join(", "));
    }
    let source = &record.source;
    let artifact = source.artifact.as_deref().map(|path| format!(", {path}")).unwrap_or_default();
    let session = source.session.as_deref().map(|id| format!(", session {id}")).unwrap_or_default();
    below("from", &format!("{:.10}, {}{artifact}{session}", record.created_at.to_string(), source.agent));
    if explains {
        below(
            "score",
            &format!(
                "{:.2}: text {:.2}, graph {:.2}, recency {:.2}, kind {:.2}",
                score.total, score.text, score.graph, score.recency, score.kind
            ),
        );
    }
    lines.join("\n")
}

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
