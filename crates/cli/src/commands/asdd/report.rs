//! The answers of `stepmark asdd`.

use serde_json::{Map, Value as Json, json};
use stepmark_model::asdd::{AsddRefusal, Proposal, Record, Verdict};
use stepmark_store::{
    asdd::{AsddFiles, Proposed},
    records::SystemError,
};

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

pub(in crate::commands) fn help(error: &SystemError) -> Option<String> {
    Some(match error {
        SystemError::Unread { slice, agent } => {
            format!("`stepmark asdd begin {slice} --agent {agent}` shows it")
        }
        SystemError::Unknown { what: "slice", .. } => "`stepmark asdd status` lists the slices".to_owned(),
        SystemError::NoProposal { .. } => "`stepmark asdd proposals` lists those that wait".to_owned(),
        SystemError::Role { holders, .. } => {
            format!(
                "act as one of {} with --actor or STEPMARK_ACTOR; `roles:` of the configuration says who is",
                holders.join(", ")
            )
        }
        SystemError::Slice(refusal) => help_of_refusal(refusal)?,
        _ => return None,
    })
}

fn help_of_refusal(refusal: &AsddRefusal) -> Option<String> {
    Some(match refusal {
        AsddRefusal::Outdated { slice, agent, .. } => {
            format!(
                "read it again with `stepmark asdd begin {slice} --agent {agent}`, and propose anew; `stepmark asdd proposals --all` keeps this one"
            )
        }
        AsddRefusal::Inconsistent { slice, .. } => {
            format!(
                "bring the files and `stepmark asdd show {slice}` together, then begin again; a file of a later phase comes with that phase"
            )
        }
        AsddRefusal::Drift { slice, paths } => {
            let path = paths.first().map_or("PATH", String::as_str);
            format!(
                "bring the accepted bytes back, propose the file, or let a tech lead accept it: `stepmark asdd accept {slice} {path} --reason TEXT`"
            )
        }
        AsddRefusal::ManifestDrift { slice } => format!(
            "`stepmark import asdd --take file` takes it, `stepmark asdd project --overwrite {slice}` gives it up"
        ),
        AsddRefusal::Halted { slice, .. } => format!(
            "`stepmark asdd show {slice}` shows it; a tech lead resolves it with `stepmark asdd unblock {slice}` or `stepmark asdd review {slice} KEY=VALUE`"
        ),
        AsddRefusal::Move { legal, .. } if !legal.is_empty() => format!("it can go to {}", legal.join(", ")),
        AsddRefusal::NotApproved { slice, to } => {
            format!("a tech lead approves it with `stepmark asdd approve {slice} {to}`")
        }
        AsddRefusal::TwiceInChain { .. } => {
            "propose without --score: the entry in the chain counts".to_owned()
        }
        AsddRefusal::FactorsMissing { .. } => "give --uncertainty TEXT, once for each".to_owned(),
        AsddRefusal::Conflict { slice, .. } => format!(
            "add a rule to `asdd.steering`, or refuse one: `stepmark asdd reject ID --reason TEXT`; `stepmark asdd proposals` lists those for {slice}"
        ),
        _ => return None,
    })
}
