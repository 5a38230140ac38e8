//! The results of replaying history, as lines and as JSON.

use serde_json::{Value as Json, json};
use stepmark_model::journal::{EventId, HistoryState};
use stepmark_store::{history::SegmentProblem, replay::Replayed};

use super::{Output, history, on_one_line, wording};
use crate::exit::{Exit, chain};

pub(crate) struct Summary {
    pub(crate) artifacts: Vec<Replayed>,
    /// The number of segments and of events that were read from end to end.
    pub(crate) segments: Option<(u64, u64)>,
    pub(crate) problems: Vec<SegmentProblem>,
    pub(crate) unreadable: Vec<String>,
}

impl Summary {
    pub(crate) fn exit(&self, strict: bool) -> Exit {
        let is_damaged = self.problems.iter().any(SegmentProblem::is_damage)
            || self.artifacts.iter().any(|artifact| !artifact.damage.is_empty());
        let has_gaps = self.problems.iter().any(SegmentProblem::is_gap);
        let is_finding = |artifact: &Replayed| match artifact.state {
            HistoryState::Unexplained { .. } => true,
            HistoryState::NoHistory => strict,
            HistoryState::Current { .. } | HistoryState::Earlier { .. } | HistoryState::Merged { .. } => {
                false
            }
        };
        if is_damaged || !self.unreadable.is_empty() {
            Exit::Io
        } else if has_gaps || self.artifacts.iter().any(is_finding) {
            Exit::Findings
        } else {
            Exit::Fine
        }
    }
}

fn words(state: &HistoryState) -> (&'static str, Option<EventId>) {
    match state {
        HistoryState::Current { event } => ("current", Some(*event)),
        HistoryState::Earlier { event } => ("earlier", Some(*event)),
        HistoryState::Merged { head } => ("merged", Some(*head)),
        HistoryState::Unexplained { head } => ("unexplained", Some(*head)),
        HistoryState::NoHistory => ("no-history", None),
    }
}

/// Prints all of it; with `--quiet` only what is not as it was left.
pub(crate) fn show(summary: &Summary, output: &Output) {
    for artifact in &summary.artifacts {
        let (word, event) = words(&artifact.state);
        let event = event.map(|event| format!("  {}", history::short(event))).unwrap_or_default();
        let line = format!("{word:<11}  {}{event}", on_one_line(artifact.path.as_str()));
        match artifact.state {
            HistoryState::Unexplained { .. } => output.line(line),
            _ => output.remark(line),
        }
        for change in &artifact.changes {
            output.line(format_args!("    {}", on_one_line(&history::change(change))));
        }
        if let Some(obstacle) = &artifact.obstacle {
            output.line(format_args!("    {}", on_one_line(&chain(obstacle))));
        }
        for damage in &artifact.damage {
            output.warning(format_args!("{}: {}", artifact.path, chain(damage)));
        }
    }
    summary.problems.iter().for_each(|problem| output.warning(wording::segment_problem(problem)));
    summary.unreadable.iter().for_each(|problem| output.warning(problem));
    output.remark(counts(summary));
}

fn counts(summary: &Summary) -> String {
    let words_of = |wanted: &str| {
        let count = summary.artifacts.iter().filter(|one| words(&one.state).0 == wanted).count();
        (count > 0).then(|| format!("{count} {wanted}"))
    };
    let states: Vec<String> = ["current", "earlier", "merged", "unexplained", "no-history"]
        .into_iter()
        .filter_map(words_of)
        .collect();
    let artifacts = wording::count(summary.artifacts.len(), "artifact");
    let read = summary.segments.map(|(segments, events)| {
        format!("; {} in {}", wording::count(events, "event"), wording::count(segments, "segment"))
    });
    let states = if states.is_empty() { String::new() } else { format!(": {}", states.join(", ")) };
    format!("{artifacts}{states}{}", read.unwrap_or_default())
}

/// `stepmark.replay/2`.
pub(crate) fn wire(summary: &Summary) -> Json {
    let artifacts: Vec<Json> = summary.artifacts.iter().map(artifact).collect();
    let problems: Vec<Json> = summary.problems.iter().map(problem).collect();
    json!({
        "artifacts": artifacts,
        "segments": summary.segments.map(|(segments, _)| segments),
        "events": summary.segments.map(|(_, events)| events),
        "problems": problems,
        "unreadable": summary.unreadable,
    })
}

fn artifact(artifact: &Replayed) -> Json {
    let (word, event) = words(&artifact.state);
    json!({
        "path": artifact.path.as_str(),
        "key": artifact.key.as_str(),
        "state": word,
        "event": event,
        "events": artifact.events,
        "changes": artifact.changes,
        "remarks": artifact.obstacle.iter().map(|obstacle| chain(obstacle)).collect::<Vec<_>>(),
        "damage": artifact.damage.iter().map(|damage| chain(damage)).collect::<Vec<_>>(),
    })
}

pub(crate) fn problem(problem: &SegmentProblem) -> Json {
    json!({
        "segment": problem.segment.as_str(),
        "file": problem.file,
        "line": problem.line,
        "offset": problem.offset,
        "problem": problem.word(),
        "message": problem.problem.to_string(),
    })
}
