//! The failure of an agent: the slice goes back to the last phase that was good.

use super::committing::check_score;
use super::consistency::{place_of_agent, place_of_file};
use super::{AsddRefusal, PHASES, Record, Rules, State, phase_of, plain_name};
use crate::records::{Signal, Signals, read_time};
use jiff::Timestamp;
use serde_json::Value as Json;

#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    pub agent: String,
    pub score: f64,
    pub uncertainty_factors: Vec<String>,
}

impl Failure {
    /// The reason that the slice names: `Implementation Agent confidence 0.71 < threshold 0.75`.
    pub fn reason(&self, rules: &Rules) -> String {
        let name: Vec<String> = plain_name(&self.agent).split('-').map(capitalised).collect();
        let (score, threshold) = (self.score, rules.thresholds.of(&self.agent));
        format!("{} Agent confidence {score} < threshold {threshold}", name.join(" "))
    }

    pub fn is_below(&self, rules: &Rules) -> bool {
        self.score < rules.thresholds.of(&self.agent)
    }
}

/// `slice` as it is after `failure` at `now` (RFC 3339).
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

/// `log` with one more row of the table that has the column `Failure Mode`; a log without one is given one at
/// its end. Nothing else changes.
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

/// `text` in which no `<` begins a tag (CommonMark §6.6): a blank behind it stays readable.
fn without_tags(text: &str) -> String {
    let mut parts = text.split('<');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |before, part| {
        let is_tag = part.starts_with(|letter: char| letter.is_ascii_alphabetic() || "/!?".contains(letter));
        before + if is_tag { "&lt;" } else { "<" } + part
    })
}

/// The place behind the last row of the table of failures.
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

/// An agent that says it works and has been silent for too long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeout {
    pub agent: String,
    pub slice: Option<String>,
    pub times: u64,
}

/// The agents that are silent for `seconds` or more. A status other than `ACTIVE` is no work.
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
