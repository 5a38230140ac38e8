//! The failure of an agent: the slice goes back to the last phase that was good.

use serde_json::Value as Json;

use super::phase::{place_of_agent, place_of_file};
use super::{AsddRefusal, PHASES, Record, Rules, committing::check_score, phase_of, plain_name};

/// A failure of an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The agent.
    pub agent: String,
    /// Its confidence.
    pub score: f64,
    /// The doubts that it names.
    pub uncertainty_factors: Vec<String>,
}

impl Failure {
    /// The reason that the slice names: `Implementation Agent confidence 0.71 < threshold 0.75`.
    pub fn reason(&self, rules: &Rules) -> String {
        let name: Vec<String> = plain_name(&self.agent).split('-').map(capitalised).collect();
        let (score, threshold) = (self.score, rules.thresholds.of(&self.agent));
        format!("{} Agent confidence {score} < threshold {threshold}", name.join(" "))
    }

    /// Returns whether the confidence is below the threshold.
    pub fn is_below(&self, rules: &Rules) -> bool {
        self.score < rules.thresholds.of(&self.agent)
    }
}

/// `slice` as it is after `failure` at `now` (RFC 3339).
///
/// # Errors
/// When the confidence is none or is high enough, names no reasons of doubt, or the slice is in no phase.
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
        return Err(wrong("a phase"));
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

/// Takes away what belongs to phases behind the one at `good`.
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
