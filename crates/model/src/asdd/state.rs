//! All ASDD records of a project, and recovery of slices from files.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use super::{PHASES, Record, SteeringRule, failing::place_of_file, plain_name};
use crate::{
    artifact::FileHash,
    records::{RecordKinds, RecordSet, by_kind, values_digest},
};
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value as Json, json};

/// In the order of their paths.
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

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SliceFacts {
    pub files: BTreeMap<String, Option<FileHash>>,
}

impl SliceFacts {
    pub fn hash(&self, path: &str) -> Option<FileHash> {
        self.files.get(path).copied().flatten()
    }

    /// Named files, and unnamed ones of its phases: `KEY.md` beside them.
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

#[derive(Clone, Debug)]
pub struct AsddFacts {
    pub state: State,
    pub files: SliceFacts,
    pub rules: Rules,
    pub silent: BTreeMap<String, Vec<String>>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thresholds(pub BTreeMap<String, f64>);

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

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    pub thresholds: Thresholds,
    pub ccs_floor: Option<f64>,
    pub steering: Vec<SteeringRule>,
}

impl Thresholds {
    /// From a Markdown table: an agent, and a number from 0 to 1 in another cell.
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
    /// The folder name, which is the slice.
    pub slice: String,
    /// In `phase_data`.
    pub key: String,
    pub path: String,
    pub hash: String,
}

/// Slices for `found` files that no slice of `state` names. A tech lead has to supply what files do not tell:
/// confidences, the kind, and the phase, for which files give only a minimum.
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

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChainEntry<'s> {
    pub agent: &'s str,
    /// From 0 to 1.
    pub score: f64,
    /// RFC 3339.
    pub timestamp: Option<&'s str>,
}

impl Record {
    pub fn status(&self) -> &str {
        self.text("status").unwrap_or_default()
    }

    /// The status before a lock, if it is locked.
    pub fn status_below_lock(&self) -> &str {
        match self.status() {
            "LOCK" => self.text("status_before").unwrap_or("LOCK"),
            status => status,
        }
    }

    pub fn chain(&self) -> Vec<ChainEntry<'_>> {
        let entries = self.values.get("confidence_chain").and_then(Json::as_array);
        entries.into_iter().flatten().filter_map(chain_entry).collect()
    }

    /// Rounded to three decimals; `None` for an empty chain.
    pub fn product_of_chain(&self) -> Option<f64> {
        let chain = self.chain();
        let product: f64 = chain.iter().map(|entry| entry.score).product();
        (!chain.is_empty()).then(|| (product * 1000.0).round() / 1000.0)
    }

    pub fn twice_in_chain(&self) -> Option<&str> {
        let chain = self.chain();
        let is_earlier = |place: usize, agent: &str| {
            chain[..place].iter().any(|entry| plain_name(entry.agent) == plain_name(agent))
        };
        chain.iter().enumerate().find(|(place, entry)| is_earlier(*place, entry.agent)).map(|(_, e)| e.agent)
    }

    pub fn phase_files(&self) -> Vec<(&str, &str)> {
        let files = self.values.get("phase_data").and_then(Json::as_object);
        files.into_iter().flatten().filter_map(|(key, path)| phase_file(key, path)).collect()
    }

    pub fn phase_file(&self, key: &str) -> Option<&str> {
        self.phase_files().into_iter().find(|(own, _)| *own == key).map(|(_, path)| path)
    }

    pub fn accepted(&self, path: &str) -> Option<&str> {
        self.values.get("accepted")?.get(path)?.as_str()
    }

    pub fn is_manual(&self) -> bool {
        self.text("governance_mode") != Some("AUTO")
    }

    pub fn approved(&self) -> Option<&str> {
        self.values.get("approval")?.get("to")?.as_str()
    }

    pub fn needs_review(&self) -> Vec<&str> {
        match self.status() {
            "NEEDS_HUMAN_REVIEW" => {
                std::iter::once("status").chain(self.texts("needs_human_review")).collect()
            }
            _ => self.texts("needs_human_review"),
        }
    }

    pub fn blocker_count(&self) -> usize {
        self.values.get("blockers").and_then(Json::as_array).map_or(0, Vec::len)
    }

    /// Of the slice as in the manifest, without locks; proposals rest on it.
    pub fn base(&self) -> FileHash {
        let mut shown = self.shown();
        if shown.status() == "LOCK" {
            let before = self.status_below_lock().to_owned();
            shown.set("status", before);
        }
        for key in ["lock", "status_before"] {
            shown.values.shift_remove(key);
        }
        values_digest(&shown)
    }

    pub(super) fn shown(&self) -> Self {
        let mut shown = self.clone();
        for key in HIDDEN {
            shown.values.shift_remove(key);
        }
        shown
    }

    pub(super) fn push(&mut self, key: &str, item: Json) {
        let mut items = self.values.get(key).and_then(Json::as_array).cloned().unwrap_or_default();
        items.push(item);
        self.set(key, items);
    }

    pub(super) fn set_in(&mut self, outer: &str, key: &str, value: Json) {
        let mut entries = self.values.get(outer).and_then(Json::as_object).cloned().unwrap_or_default();
        entries.insert(key.to_owned(), value);
        self.set(outer, entries);
    }

    pub(super) fn follow_chain(&mut self) {
        match self.product_of_chain() {
            Some(product) => self.set("ccs", number(product)),
            None => drop(self.values.shift_remove("ccs")),
        }
    }
}

