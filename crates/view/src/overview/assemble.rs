//! The whole view.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use jiff::Timestamp;
use stepmark_model::{
    artifact::{ProjectPath, natural_order},
    check::Severity,
};

use super::{
    Column, Condition, EventRow, ProgressGroup, SessionRow, Trouble,
    column::columns,
    progress_group::{by_epic, by_workflow},
    timeline, trouble,
};
use crate::observation::{
    Entry, FindingRow, Observation, ObservedSystems, TicketLink, TrackerState, TreeRow,
};

/// The overview of a project: what is done, what is next and what is wrong. The same observation gives the
/// same overview.
#[derive(Clone, Debug)]
pub struct Overview {
    pub project: String,
    pub at: Timestamp,
    /// All artifacts, in the natural order of their paths: `1-2` before `1-10`.
    pub entries: Vec<Entry>,
    /// The artifacts that are finished: places in `entries`, what was changed last first.
    pub done: Vec<usize>,
    /// The artifacts that can be worked on: places in `entries`, what is underway first, and of that what was
    /// changed last.
    pub next: Vec<usize>,
    /// The things that are wrong, the worst first.
    pub wrong: Vec<Trouble>,
    pub columns: Vec<Column>,
    pub systems: Arc<ObservedSystems>,
    pub has_memory: bool,
    pub workflows: Vec<ProgressGroup>,
    pub epics: Vec<ProgressGroup>,
    /// The trees of delegation: who works on what for whom.
    pub tree: Vec<TreeRow>,
    /// The events by session, the latest first.
    pub sessions: Vec<SessionRow>,
    /// The latest events, the last first.
    pub events: Vec<EventRow>,
    /// All findings: the worst first, then in the order of the files.
    pub findings: Vec<FindingRow>,
    pub trackers: Vec<TrackerState>,
    pub counts: Counts,
}

/// The numbers at the top of a view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub artifacts: usize,
    pub done: usize,
    pub next: usize,
    pub errors: usize,
    pub warnings: usize,
    /// The number of findings that are only worth knowing.
    pub notes: usize,
}

impl Overview {
    pub fn of(observation: &Observation) -> Self {
        let entries = entries(observation);
        let mut findings = observation.findings.clone();
        // Stable: within a file the order of its lines stays.
        findings.sort_by(|one, other| natural_order(one.path.as_str(), other.path.as_str()));
        findings.sort_by_key(|finding| finding.severity);
        let wrong = trouble::all(observation, &entries, &findings);
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
            sessions: timeline::sessions(&observation.events),
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

/// The artifacts that are finished, what was changed last first; then in the order of the paths.
fn finished(entries: &[Entry]) -> Vec<usize> {
    let is_finished = |place: &usize| entries[*place].condition == Condition::Finished;
    let mut places: Vec<usize> = (0..entries.len()).filter(is_finished).collect();
    places.sort_by_key(|place| std::cmp::Reverse(entries[*place].changed_at));
    places
}

/// The artifacts that can be worked on: what is underway before what is not, and of each what was changed
/// last first.
fn workable(entries: &[Entry]) -> Vec<usize> {
    let mut places: Vec<usize> =
        (0..entries.len()).filter(|place| entries[*place].condition.is_open()).collect();
    places.sort_by_key(|place| {
        let entry = &entries[*place];
        (entry.condition, entry.next.is_none(), std::cmp::Reverse(entry.changed_at))
    });
    places
}
