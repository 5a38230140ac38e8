//! The things that are wrong, the worst first.

use stepmark_model::{artifact::ProjectPath, check::Severity};

use super::Condition;
use crate::{
    observation::{Entry, FindingRow, Observation, TrackerState},
    wording,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    pub severity: Severity,
    /// The path of what it is about; `None` for what concerns the whole project.
    pub path: Option<ProjectPath>,
    pub what: String,
    /// The id of the rule that is broken, where it is one.
    pub rule: Option<&'static str>,
}

impl Trouble {
    fn of_project(severity: Severity, what: String) -> Self {
        Self { severity, path: None, what, rule: None }
    }

    fn of_finding(finding: &FindingRow) -> Self {
        Self {
            severity: finding.severity,
            path: Some(finding.path.clone()),
            what: finding.message.clone(),
            rule: Some(finding.rule.id),
        }
    }
}

/// Everything that is wrong: errors, then warnings; notes are none. What keeps work from going on stands
/// before what is badly written.
pub(super) fn all(observation: &Observation, entries: &[Entry], findings: &[FindingRow]) -> Vec<Trouble> {
    let mut troubles = of_project(observation);
    let waiting = entries.iter().filter(|entry| entry.condition == Condition::NotImported).count();
    let waiting = wording::waiting_stories(waiting);
    troubles.extend(waiting.map(|what| Trouble::of_project(Severity::Warning, what)));
    troubles.extend(entries.iter().filter_map(of_entry));
    let findings = findings.iter().filter(|finding| finding.severity != Severity::Note);
    troubles.extend(findings.map(Trouble::of_finding));
    // Stable: within a severity the order above stays.
    troubles.sort_by_key(|trouble| trouble.severity);
    troubles
}

fn of_project(observation: &Observation) -> Vec<Trouble> {
    let mut troubles = Vec::new();
    let folders =
        observation.found.problems.iter().map(|problem| format!("{}: {}", problem.path, problem.kind));
    let (artifacts, ledgers) = (&observation.found.unreadable, &observation.ledgers.unreadable);
    let files = artifacts.iter().chain(ledgers).map(ToString::to_string);
    troubles.extend(folders.chain(files).map(|what| Trouble::of_project(Severity::Error, what)));
    if observation.damaged_lines > 0 {
        let lines = wording::count(observation.damaged_lines, "line");
        let what =
            format!("{lines} of the journal cannot be used; `stepmark log replay --verify` names them");
        troubles.push(Trouble::of_project(Severity::Error, what));
    }
    match &observation.trackers {
        Ok(trackers) => troubles.extend(trackers.iter().flat_map(of_tracker)),
        Err(why) => {
            let what = format!("tickets cannot be told: {why}");
            troubles.push(Trouble::of_project(Severity::Error, what));
        }
    }
    troubles
}

fn of_tracker(tracker: &TrackerState) -> Vec<Trouble> {
    let name = &tracker.name;
    let open = tracker.breakers.iter().map(|breaker| {
        let what = format!("tracker {name}: nothing is sent to {}: {}", breaker.scope, breaker.why);
        Trouble::of_project(Severity::Error, what)
    });
    let parked = tracker.deliveries.iter().filter(|delivery| delivery.until.is_none()).map(|delivery| {
        let what =
            format!("tracker {name}: the ticket of {} cannot be delivered: {}", delivery.name, delivery.why);
        Trouble::of_project(Severity::Error, what)
    });
    open.chain(parked).collect()
}

fn of_entry(entry: &Entry) -> Option<Trouble> {
    let what = match entry.condition {
        Condition::Blocked => {
            let status = entry.status.as_deref().unwrap_or("blocked");
            format!("work is held up: its status is `{status}`")
        }
        Condition::Interrupted => {
            "it has content but no completed step: the workflow was interrupted".to_owned()
        }
        _ => return None,
    };
    Some(Trouble { severity: Severity::Warning, path: Some(entry.path.clone()), what, rule: None })
}
