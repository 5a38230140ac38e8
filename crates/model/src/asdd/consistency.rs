//! Contradictions between a slice and the files of the project.

use super::{AsddRefusal, Record, Rules, SliceFacts, State};
use crate::lifecycle::built_in;
use std::fmt;

/// A contradiction between a slice and the files of the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inconsistency {
    /// A file is listed and not there.
    Missing {
        /// The key of `phase_data`.
        key: String,
        path: String,
    },
    /// The status is no word of the table.
    UnknownStatus {
        status: String,
    },
    Twice {
        agent: String,
    },
    /// The file of a phase that is still to come is there.
    LaterFile {
        path: String,
        status: String,
    },
}

impl fmt::Display for Inconsistency {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { key, path } => {
                write!(out, "`phase_data.{key}` names `{path}`, which is not there")
            }
            Self::UnknownStatus { status } => write!(out, "`{status}` is no status of a slice"),
            Self::Twice { agent } => write!(out, "`{agent}` stands twice in the confidence chain"),
            Self::LaterFile { path, status } => {
                write!(out, "`{path}` is there, and the slice is still in {status}")
            }
        }
    }
}

/// The contradictions between `slice` and the files of the project.
pub fn inconsistencies(slice: &Record, facts: &SliceFacts) -> Vec<Inconsistency> {
    let status = slice.status();
    let is_known = built_in("asdd-slice").is_some_and(|table| table.state_of(status).is_some());
    let unknown = (!is_known).then(|| Inconsistency::UnknownStatus { status: status.to_owned() });
    let is_gone = |path: &str| facts.files.get(path).is_some_and(Option::is_none);
    let missing = slice.phase_files().into_iter().filter(|(_, path)| is_gone(path));
    let missing =
        missing.map(|(key, path)| Inconsistency::Missing { key: key.to_owned(), path: path.to_owned() });
    let twice = slice.twice_in_chain().map(|agent| Inconsistency::Twice { agent: agent.to_owned() });
    unknown.into_iter().chain(missing).chain(twice).chain(later_files(slice, facts)).collect()
}

/// The files of phases that are still to come. What a failed attempt left is there until the next one.
fn later_files(slice: &Record, facts: &SliceFacts) -> Vec<Inconsistency> {
    let status = slice.status_below_lock();
    if slice.values.contains_key("rollback_timestamp") {
        return Vec::new();
    }
    let Some((place, _)) = phase_of(status) else { return Vec::new() };
    let is_later = |key: &str| place_of_file(key).is_some_and(|own| own > place);
    let own = slice.phase_files();
    let beside = SliceFacts::paths_of(slice);
    let beside = beside.iter().filter_map(|path| {
        let (folder, name) = path.rsplit_once('/')?;
        folder.contains("/specs/").then_some((name.strip_suffix(".md")?, path.as_str()))
    });
    let mut found: Vec<Inconsistency> = Vec::new();
    for (key, path) in own.into_iter().filter(|(key, _)| *key != "domain_model").chain(beside) {
        let later = Inconsistency::LaterFile { path: path.to_owned(), status: status.to_owned() };
        if is_later(key) && facts.hash(path).is_some() && !found.contains(&later) {
            found.push(later);
        }
    }
    found
}

/// The files that `slice` names and somebody changed: no slice has accepted them as they are.
pub fn drifted<'s>(slice: &'s Record, state: &State, facts: &SliceFacts) -> Vec<&'s str> {
    let is_drifted = |path: &&str| {
        let Some(hash) = facts.hash(path) else { return false };
        state.accepted(path).next().is_some() && !state.accepts(path, &hash.to_string())
    };
    slice.phase_files().into_iter().map(|(_, path)| path).filter(is_drifted).collect()
}

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

pub(super) fn next_phases(status: &str) -> Vec<String> {
    let table = built_in("asdd-slice");
    let state = table.and_then(|table| table.state_of(status));
    let moves = table.zip(state).map(|(table, from)| table.moves_from(from, None)).unwrap_or_default();
    let names = moves.iter().map(|legal| legal.to.name.clone());
    names.filter(|state| !["BLOCKED", "LOCK"].contains(&state.as_str())).collect()
}

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

#[derive(Debug, PartialEq, Eq)]
pub struct Phase {
    pub status: &'static str,
    pub agent: Option<&'static str>,
    /// The keys of `phase_data` whose files are there when it is left.
    pub files: &'static [&'static str],
}

const fn phase(status: &'static str, agent: Option<&'static str>, files: &'static [&'static str]) -> Phase {
    Phase { status, agent, files }
}

pub static PHASES: [Phase; 8] = [
    phase("DISCOVERY", Some("discovery"), &["intent"]),
    phase("SPEC", Some("spec"), &["requirements"]),
    phase("VALIDATION", Some("validation"), &["requirements"]),
    phase("DESIGN", Some("design"), &["design", "domain_model"]),
    phase("IMPLEMENTATION", Some("implementation"), &["tasks"]),
    phase("CI_CD", Some("qa"), &[]),
    phase("OBSERVABILITY", None, &[]),
    phase("DONE", None, &[]),
];

const OTHER_AGENTS: [(&str, &str); 3] =
    [("domain", "DESIGN"), ("task-planning", "IMPLEMENTATION"), ("refactor", "IMPLEMENTATION")];

/// The phase of a slice with this status, and its place; `None` for a status that is no phase.
pub fn phase_of(status: &str) -> Option<(usize, &'static Phase)> {
    let status = if status == "PARTIAL" { "VALIDATION" } else { status };
    PHASES.iter().enumerate().find(|(_, phase)| phase.status == status)
}

pub(super) fn place_of_file(key: &str) -> Option<usize> {
    PHASES.iter().position(|phase| phase.files.contains(&key))
}

pub(super) fn place_of_agent(agent: &str) -> Option<usize> {
    let agent = plain_name(agent);
    let other = OTHER_AGENTS.iter().find(|(name, _)| *name == agent);
    let status = other.map(|(_, status)| *status);
    PHASES.iter().position(|phase| phase.agent == Some(&agent) || Some(phase.status) == status)
}

/// The name of an agent by which it is compared: `implementation_agent` is `implementation`.
pub fn plain_name(agent: &str) -> String {
    let agent = agent.strip_prefix("agent:").unwrap_or(agent);
    let agent = agent.to_ascii_lowercase().replace([' ', '_'], "-");
    agent.strip_suffix("-agent").map(str::to_owned).unwrap_or(agent)
}
