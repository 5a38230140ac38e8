//! Assembly of the overview.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use super::{
    Column, Condition, ProgressGroup,
    progress_group::{by_epic, by_workflow, columns},
};
use crate::{
    observation::{Entry, FindingRow, Observation, ObservedSystems, TicketLink, TrackerState, TreeRow},
    wording::{self, history},
};
use jiff::Timestamp;
use stepmark_model::{
    artifact::{ProjectPath, natural_order},
    check::Severity,
    journal::{Event, Kind},
};

/// Deterministic: equal observations give equal overviews.
#[derive(Clone, Debug)]
pub struct Overview {
    pub project: String,
    pub at: Timestamp,
    /// In natural order of paths: `1-2` before `1-10`.
    pub entries: Vec<Entry>,
    /// Finished ones: indices into `entries`, latest change first.
    pub done: Vec<usize>,
    /// Workable ones: indices into `entries`; underway first, then latest change.
    pub next: Vec<usize>,
    /// Worst first.
    pub wrong: Vec<Trouble>,
    pub columns: Vec<Column>,
    pub systems: Arc<ObservedSystems>,
    pub has_memory: bool,
    pub workflows: Vec<ProgressGroup>,
    pub epics: Vec<ProgressGroup>,
    pub tree: Vec<TreeRow>,
    /// Latest first.
    pub sessions: Vec<SessionRow>,
    /// Latest first.
    pub events: Vec<EventRow>,
    /// Worst first, then in the order of the files.
    pub findings: Vec<FindingRow>,
    pub trackers: Vec<TrackerState>,
    pub counts: Counts,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub artifacts: usize,
    pub done: usize,
    pub next: usize,
    pub errors: usize,
    pub warnings: usize,
    pub notes: usize,
}

impl Overview {
    pub fn of(observation: &Observation) -> Self {
        let entries = entries(observation);
        let mut findings = observation.findings.clone();
        // A stable sort keeps the order of lines within a file.
        findings.sort_by(|one, other| natural_order(one.path.as_str(), other.path.as_str()));
        findings.sort_by_key(|finding| finding.severity);
        let wrong = all(observation, &entries, &findings);
        let (done, next) = (finished(&entries), workable(&entries));
        let of_severity = |severity| wrong.iter().filter(|trouble| trouble.severity == severity).count();
        let counts = Counts {
            artifacts: entries.len(),
            done: done.len(),
            next: next.len(),
            errors: of_severity(Severity::Error),
            warnings: of_severity(Severity::Warning),
            notes: observation.findings.iter().filter(|finding| finding.severity == Severity::Note).count(),
        };
        Self {
            project: observation.project.clone(),
            at: observation.at,
            workflows: by_workflow(&entries),
            epics: by_epic(&entries, &observation.ledgers.ledgers, &observation.artifacts.epic_titles),
            columns: columns(&entries),
            systems: Arc::clone(&observation.systems),
            has_memory: observation.has_memory,
            tree: observation.artifacts.tree.to_vec(),
            sessions: sessions(&observation.events),
            events: observation.events.iter().map(EventRow::of).collect(),
            findings,
            trackers: observation.trackers.as_ref().cloned().unwrap_or_default(),
            entries,
            done,
            next,
            wrong,
            counts,
        }
    }

    pub fn waiting(&self) -> usize {
        self.entries.iter().filter(|entry| entry.condition == Condition::NotImported).count()
    }

    pub fn entry(&self, path: &ProjectPath) -> Option<&Entry> {
        let place =
            self.entries.binary_search_by(|entry| natural_order(entry.path.as_str(), path.as_str())).ok()?;
        self.entries.get(place)
    }
}

fn entries(observation: &Observation) -> Vec<Entry> {
    let mut counts: HashMap<&ProjectPath, (usize, usize)> = HashMap::new();
    for finding in &observation.findings {
        let count = counts.entry(&finding.path).or_default();
        match finding.severity {
            Severity::Error => count.0 += 1,
            Severity::Warning => count.1 += 1,
            Severity::Note => {}
        }
    }
    let mut changed: HashMap<&ProjectPath, Timestamp> = HashMap::new();
    for event in &observation.events {
        if let Some(artifact) = &event.artifact {
            let latest = changed.entry(&artifact.path).or_insert(event.at);
            *latest = event.at.max(*latest);
        }
    }
    let mut tickets: BTreeMap<&ProjectPath, Vec<TicketLink>> = BTreeMap::new();
    for ticket in observation.trackers.iter().flatten().flat_map(|tracker| &tracker.tickets) {
        if let Some(path) = &ticket.path {
            tickets.entry(path).or_default().push(ticket.clone());
        }
    }
    let entries = observation.artifacts.entries.iter().map(|entry| {
        let (errors, warnings) = counts.get(&entry.path).copied().unwrap_or_default();
        let tickets = tickets.remove(&entry.path).unwrap_or_default();
        let changed_at = changed.get(&entry.path).copied();
        Entry { errors, warnings, tickets, changed_at, ..entry.clone() }
    });
    entries.collect()
}

