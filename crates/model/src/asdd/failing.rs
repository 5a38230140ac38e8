//! Failed agents: the slice returns to its last good phase.

use std::fmt;

use super::{AsddRefusal, Record, Rules, SliceFacts, State, committing::check_score};
use crate::{
    lifecycle::built_in,
    records::{Signal, Signals, read_time},
};
use jiff::Timestamp;
use serde_json::Value as Json;

#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    pub agent: String,
    pub score: f64,
    pub uncertainty_factors: Vec<String>,
}

impl Failure {
    /// `Implementation Agent confidence 0.71 < threshold 0.75`.
    pub fn reason(&self, rules: &Rules) -> String {
        let name: Vec<String> = plain_name(&self.agent).split('-').map(capitalised).collect();
        let (score, threshold) = (self.score, rules.thresholds.of(&self.agent));
        format!("{} Agent confidence {score} < threshold {threshold}", name.join(" "))
    }

    pub fn is_below(&self, rules: &Rules) -> bool {
        self.score < rules.thresholds.of(&self.agent)
    }
}

/// `now` is RFC 3339.
pub fn fail(slice: &Record, failure: &Failure, rules: &Rules, now: &str) -> Result<Record, AsddRefusal> {
    check_score(failure.score, &failure.uncertainty_factors)?;
    let status = slice.status_below_lock().to_owned();
    let wrong =
        |wanted| AsddRefusal::Status { slice: slice.id.clone(), status: slice.status().to_owned(), wanted };
    if !failure.is_below(rules) {
        let reason = format!("the confidence {} of `{}` is high enough", failure.score, failure.agent);
        return Err(AsddRefusal::Gate { slice: slice.id.clone(), phase: status, reason });
    }
    let is_quick = status == "QUICK_FIX";
    let Some((place, _)) = phase_of(&status).or(is_quick.then_some((0, &PHASES[0]))) else {
        return Err(wrong("a phase".to_owned()));
    };
    let mut after = slice.clone();
    super::committing::unlock(&mut after);
    after.set("status", "BLOCKED");
    after.set("blocked_at_phase", status);
    match place.checked_sub(1) {
        Some(good) => {
            after.set("lkg_phase", PHASES[good].status);
            go_back(&mut after, good);
        }
        None => drop(after.values.shift_remove("lkg_phase")),
    }
    after.set("block_reason", failure.reason(rules));
    after.set("uncertainty_factors", failure.uncertainty_factors.clone());
    after.set("rollback_timestamp", now);
    after.values.shift_remove("approval");
    Ok(after)
}

fn go_back(slice: &mut Record, good: usize) {
    let is_behind = |place: Option<usize>| place.is_some_and(|place| place > good);
    if let Some(Json::Array(chain)) = slice.values.get("confidence_chain") {
        let agent = |entry: &Json| entry.get("agent").and_then(Json::as_str).and_then(place_of_agent);
        let kept: Vec<Json> = chain.iter().filter(|entry| !is_behind(agent(entry))).cloned().collect();
        slice.set("confidence_chain", kept);
        slice.follow_chain();
    }
    if let Some(Json::Object(files)) = slice.values.get("phase_data") {
        let kept = files.iter().filter(|(key, _)| !is_behind(place_of_file(key)));
        let kept: serde_json::Map<String, Json> =
            kept.map(|(key, path)| (key.clone(), path.clone())).collect();
        slice.set("phase_data", kept);
    }
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

const COLUMNS: [&str; 8] = [
    "Date",
    "Agent",
    "Phase",
    "Failure Mode",
    "Confidence Score",
    "Resolution",
    "Time to Resolve",
    "Root Cause",
];

/// Appends a row to the table with the column `Failure Mode`; adds the table if it is missing. All else is
/// kept.
pub fn add_row(log: Option<&[u8]>, cells: &[&str]) -> Vec<u8> {
    let row = row(COLUMNS.iter().enumerate().map(|(place, _)| cells.get(place).copied().unwrap_or("")));
    let Some(log) = log.filter(|log| !log.trim_ascii().is_empty()) else {
        return format!("# Agent failure log\n\n{}{row}", head()).into_bytes();
    };
    let (before, row, after) = match end_of_table(log) {
        Some(at) => {
            let line_end = if log[..at].ends_with(b"\n") { "" } else { "\n" };
            (&log[..at], format!("{line_end}{row}"), &log[at..])
        }
        None => (log.trim_ascii_end(), format!("\n\n{}{row}", head()), &[][..]),
    };
    [before, row.as_bytes(), after].concat()
}

fn head() -> String {
    format!("{}{}", row(COLUMNS.into_iter()), row(COLUMNS.iter().map(|_| "---")))
}

fn row<'c>(cells: impl Iterator<Item = &'c str>) -> String {
    let plain = |text: &str| text.replace(|letter: char| letter.is_control() && !letter.is_whitespace(), "");
    let escaped = |text: &str| without_tags(&plain(text)).replace('|', "\\|");
    let cell = |cell: &str| escaped(cell).split_whitespace().collect::<Vec<_>>().join(" ");
    format!("| {} |\n", cells.map(cell).collect::<Vec<_>>().join(" | "))
}

