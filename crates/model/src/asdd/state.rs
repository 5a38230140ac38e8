//! All records of ASDD in a project, and slices made again from its files.

use super::{PHASES, Record, SliceKind, SteeringRule, consistency::place_of_file, plain_name};
use crate::artifact::FileHash;
use crate::records::{RecordSet, by_kind};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

/// All records of ASDD in a project, in the order of their places.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub project: Record,
    pub slices: Vec<Record>,
}

impl RecordSet for State {
    type Kind = SliceKind;

    fn from_records(records: impl IntoIterator<Item = Record>) -> Option<Self> {
        let mut by_kind = by_kind(records);
        let mut take = |kind| by_kind.remove(&kind).unwrap_or_default();
        Some(Self { project: take(SliceKind::Project).into_iter().next()?, slices: take(SliceKind::Slice) })
    }

    fn of_kind(&self, kind: SliceKind) -> &[Record] {
        match kind {
            SliceKind::Project => std::slice::from_ref(&self.project),
            SliceKind::Slice => &self.slices,
        }
    }
}

impl State {
    pub fn slice(&self, id: &str) -> Option<&Record> {
        self.record(SliceKind::Slice, id)
    }

    pub(super) fn accepts(&self, path: &str, hash: &str) -> bool {
        self.accepted(path).any(|accepted| accepted == hash)
    }

    pub(super) fn accepted<'s>(&'s self, path: &str) -> impl Iterator<Item = &'s str> {
        self.slices.iter().filter_map(move |slice| slice.accepted(path))
    }
}

/// The files that a slice names, as they are: `None` where one is not there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SliceFacts {
    pub files: BTreeMap<String, Option<FileHash>>,
}

impl SliceFacts {
    pub fn hash(&self, path: &str) -> Option<FileHash> {
        self.files.get(path).copied().flatten()
    }

    /// The paths of the files that a slice names, and of those that belong to its phases although it names
    /// them not: `KEY.md` beside the others.
    pub fn paths_of(slice: &Record) -> Vec<String> {
        let named = slice.phase_files();
        let folder = named
            .iter()
            .find_map(|(_, path)| path.rsplit_once('/').filter(|(own, _)| own.contains("/specs/")));
        let named = named.iter().map(|(_, path)| (*path).to_owned());
        let beside = folder.into_iter().flat_map(|(folder, _)| {
            ["intent", "requirements", "design", "tasks"].map(|key| format!("{folder}/{key}.md"))
        });
        let traces = slice.texts("reasoning_traces").into_iter().map(str::to_owned);
        named.chain(beside).chain(traces).collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// The facts about ASDD in a project that its slices are held against.
#[derive(Clone, Debug)]
pub struct AsddFacts {
    pub state: State,
    pub files: SliceFacts,
    pub rules: Rules,
    /// The agents that say they work and have been silent for too long, by slice.
    pub silent: BTreeMap<String, Vec<String>>,
}

/// The least confidence of each agent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thresholds(pub BTreeMap<String, f64>);

/// The thresholds that count where a project says nothing.
const USUAL: [(&str, f64); 11] = [
    ("discovery", 0.85),
    ("spec", 0.85),
    ("validation", 0.90),
    ("domain", 0.85),
    ("design", 0.80),
    ("task-planning", 0.80),
    ("implementation", 0.75),
    ("qa", 0.85),
    ("refactor", 0.80),
    ("knowledge", 0.80),
    ("security", 0.95),
];

const OF_OTHERS: f64 = 0.80;

impl Thresholds {
    pub fn of(&self, agent: &str) -> f64 {
        let agent = plain_name(agent);
        let own = self.0.iter().find(|(name, _)| plain_name(name) == agent).map(|(_, least)| *least);
        let usual = || USUAL.iter().find(|(name, _)| *name == agent).map(|(_, least)| *least);
        own.or_else(usual).unwrap_or(OF_OTHERS)
    }
}

/// The demands of a project on its agents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    /// The least confidence of each agent.
    pub thresholds: Thresholds,
    /// The least product of the confidences of a slice; `None` for none.
    pub ccs_floor: Option<f64>,
    /// The rules by which proposals that contradict each other are brought together.
    pub steering: Vec<SteeringRule>,
}

impl Thresholds {
    /// Those in the rows of a Markdown table: an agent, then a number from 0 to 1 in one of the other cells.
    pub fn of_table(text: &str) -> Self {
        let row = |line: &str| {
            let cells: Vec<&str> = line.trim().strip_prefix('|')?.split('|').map(str::trim).collect();
            let share = |cell: &&str| cell.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
            Some((plain_name(cells.first()?), cells.iter().skip(1).find_map(share)?))
        };
        Self(text.lines().filter_map(row).collect())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFile {
    /// The name of the folder in which it stands: that of the slice.
    pub slice: String,
    /// The key of `phase_data`.
    pub key: String,
    pub path: String,
    /// The SHA-256 of its bytes.
    pub hash: String,
}

/// The slices that `found` files belong to and that no slice of `state` names. What files do not tell waits
/// for a tech lead: the confidence of agents, the kind of the slice, and the phase, of which the files say
/// only the least.
pub fn from_files(found: &[FoundFile], state: &State) -> Vec<Record> {
    let is_known = |file: &&FoundFile| {
        state.slices.iter().any(|slice| slice.phase_files().iter().any(|(_, path)| *path == file.path))
    };
    let mut by_slice: BTreeMap<&str, Vec<&FoundFile>> = BTreeMap::new();
    for file in found {
        by_slice.entry(&file.slice).or_default().push(file);
    }
    by_slice.retain(|_, files| !files.iter().any(is_known));
    let first = state.next_order(SliceKind::Slice);
    let slices = by_slice.into_iter().zip(first..);
    slices.map(|((name, files), order)| rebuilt(name, &files, order)).collect()
}

fn rebuilt(name: &str, files: &[&FoundFile], order: i64) -> Record {
    let last = files.iter().filter_map(|file| place_of_file(&file.key)).max();
    let status = last.map_or("NEEDS_HUMAN_REVIEW", |place| PHASES[place].status);
    let mut slice = SliceKind::new_slice(name, (name, "FEATURE"), status, order);
    for file in files {
        slice.set_in("phase_data", &file.key, file.path.as_str().into());
        slice.set_in("accepted", &file.path, Json::from(file.hash.as_str()));
    }
    slice.set("needs_human_review", json!(["status", "type", "governance_mode", "confidence_chain"]));
    slice
}