fn finished(entries: &[Entry]) -> Vec<usize> {
    let is_finished = |place: &usize| entries[*place].condition == Condition::Finished;
    let mut places: Vec<usize> = (0..entries.len()).filter(is_finished).collect();
    places.sort_by_key(|place| std::cmp::Reverse(entries[*place].changed_at));
    places
}

fn workable(entries: &[Entry]) -> Vec<usize> {
    let mut places: Vec<usize> =
        (0..entries.len()).filter(|place| entries[*place].condition.is_open()).collect();
    places.sort_by_key(|place| {
        let entry = &entries[*place];
        (entry.condition, entry.next.is_none(), std::cmp::Reverse(entry.changed_at))
    });
    places
}

/// With those of its events that are among the latest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// `None`: outside of sessions.
    pub name: Option<String>,
    pub is_open: bool,
    pub first_at: Timestamp,
    pub last_at: Timestamp,
    pub actors: BTreeSet<String>,
    pub events: Vec<EventRow>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRow {
    pub id: String,
    pub at: Timestamp,
    pub actor: String,
    pub session: Option<String>,
    pub kind: String,
    pub path: Option<ProjectPath>,
    /// The changes in words; without any, the command.
    pub what: String,
    pub reason: Option<String>,
}

impl EventRow {
    pub fn of(event: &Event) -> Self {
        let changes = Some(history::changes(&event.changes)).filter(|words| !words.is_empty());
        Self {
            id: history::short(event.id),
            at: event.at,
            actor: event.actor.to_string(),
            session: event.session.clone(),
            kind: event.kind.as_str().to_owned(),
            path: event.artifact.as_ref().map(|artifact| artifact.path.clone()),
            what: changes.or_else(|| event.command.clone()).unwrap_or_default(),
            reason: event.reason.clone(),
        }
    }
}

/// `events` are latest first; so is the result, by last activity.
pub(super) fn sessions(events: &[Event]) -> Vec<SessionRow> {
    let mut places: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    let mut sessions: Vec<SessionRow> = Vec::new();
    for event in events {
        let name = event.session.as_deref();
        let place = *places.entry(name).or_insert_with(|| {
            sessions.push(SessionRow {
                name: name.map(str::to_owned),
                // The latest event that begins or ends the session decides.
                is_open: false,
                first_at: event.at,
                last_at: event.at,
                actors: BTreeSet::new(),
                events: Vec::new(),
            });
            sessions.len() - 1
        });
        let session = &mut sessions[place];
        session.first_at = session.first_at.min(event.at);
        session.last_at = session.last_at.max(event.at);
        session.actors.insert(event.actor.to_string());
        session.events.push(EventRow::of(event));
    }
    for session in &mut sessions {
        let mark = session.events.iter().find(|event| {
            [Kind::SESSION_START, Kind::SESSION_END].iter().any(|kind| kind.as_str() == event.kind)
        });
        session.is_open = mark.is_some_and(|event| event.kind == Kind::SESSION_START.as_str());
    }
    sessions
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    pub severity: Severity,
    /// `None`: the whole project.
    pub path: Option<ProjectPath>,
    pub what: String,
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

/// Errors, then warnings, no notes. Blockers come before style.
pub(super) fn all(observation: &Observation, entries: &[Entry], findings: &[FindingRow]) -> Vec<Trouble> {
    let mut troubles = of_project(observation);
    let waiting = entries.iter().filter(|entry| entry.condition == Condition::NotImported).count();
    let waiting = wording::waiting_stories(waiting);
    troubles.extend(waiting.map(|what| Trouble::of_project(Severity::Warning, what)));
    troubles.extend(entries.iter().filter_map(of_entry));
    let findings = findings.iter().filter(|finding| finding.severity != Severity::Note);
    troubles.extend(findings.map(Trouble::of_finding));
    // A stable sort keeps the order above within a severity.
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
