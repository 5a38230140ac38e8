//! What a worker did, for people and programs.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use stepmark_core::artifact::ProjectPath;
use stepmark_sync::{
    breaker::ScopeKind,
    ticket::Marker,
    worker::{Entry, Fate, Held, Report},
};

use crate::{
    exit::Exit,
    output::{Output, wording},
};

/// What people know an artifact by.
pub(super) fn name_of(path: Option<&ProjectPath>, marker: &Marker) -> String {
    path.map_or_else(|| format!("`{marker}`"), ToString::to_string)
}

/// Shows what was done, and answers how the command ends.
pub(super) fn show(report: &Report, paths: &BTreeMap<Marker, ProjectPath>, output: &Output) -> Exit {
    if output.json {
        let entries: Vec<Json> = report.entries.iter().map(|entry| wire(entry, paths)).collect();
        let result = json!({ "requests": report.requests, "entries": entries });
        output.json("stepmark.sync-apply/1", result);
    } else {
        for entry in &report.entries {
            let name = name_of(paths.get(&entry.marker), &entry.marker);
            let (word, detail) = told(&entry.fate);
            output.line(format_args!("{:<15} {word:<9} {name}{detail}", entry.kind.name()));
        }
        let actions = wording::count(report.entries.len(), "action");
        output.remark(format_args!("{actions}, {}", wording::count(report.requests, "request")));
    }
    exit(report)
}

fn exit(report: &Report) -> Exit {
    if report.is_complete() {
        return Exit::Fine;
    }
    let is_remote = |entry: &Entry| match &entry.fate {
        Fate::InDoubt { .. } | Fate::Held(Held::NotListed(_)) => true,
        Fate::Failed { failure, .. } => failure.reason.consequence().scope != ScopeKind::Ticket,
        Fate::Held(Held::Refused { scope, .. }) => scope.kind() != ScopeKind::Ticket,
        _ => false,
    };
    if report.entries.iter().any(is_remote) { Exit::Remote } else { Exit::Findings }
}

fn word(fate: &Fate) -> &'static str {
    match fate {
        Fate::Done { .. } => "done",
        Fate::Found { .. } => "found",
        Fate::NotThere => "not-there",
        Fate::Failed { .. } => "failed",
        Fate::InDoubt { .. } => "in-doubt",
        Fate::Held(_) => "held",
    }
}

fn told(fate: &Fate) -> (&'static str, String) {
    let detail = match fate {
        Fate::Done { remote, missing } if missing.is_empty() => format!(" {}", remote.key),
        Fate::Done { remote, missing } => {
            let fields: Vec<&str> = missing.iter().map(|field| field.field.as_str()).collect();
            format!(" {}, but the tracker left out: {}", remote.key, fields.join(", "))
        }
        Fate::Found { remote, duplicates } if duplicates.is_empty() => format!(" {}", remote.key),
        Fate::Found { remote, duplicates } => {
            let keys: Vec<&str> = duplicates.iter().map(|other| other.key.as_str()).collect();
            format!(" {}; others with its marker: {}", remote.key, keys.join(", "))
        }
        Fate::NotThere => String::new(),
        Fate::Failed { failure, .. } | Fate::InDoubt { failure } => {
            let remedy = failure.reason.remedy().map(|remedy| format!("; {remedy}")).unwrap_or_default();
            format!(": {}: {}{remedy}", failure.reason, failure.detail)
        }
        Fate::Held(held) => format!(": {held}"),
    };
    (word(fate), detail)
}

fn wire(entry: &Entry, paths: &BTreeMap<Marker, ProjectPath>) -> Json {
    let (remote, missing, duplicates) = match &entry.fate {
        Fate::Done { remote, missing } => (Some(remote), missing.clone(), Vec::new()),
        Fate::Found { remote, duplicates } => (Some(remote), Vec::new(), duplicates.clone()),
        _ => (None, Vec::new(), Vec::new()),
    };
    let (failure, delivery) = match &entry.fate {
        Fate::Failed { failure, delivery } => (Some(failure), Some(delivery)),
        Fate::InDoubt { failure } => (Some(failure), None),
        _ => (None, None),
    };
    let held = match &entry.fate {
        Fate::Held(held) => Some(held.to_string()),
        _ => None,
    };
    json!({
        "action": entry.kind.name(),
        "marker": entry.marker,
        "path": paths.get(&entry.marker).map(ProjectPath::as_str),
        "outcome": word(&entry.fate),
        "ticket": remote,
        "missing": missing,
        "duplicates": duplicates,
        "failure": failure,
        "delivery": delivery,
        "held": held,
    })
}