fn chain_entry(entry: &Json) -> Option<ChainEntry<'_>> {
    let agent = entry.get("agent")?.as_str()?;
    let score = entry.get("score")?.as_f64()?;
    Some(ChainEntry { agent, score, timestamp: entry.get("timestamp").and_then(Json::as_str) })
}

fn phase_file<'s>(key: &'s str, path: &'s Json) -> Option<(&'s str, &'s str)> {
    Some((key, path.as_str().filter(|path| !path.is_empty())?))
}

pub(super) fn number(value: f64) -> Json {
    Number::from_f64(value).map_or(Json::Null, Json::Number)
}

/// Stored under `stepmark_kind`.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
pub enum SliceKind {
    /// Sprint, goals, and other singletons.
    #[serde(rename = "asdd-project")]
    Project,
    #[serde(rename = "asdd-slice")]
    Slice,
}

/// Keeps unknown keys of the manifest.
pub(super) const EXTRA: &str = "extra";

/// Not in the manifest.
pub(super) const HIDDEN: [&str; 2] = ["accepted", "approval"];

const SLICE_KEYS: [&str; 24] = [
    "name",
    "type",
    "status",
    "governance_mode",
    "phase_data",
    "confidence_chain",
    "ccs",
    "blockers",
    "dissent_notices",
    "reasoning_traces",
    "blocked_at_phase",
    "lkg_phase",
    "block_reason",
    "uncertainty_factors",
    "rollback_timestamp",
    "validation_status",
    "requirements_validated",
    "requirements_corrected",
    "requirements_missing",
    "lock",
    "status_before",
    "needs_human_review",
    "accepted",
    "approval",
];

impl RecordKinds for SliceKind {
    const ALL: &'static [Self] = &[Self::Project, Self::Slice];

    fn name(self) -> &'static str {
        match self {
            Self::Project => "asdd-project",
            Self::Slice => "asdd-slice",
        }
    }

    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Project => &["current_sprint", "product_goals", "global_confidence_score"],
            Self::Slice => &SLICE_KEYS,
        }
    }

    fn inner_keys(self, key: &str) -> Option<&'static [&'static str]> {
        let is_phases = self == Self::Slice && key == "phase_data";
        is_phases.then_some(&["intent", "requirements", "domain_model", "design", "tasks"])
    }
}

impl fmt::Display for SliceKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}
