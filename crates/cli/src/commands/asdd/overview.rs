//! `stepmark asdd status`, `heartbeat`, `monitor` and `rebuild`

use std::collections::BTreeMap;

use super::agent;
use crate::{
    commands::coordination::report::told_of,
    exit::{Exit, Failure},
    output::{Output, Row, spinner, table},
    project::Project,
};
use clap::Args;
use serde_json::{Map, Value as Json};
use stepmark_model::{
    artifact::FileHash,
    asdd::{AsddRefusal, Proposal, Record, Verdict},
    records::Signals,
};
use stepmark_store::asdd::{Asdd, AsddFiles, AsddStatus, Proposed, Rebuilt};

answers! { Answer<'a>
    /// `asdd status`: all slices, agents, and what others changed in the manifest
    "stepmark.asdd/1" Status {
        project: &'a Map<String, Json>, slices: Vec<Json>, heartbeats: &'a Signals, drift: &'a [String],
        held_up: &'a BTreeMap<String, String>, proposals: &'a [Proposal],
    }
    /// `asdd show`, `begin` and commands that change a slice: the slice, and the digest that a proposal rests
    /// on
    "stepmark.asdd-slice/1" Slice {
        slice: Json, base: FileHash,
        #[serde(skip_serializing_if = "Option::is_none")] files: Option<&'a AsddFiles>,
    }
    /// `asdd propose`, `commit`, `reject`: a proposal, what became of it, and the slice
    "stepmark.asdd-proposal/1" Proposal { proposal: &'a Proposal, slice: Json, files: &'a AsddFiles }
    /// `asdd proposals`: proposals that wait
    "stepmark.asdd-proposals/1" Proposals { proposals: Vec<Row<&'a Proposal>>, more: usize }
    /// `asdd monitor`: agents that are silent, and slices that were blocked
    "stepmark.asdd-monitor/1" Monitor { silent: Vec<Silent<'a>>, blocked: Vec<Blocked<'a>> }
    /// `asdd rebuild`: slices that were made again
    "stepmark.asdd-rebuild/1" Rebuild (&'a Rebuilt)
    /// `asdd project`: the manifest, and what others changed in it
    "stepmark.asdd-project/1" Project (&'a AsddFiles)
    struct Silent<'a> { agent: &'a str, times: u64 }
    struct Blocked<'a> { slice: &'a str, reason: &'a str }
}

impl<'a> Answer<'a> {
    fn slice(slice: &Record, files: Option<&'a AsddFiles>) -> Self {
        Self::Slice { slice: wire(slice), base: slice.base(), files }
    }
}

pub(super) fn status(asdd: &Asdd<'_>, _: &Project, output: &Output) -> Result<Exit, Failure> {
    let AsddStatus { state, signals, drift, held_up: held, .. } = asdd.status()?;
    let mut waiting = asdd.proposals()?;
    waiting.retain(|proposal| proposal.verdict == Verdict::Pending);
    let standing = |slice: &Record| match drift.contains(&slice.id) {
        true => format!("{}, changed in the manifest", standing(slice)),
        false => match held.get(&slice.id) {
            Some(reason) => format!("{}, {reason}", standing(slice)),
            None => standing(slice),
        },
    };
    output.answer(|| Answer::Status {
        project: &state.project.values,
        slices: state.slices.iter().map(wire).collect(),
        heartbeats: &signals,
        drift: &drift,
        held_up: &held,
        proposals: &waiting,
    });
    let text = |key: &str| state.project.text(key).unwrap_or("-").to_owned();
    output.line(format_args!(
        "sprint {}, {}",
        text("current_sprint"),
        spinner::count(state.slices.len(), "slice")
    ));
    let row = |slice: &Record| {
        let ccs = slice.values.get("ccs").map_or("-".to_owned(), ToString::to_string);
        vec![
            slice.id.clone(),
            slice.text("type").unwrap_or("-").to_owned(),
            standing(slice),
            ccs,
            slice.blocker_count().to_string(),
            slice.text("name").unwrap_or("-").to_owned(),
        ]
    };
    let head = ["SLICE", "TYPE", "PHASE", "CCS", "BLOCKERS", "NAME"];
    output.line(table(&head, state.slices.iter().map(row)));
    for proposal in &waiting {
        let next = state.slice(&proposal.slice_id).map(|slice| next(proposal, slice));
        output.line(format_args!(
            "{} waits, of {} for {}: {}",
            proposal.proposal_id,
            proposal.agent,
            proposal.slice_id,
            next.unwrap_or_else(|| "its slice is gone".to_owned())
        ));
    }
    for signal in signals.values() {
        let status = signal.status.as_deref().unwrap_or("ACTIVE");
        let current = signal.current.as_ref().map(|slice| format!(", {slice}")).unwrap_or_default();
        output.line(format_args!("{}: {status}{current}, {}", signal.agent, signal.at));
    }
    Ok(Exit::Fine)
}

/// Note that an agent is alive, and what it is at
#[derive(Debug, Args)]
pub(super) struct Heartbeat {
    /// The agent; without it the actor of the command
    agent: Option<String>,
    /// The slice that it works on; without it the agent is idle
    #[arg(long)]
    slice: Option<String>,
    /// The wave of the tasks that it is at
    #[arg(long)]
    wave: Option<i64>,
    /// The tasks that it has done
    #[arg(long)]
    done: Option<i64>,
    /// The tasks that are left
    #[arg(long)]
    remaining: Option<i64>,
}

impl Heartbeat {
    pub(super) fn run(
        &self,
        (asdd, project): (&Asdd<'_>, &Project),
        output: &Output,
    ) -> Result<Exit, Failure> {
        let agent = agent(project, self.agent.as_deref())?;
        let numbers = [
            ("current_wave", self.wave),
            ("tasks_completed", self.done),
            ("tasks_remaining", self.remaining),
        ];
        let numbers: Vec<(&str, i64)> =
            numbers.into_iter().filter_map(|(key, number)| Some((key, number?))).collect();
        let files = asdd.heartbeat(&agent, (None, self.slice.as_deref()), &numbers)?;
        Ok(told_of(&files, "asdd", output))
    }
}

pub(super) fn monitor(asdd: &Asdd<'_>, output: &Output) -> Result<Exit, Failure> {
    let found = asdd.monitor()?;
    output.answer(|| Answer::Monitor {
        silent: found.silent.iter().map(|(agent, times)| Silent { agent, times: *times }).collect(),
        blocked: found.blocked.iter().map(|(slice, reason)| Blocked { slice, reason }).collect(),
    });
    for (agent, times) in &found.silent {
        let times = spinner::count(usize::try_from(*times).unwrap_or(usize::MAX), "time");
        output.line(format_args!("{agent} is silent; its time has run out {times}"));
    }
    for (slice, reason) in &found.blocked {
        output.line(format_args!("{slice}: BLOCKED, {reason}"));
    }
    Ok(if found.blocked.is_empty() { Exit::Fine } else { Exit::Findings })
}

pub(super) fn rebuild(asdd: &Asdd<'_>, output: &Output) -> Result<Exit, Failure> {
    let rebuilt = asdd.rebuild()?;
    output.answer(|| Answer::Rebuild(&rebuilt));
    for id in &rebuilt.from_history {
        output.line(format_args!("{id}: as history knows it"));
    }
    for id in &rebuilt.from_files {
        output.line(format_args!(
            "{id}: from its files; `stepmark asdd review {id} KEY=VALUE` says what they do not tell"
        ));
    }
    Ok(Exit::Fine)
}

pub(super) fn slice(slice: &Record, output: &Output) {
    output.answer(|| Answer::slice(slice, None));
    output.line(format_args!("{}  {}", slice.id, slice.text("name").unwrap_or("-")));
    for (key, value) in slice.values.iter().filter(|(key, _)| *key != "name") {
        output.line(format_args!("  {key}: {}", plain(value)));
    }
}

pub(super) fn changed(slice: &Record, files: &AsddFiles, output: &Output) {
    output.answer(|| Answer::slice(slice, Some(files)));
    output.line(format_args!("{}: {}", slice.id, standing(slice)));
    told_of(files, "asdd", output);
}

pub(super) fn proposed(proposed: &Proposed, output: &Output) {
    let Proposed { proposal, slice, files, .. } = proposed;
    output.answer(|| Answer::Proposal { proposal, slice: wire(slice), files });
    let (id, verdict) = (&proposal.proposal_id, proposal.verdict.as_str());
    output.line(format_args!("{id}: {verdict}; {}: {}", slice.id, standing(slice)));
    if proposal.verdict == Verdict::Pending {
        output.remark(next(proposal, slice));
    }
    told_of(&proposed.files, "asdd", output);
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

pub(crate) fn help_of_refusal(refusal: &AsddRefusal) -> Option<String> {
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
