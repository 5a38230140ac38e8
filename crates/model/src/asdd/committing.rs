//! Commits proposals to slices.

use super::{
    Conflict, Inconsistency, Proposal, Record, Rules, SliceFacts, State,
    failing::{self, drifted},
    inconsistencies, plain_name,
    proposal::reconcile,
    state::number,
};
use crate::{
    artifact::FileHash,
    lifecycle::{MoveRefusal, built_in},
    packs::{MoveCall, Refused},
};
use serde_json::{Map, Value as Json, json};

/// From here on an agent need not list its doubts.
const SURE: f64 = 0.95;

const NOT_PROPOSED: [&str; 20] = [
    "id",
    "slice_id",
    "confidence_chain",
    "ccs",
    "phase_data",
    "reasoning_traces",
    "blockers",
    "blocked_at_phase",
    "lkg_phase",
    "block_reason",
    "uncertainty_factors",
    "rollback_timestamp",
    "lock",
    "status_before",
    "needs_human_review",
    "accepted",
    "approval",
    "governance_mode",
    "stepmark_kind",
    "stepmark_order",
];

pub fn commit(
    slice: &Record,
    proposal: &Proposal,
    (state, facts, rules): (&State, &SliceFacts, &Rules),
    now: &str,
) -> Result<Record, AsddRefusal> {
    if slice.status() == "LOCK" {
        let reason = "it is locked, since several agents want to change it".to_owned();
        return Err(AsddRefusal::Halted { slice: slice.id.clone(), reason });
    }
    check(slice, &[proposal], (state, facts))?;
    apply(slice.clone(), proposal, (facts, rules), now)
}

/// The locked slice with all `proposals` committed, reconciled by the steering rules.
pub fn settle(
    slice: &Record,
    proposals: &[Proposal],
    (state, facts, rules): (&State, &SliceFacts, &Rules),
    now: &str,
) -> Result<Record, AsddRefusal> {
    check(slice, &proposals.iter().collect::<Vec<_>>(), (state, facts))?;
    let united = reconcile(proposals, &rules.steering)
        .map_err(|conflicts| AsddRefusal::Conflict { slice: slice.id.clone(), conflicts })?;
    let mut after = slice.clone();
    unlock(&mut after);
    // Moves to the next phase come last.
    let (moving, staying): (Vec<Proposal>, Vec<Proposal>) =
        united.into_iter().partition(|proposal| proposal.to().is_some());
    for proposal in staying.iter().chain(&moving) {
        after = apply(after, proposal, (facts, rules), now)?;
    }
    Ok(after)
}

pub(super) fn unlock(slice: &mut Record) {
    let before = slice.status_below_lock().to_owned();
    slice.set("status", before);
    for key in ["lock", "status_before"] {
        slice.values.shift_remove(key);
    }
}

fn check(
    slice: &Record,
    proposals: &[&Proposal],
    (state, facts): (&State, &SliceFacts),
) -> Result<(), AsddRefusal> {
    let (id, now) = (|| slice.id.clone(), slice.base());
    if slice.status() == "BLOCKED" {
        let reason = slice.text("block_reason").unwrap_or("it is blocked").to_owned();
        return Err(AsddRefusal::Halted { slice: id(), reason });
    }
    let open = slice.needs_review();
    if !open.is_empty() {
        let reason = format!("a tech lead has to look at {}", open.join(", "));
        return Err(AsddRefusal::Halted { slice: id(), reason });
    }
    if let Some(stale) = proposals.iter().find(|proposal| proposal.base != now) {
        return Err(AsddRefusal::Outdated { slice: id(), agent: stale.agent.clone(), now });
    }
    let is_proposed =
        |path: &str| proposals.iter().flat_map(|proposal| &proposal.artifacts).any(|file| file.path == path);
    let found: Vec<_> = inconsistencies(slice, facts)
        .into_iter()
        .filter(|found| !matches!(found, super::Inconsistency::LaterFile { path, .. } if is_proposed(path)))
        .collect();
    if !found.is_empty() {
        return Err(AsddRefusal::Inconsistent { slice: id(), found });
    }
    let drifted = drifted(slice, state, facts).into_iter().filter(|path| !is_proposed(path));
    let paths: Vec<String> = drifted.map(str::to_owned).collect();
    if paths.is_empty() { Ok(()) } else { Err(AsddRefusal::Drift { slice: id(), paths }) }
}

