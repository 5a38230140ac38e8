//! The answers of `stepmark memory`.

use serde_json::{Value as Json, json};
use stepmark_memory::{Recalled, context::plain};

use crate::{
    exit::{Exit, Failure},
    output::{ListArguments, Output},
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