/// Inserts blanks so that no `<` begins a tag (CommonMark §6.6).
fn without_tags(text: &str) -> String {
    let mut parts = text.split('<');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |before, part| {
        let is_tag = part.starts_with(|letter: char| letter.is_ascii_alphabetic() || "/!?".contains(letter));
        before + if is_tag { "&lt;" } else { "<" } + part
    })
}

fn end_of_table(log: &[u8]) -> Option<usize> {
    let (mut at, mut end) = (0, None);
    for line in log.split_inclusive(|byte| *byte == b'\n') {
        at += line.len();
        let is_row = line.trim_ascii_start().starts_with(b"|");
        let is_head = is_row && String::from_utf8_lossy(line).contains("Failure Mode");
        if is_head || is_row && end.is_some_and(|end| end == at - line.len()) {
            end = Some(at);
        }
    }
    end
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeout {
    pub agent: String,
    pub slice: Option<String>,
    pub times: u64,
}

/// Only agents with status `ACTIVE` can time out.
pub fn timeouts(signals: &Signals, state: &State, now: Timestamp, seconds: u64) -> Vec<Timeout> {
    let timeout = |signal: &Signal| {
        let is_active = signal.status.as_deref().is_none_or(|status| status.eq_ignore_ascii_case("ACTIVE"));
        let silent = now.duration_since(read_time(&signal.at)?).as_secs();
        let times = u64::try_from(silent).unwrap_or_default() / seconds.max(1);
        let slice = signal.current.clone().filter(|id| state.slice(id).is_some());
        (is_active && times > 0).then(|| Timeout { agent: signal.agent.clone(), slice, times })
    };
    signals.values().filter_map(timeout).collect()
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inconsistency {
    /// Listed, but no such file.
    Missing {
        key: String,
        path: String,
    },
    /// Not in the lifecycle.
    UnknownStatus {
        status: String,
    },
    Twice {
        agent: String,
    },
    /// A file of a later phase exists.
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

/// Files of a failed attempt are allowed until the next one.
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

/// Files changed since the slice accepted them.
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
    /// Keys of `phase_data` whose files must exist at the end of the phase.
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

/// With its index; `None` for a status outside the phases.
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

/// For comparison: `implementation_agent` is `implementation`.
pub fn plain_name(agent: &str) -> String {
    let agent = agent.strip_prefix("agent:").unwrap_or(agent);
    let agent = agent.to_ascii_lowercase().replace([' ', '_'], "-");
    agent.strip_suffix("-agent").map(str::to_owned).unwrap_or(agent)
}

#[cfg(test)]
mod tests {

    fn add_row(log: Option<&str>, cells: &[&str]) -> String {
        String::from_utf8(super::add_row(log.map(str::as_bytes), cells)).unwrap()
    }

    #[test]
    fn other_bytes_stay() {
        let made = super::add_row(Some(b"caf\xe9\n"), &["a"]);
        assert!(made.starts_with(b"caf\xe9\n\n| Date"), "{made:?}");
    }

    #[test]
    fn nothing_that_an_agent_says_means_something_in_the_document() {
        let made = add_row(None, &["2026-04-20", "a|b", "\u{1b}[31mred", "<script>\n| x |"]);
        let row = made.lines().last().unwrap();
        assert!(row.starts_with("| 2026-04-20 | a\\|b | [31mred | &lt;script> \\| x \\| |"), "{row}");
    }

    #[test]
    fn a_row_joins_the_table_and_nothing_else_changes() {
        let made = add_row(None, &["2026-04-20", "implementation"]);
        let table = "| Date | Agent | Phase | Failure Mode | Confidence Score | Resolution | Time to Resolve | Root Cause |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n";
        let row = "| 2026-04-20 | implementation |  |  |  |  |  |  |\n";
        assert_eq!(made, format!("# Agent failure log\n\n{table}{row}"));
        let log = format!("# Log\r\n\ntext | of people\n\n{table}{row}\nBelow.\n");
        let second = "| a \\| b | c d |  |  |  |  |  |  |\n";
        let expected = format!("# Log\r\n\ntext | of people\n\n{table}{row}{second}\nBelow.\n");
        assert_eq!(add_row(Some(&log), &["a | b", "c\nd"]), expected);
        assert_eq!(add_row(Some("No table"), &["a | b", "c\nd"]), format!("No table\n\n{table}{second}"));
        let unended = table.trim_end();
        assert_eq!(add_row(Some(unended), &["a | b", "c d"]), format!("{table}{second}"));
    }
}
