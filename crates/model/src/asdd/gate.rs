//! The gate of a phase.

use super::{AsddRefusal, Record, Rules, SliceFacts, phase_of, plain_name};
use crate::lifecycle::built_in;

/// Refuses that `slice`, which says all but the new status, goes to `to`.
pub(super) fn check(slice: &Record, to: &str, rules: &Rules, facts: &SliceFacts) -> Result<(), AsddRefusal> {
    let (id, from) = (slice.id.clone(), slice.status_below_lock());
    let legal = next_phases(from);
    if !legal.iter().any(|state| state == to) {
        return Err(AsddRefusal::Move { slice: id, from: from.to_owned(), to: to.to_owned(), legal });
    }
    let Some((_, phase)) = phase_of(from) else { return Ok(()) };
    let closed =
        |reason: String| AsddRefusal::Gate { slice: slice.id.clone(), phase: from.to_owned(), reason };
    if to != "PARTIAL" && from != "PARTIAL" {
        if let Some(agent) = phase.agent {
            check_agent(slice, agent, rules).map_err(closed)?;
        }
        let is_there = |key: &&&str| slice.phase_file(key).is_some_and(|path| facts.hash(path).is_some());
        if let Some(key) = phase.files.iter().find(|key| !is_there(key)) {
            return Err(closed(format!(
                "`phase_data.{key}` names no file that is there (--file {key}=PATH proposes one)"
            )));
        }
        if let (Some(floor), Some(product)) = (rules.ccs_floor, slice.product_of_chain())
            && product < floor
        {
            return Err(closed(format!("`ccs` is {product}, and {floor} is the least")));
        }
    }
    if slice.blocker_count() > 0 {
        return Err(closed(format!("{} blockers are open", slice.blocker_count())));
    }
    if slice.is_manual() && slice.approved() != Some(to) {
        return Err(AsddRefusal::NotApproved { slice: id, to: to.to_owned() });
    }
    Ok(())
}

/// The statuses that a proposal may lead to from `status`.
pub(super) fn next_phases(status: &str) -> Vec<String> {
    let table = built_in("asdd-slice");
    let state = table.and_then(|table| table.state_of(status));
    let moves = table.zip(state).map(|(table, from)| table.moves_from(from, None)).unwrap_or_default();
    let names = moves.iter().map(|legal| legal.to.name.clone());
    names.filter(|state| !["BLOCKED", "LOCK"].contains(&state.as_str())).collect()
}

/// Wants one entry of `agent` in the chain, at or above its threshold, and its trace.
fn check_agent(slice: &Record, agent: &str, rules: &Rules) -> Result<(), String> {
    let chain = slice.chain();
    let mut own = chain.iter().filter(|entry| plain_name(entry.agent) == agent);
    let Some(entry) = own.next() else { return Err(format!("`{agent}` has told no confidence (--score N)")) };
    let threshold = rules.thresholds.of(agent);
    if entry.score < threshold {
        return Err(format!("the confidence of `{agent}` is {}, and {threshold} is the least", entry.score));
    }
    if own.next().is_some() {
        return Err(format!("`{agent}` stands twice in the confidence chain"));
    }
    let is_own = |trace: &&str| trace.trim_end_matches(".md").ends_with(agent);
    match slice.texts("reasoning_traces").iter().any(is_own) {
        true => Ok(()),
        false => Err(format!("no trace of `{agent}` is listed: one is called `…-{agent}.md`")),
    }
}