fn apply(
    mut slice: Record,
    proposal: &Proposal,
    (facts, rules): (&SliceFacts, &Rules),
    now: &str,
) -> Result<Record, AsddRefusal> {
    // Parts of keys (`approval.to`) cannot be proposed.
    let is_refused = |key: &&String| key.contains('.') || NOT_PROPOSED.contains(&key.as_str());
    if let Some(key) = proposal.set.keys().find(is_refused) {
        return Err(AsddRefusal::Key { key: key.clone() });
    }
    if let Some(found) = proposal.set.get("status").filter(|value| !value.is_string()) {
        return Err(AsddRefusal::Phase { found: found.to_string() });
    }
    for file in &proposal.artifacts {
        if facts.hash(&file.path) != Some(file.file_hash) {
            return Err(AsddRefusal::File { path: file.path.clone() });
        }
        slice.set_in("phase_data", &file.phase, file.path.as_str().into());
        slice.set_in("accepted", &file.path, file.file_hash.to_string().into());
    }
    if let Some(trace) = &proposal.trace {
        if facts.hash(trace).is_none() {
            return Err(AsddRefusal::NoFile { path: trace.clone() });
        }
        if !slice.texts("reasoning_traces").contains(&trace.as_str()) {
            slice.push("reasoning_traces", trace.as_str().into());
        }
    }
    if let Some(confidence) = &proposal.confidence {
        let score = confidence.score;
        check_score(score, &confidence.uncertainty_factors)?;
        let agent = plain_name(&proposal.agent);
        if slice.chain().iter().any(|entry| plain_name(entry.agent) == agent) {
            // Revalidation of a PARTIAL slice replaces the old score.
            if slice.status_below_lock() != "PARTIAL" {
                return Err(AsddRefusal::TwiceInChain { slice: slice.id, agent });
            }
            let chain = slice.values.get("confidence_chain").and_then(Json::as_array);
            let is_other = |entry: &&Json| entry["agent"].as_str().is_none_or(|own| plain_name(own) != agent);
            let kept: Vec<Json> = chain.into_iter().flatten().filter(is_other).cloned().collect();
            slice.set("confidence_chain", kept);
        }
        slice.push("confidence_chain", json!({"agent": agent, "score": number(score), "timestamp": now}));
        slice.follow_chain();
    }
    for (key, value) in proposal.set.iter().filter(|(key, _)| *key != "status") {
        slice.set(key, value.clone());
    }
    if let Some(to) = proposal.to().filter(|to| *to != slice.status()) {
        failing::check(&slice, to, rules, facts)?;
        slice.set("status", to);
        for key in ["approval", "uncertainty_factors", "rollback_timestamp"] {
            slice.values.shift_remove(key);
        }
    }
    Ok(slice)
}

/// A low score needs reasons of doubt.
pub(super) fn check_score(score: f64, factors: &[String]) -> Result<(), AsddRefusal> {
    match score {
        score if !(0.0..=1.0).contains(&score) => Err(AsddRefusal::Score { score }),
        score if score < SURE && factors.is_empty() => Err(AsddRefusal::FactorsMissing { score }),
        _ => Ok(()),
    }
}

pub fn slice_move(name: &str) -> MoveCall {
    MoveCall::new("asdd", name)
}

/// A move of the pack: `accept` with `path` and `hash`, or `review` with values from a tech lead in `set`.
pub fn change(slice: &Record, made: &MoveCall, now: &str) -> Result<Record, AsddRefusal> {
    let mut after = slice.clone();
    let mut call = made.clone().with("now", now).with("phase", slice.status_below_lock());
    match &*made.name {
        "accept" => {
            let text = |name| made.text(name).unwrap_or_default();
            after.set_in("accepted", text("path"), text("hash").into());
            return Ok(after);
        }
        "review" => {
            review(&mut after, made.given.get("set").and_then(Json::as_object).unwrap_or(&Map::new()));
            return Ok(after);
        }
        "approve" => {
            let (from, to) = (slice.status_below_lock(), made.text("to").unwrap_or_default());
            let legal = super::failing::next_phases(from);
            if !legal.iter().any(|state| state == to) {
                let (slice, from, to) = (slice.id.clone(), from.to_owned(), to.to_owned());
                return Err(AsddRefusal::Move { slice, from, to, legal });
            }
        }
        "raise" | "dissent" => {
            let by = made.text("actor").unwrap_or_default();
            let mut entry = json!({"by": by, "text": made.text("text"), "timestamp": now});
            if made.name == "raise" {
                entry["to"] = "tech_lead".into();
            }
            call = call.with("entry", entry);
        }
        "count" => {
            let is_complete = made.given.get("missing").is_some_and(|missing| *missing == 0);
            call = call.with("status", if is_complete { "COMPLETE" } else { "PARTIAL" });
        }
        _ => {}
    }
    let Some(table) = built_in("asdd-slice") else { return Ok(after) };
    let writes = table.make((slice.status(), &slice.values), &call, |guard| {
        Some(AsddRefusal::Wrong(Box::new(guard.unknown_in(&made.name))))
    });
    for write in writes.map_err(|refused| of_status(slice, refused))? {
        write.apply(&mut after.values);
    }
    Ok(after)
}

