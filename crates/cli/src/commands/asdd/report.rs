//! The answers of `stepmark asdd`.

use serde_json::{Map, Value as Json, json};
use stepmark_model::asdd::{Proposal, Record, Verdict};
use stepmark_store::asdd::{AsddFiles, Proposed};

use crate::{commands::followed_files, output::Output};

const SLICE: &str = "stepmark.asdd-slice/1";

pub(super) fn slice(slice: &Record, output: &Output) {
    output.json_or(
        SLICE,
        || json!({"slice": wire(slice), "base": slice.base().to_string()}),
        || {
            output.line(format_args!("{}  {}", slice.id, slice.text("name").unwrap_or("-")));
            for (key, value) in slice.values.iter().filter(|(key, _)| *key != "name") {
                output.line(format_args!("  {key}: {}", plain(value)));
            }
        },
    );
}

pub(super) fn changed(slice: &Record, files: &AsddFiles, output: &Output) {
    output.json_or(
        SLICE,
        || {
            let base = slice.base().to_string();
            json!({"slice": wire(slice), "base": base, "files": followed_files::wire(files)})
        },
        || output.line(format_args!("{}: {}", slice.id, standing(slice))),
    );
    followed_files::told(files, "asdd", output);
}

pub(super) fn proposed(proposed: &Proposed, output: &Output) {
    let (proposal, slice) = (&proposed.proposal, &proposed.slice);
    output.json_or(
        "stepmark.asdd-proposal/1",
        || json!({"proposal": proposal, "slice": wire(slice), "files": followed_files::wire(&proposed.files)}),
        || {
            let (id, verdict) = (&proposal.proposal_id, proposal.verdict.as_str());
            output.line(format_args!("{id}: {verdict}; {}: {}", slice.id, standing(slice)));
        },
    );
    if proposal.verdict == Verdict::Pending {
        output.remark(next(proposal, slice));
    }
    followed_files::told(&proposed.files, "asdd", output);
}

pub(super) fn next(proposal: &Proposal, slice: &Record) -> String {
    let commit = format!("the custodian commits it with `stepmark asdd commit {}`", proposal.proposal_id);
    let to = proposal.set.get("status").and_then(Json::as_str);
    match to.filter(|to| slice.is_manual() && slice.approved() != Some(to)) {
        Some(to) => {
            format!("a tech lead approves it with `stepmark asdd approve {} {to}`; then {commit}", slice.id)
        }
        None => commit,
    }
}

pub(super) fn standing(slice: &Record) -> String {
    match slice.status() {
        "BLOCKED" => format!("BLOCKED, {}", slice.text("block_reason").unwrap_or("no reason is told")),
        status => status.to_owned(),
    }
}

pub(super) fn wire(slice: &Record) -> Json {
    let mut wire = Map::new();
    wire.insert("slice_id".to_owned(), slice.id.as_str().into());
    wire.extend(slice.values.iter().map(|(key, value)| (key.clone(), value.clone())));
    Json::Object(wire)
}

fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
