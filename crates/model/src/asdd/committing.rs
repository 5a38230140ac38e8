//! Proposals that become what a slice says.

use serde_json::{Value as Json, json};

use super::{
    AsddRefusal, Proposal, Record, Rules, SliceFacts, State,
    consistency::{self, drifted},
    inconsistencies, plain_name,
    proposal::reconcile,
    slice::number,
};

/// The confidence from which an agent need not say what it is not sure of.
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

/// `slice` as it is when `proposal` is committed at `now` (RFC 3339).
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

/// A locked slice as it is when all of `proposals`, brought together by the steering rules, are committed.
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
    // The phase is left when all is said.
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

/// Refuses where the slice is not what the proposals rest on, or is held up.
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
    // A part of a key, as `approval.to`, is not proposed at all.
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
            // A PARTIAL slice is validated again: the new score replaces the old one.
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
        consistency::check(&slice, to, rules, facts)?;
        slice.set("status", to);
        for key in ["approval", "uncertainty_factors", "rollback_timestamp"] {
            slice.values.shift_remove(key);
        }
    }
    Ok(slice)
}

/// Refuses a confidence that is none, or that names no reasons of doubt.
pub(super) fn check_score(score: f64, factors: &[String]) -> Result<(), AsddRefusal> {
    match score {
        score if !(0.0..=1.0).contains(&score) => Err(AsddRefusal::Score { score }),
        score if score < SURE && factors.is_empty() => Err(AsddRefusal::FactorsMissing { score }),
        _ => Ok(()),
    }
}