fn of_status(slice: &Record, refused: Refused<AsddRefusal>) -> AsddRefusal {
    match refused {
        Refused::Guard(refusal, _) => refusal,
        Refused::Move(refusal) => match *refusal {
            MoveRefusal::NotFrom { wanted, .. } => AsddRefusal::Status {
                slice: slice.id.clone(),
                status: slice.status().to_owned(),
                wanted: match &*wanted {
                    [one] => one.clone(),
                    _ => "an open phase".to_owned(),
                },
            },
            other => AsddRefusal::Wrong(Box::new(other)),
        },
    }
}

fn review(slice: &mut Record, set: &Map<String, Json>) {
    let open: Vec<String> = slice
        .texts("needs_human_review")
        .into_iter()
        .filter(|key| !set.contains_key(*key))
        .map(str::to_owned)
        .collect();
    for (key, value) in set {
        slice.set(key, value.clone());
    }
    slice.follow_chain();
    match open.is_empty() {
        true => drop(slice.values.shift_remove("needs_human_review")),
        false => slice.set("needs_human_review", open),
    }
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AsddRefusal {
    #[error("the slice `{slice}` has changed since `{agent}` read it")]
    Outdated { slice: String, agent: String, now: FileHash },
    #[error("STATE_INCONSISTENCY in `{slice}`: {}", texts(found))]
    Inconsistent { slice: String, found: Vec<Inconsistency> },
    #[error("STATE_DRIFT in `{slice}`: {} changed since it was accepted", texts(paths))]
    Drift { slice: String, paths: Vec<String> },
    #[error("STATE_DRIFT in `{slice}`: another program changed it in the manifest")]
    ManifestDrift { slice: String },
    #[error("the slice `{slice}` is held up: {reason}")]
    Halted { slice: String, reason: String },
    #[error("`{slice}` cannot go from {from} to {to}")]
    Move { slice: String, from: String, to: String, legal: Vec<String> },
    #[error("`{slice}` may not leave {phase}: {reason}")]
    Gate {
        slice: String,
        phase: String,
        /// The failed condition.
        reason: String,
    },
    #[error("`{slice}` may not go to {to}: no tech lead has approved it")]
    NotApproved { slice: String, to: String },
    #[error("there is no file `{path}` in the project")]
    NoFile { path: String },
    #[error("`{path}` belongs to git, to stepmark or to the records of ASDD, and is no work on a slice")]
    NoWork { path: String },
    #[error("a proposal of {size} bytes is wanted, and {limit} is the most: long text belongs in a file")]
    TooLarge {
        size: usize,
        /// In bytes.
        limit: u64,
    },
    #[error("`{path}` is not the file that was proposed")]
    File { path: String },
    #[error("a confidence of {score} below 0.95 names what the agent is not sure of")]
    FactorsMissing { score: f64 },
    #[error("a confidence is a number from 0 to 1, and {score} is none")]
    Score { score: f64 },
    #[error("`{agent}` has an entry in the confidence chain of `{slice}`")]
    TwiceInChain { slice: String, agent: String },
    #[error("somebody else has decided on `{proposal}`")]
    Decided { proposal: String },
    #[error("the phase that comes next is a word, and `status` is {found}")]
    Phase { found: String },
    #[error(transparent)]
    Wrong(Box<MoveRefusal>),
    #[error("`{key}` is not changed by a proposal")]
    Key { key: String },
    #[error("the proposals for `{slice}` contradict each other: {}", texts(conflicts))]
    Conflict { slice: String, conflicts: Vec<Conflict> },
    #[error("`{slice}` is {status}: {wanted} is wanted")]
    Status { slice: String, status: String, wanted: String },
}

fn texts(items: &[impl ToString]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

impl AsddRefusal {
    /// Temporary: the proposal stays pending.
    pub const fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::Decided { .. }
                | Self::Halted { .. }
                | Self::Status { .. }
                | Self::Drift { .. }
                | Self::ManifestDrift { .. }
                | Self::Inconsistent { .. }
                | Self::NotApproved { .. }
                | Self::Conflict { .. }
        )
    }
}
