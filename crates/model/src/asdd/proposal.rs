//! Proposals of agents, and the manifest.

use std::{collections::BTreeMap, fmt};

use super::{Record, SliceKind, State, plain_name, state::EXTRA};
use crate::{
    artifact::FileHash,
    records::{
        JsonError, RecordKinds as _, RecordSet as _, Signal, Signals, in_order, ordered, read_json, read_time,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

/// Takes effect when the custodian commits it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Proposal {
    pub proposal_id: String,
    pub slice_id: String,
    pub agent: String,
    /// Digest of the slice that the agent read ([`Record::base`](super::Record::base)).
    pub base: FileHash,
    /// RFC 3339.
    pub created_at: String,
    /// `status` is the next phase.
    #[serde(default)]
    pub set: Map<String, Json>,
    #[serde(default)]
    pub artifacts: Vec<ProposedFile>,
    #[serde(default)]
    pub confidence: Option<Confidence>,
    #[serde(default)]
    pub trace: Option<String>,
    #[serde(default)]
    pub verdict: Verdict,
    #[serde(default)]
    pub reason: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ProposedFile {
    pub phase: String,
    pub path: String,
    pub file_hash: FileHash,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Confidence {
    pub score: f64,
    #[serde(default)]
    pub uncertainty_factors: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    #[default]
    Pending,
    Committed,
    Rejected,
    Outdated,
    /// The confidence is too low; the slice is blocked.
    Failed,
}

impl Verdict {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Committed => "committed",
            Self::Rejected => "rejected",
            Self::Outdated => "outdated",
            Self::Failed => "failed",
        }
    }
}

impl Proposal {
    pub fn to(&self) -> Option<&str> {
        self.set.get("status").and_then(Json::as_str)
    }

    pub(super) fn touched(&self) -> Vec<(String, Json)> {
        let files = self.artifacts.iter().map(|file| {
            (format!("phase_data.{}", file.phase), format!("{} {}", file.path, file.file_hash).into())
        });
        let set = self.set.iter().map(|(key, value)| (key.clone(), value.clone()));
        set.chain(files).collect()
    }

    pub(super) fn give_up(&mut self, key: &str) {
        match key.strip_prefix("phase_data.") {
            Some(phase) => self.artifacts.retain(|file| file.phase != phase),
            None => drop(self.set.shift_remove(key)),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SteeringRule {
    /// Empty: all keys.
    pub keys: Vec<String>,
    pub prefer: Prefer,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prefer {
    HigherConfidence,
    First,
    Agent(String),
}

/// Proposals differ, and no rule decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// `phase_data.KEY` for a file.
    pub key: String,
    pub sides: Vec<(String, Json)>,
}

impl fmt::Display for Conflict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sides: Vec<String> = self.sides.iter().map(|(agent, said)| format!("{agent}: {said}")).collect();
        write!(out, "`{}` ({})", self.key, sides.join(", "))
    }
}

/// Removes overruled values: afterwards no two proposals differ on a key.
pub fn reconcile(proposals: &[Proposal], rules: &[SteeringRule]) -> Result<Vec<Proposal>, Vec<Conflict>> {
    let mut said: BTreeMap<String, Vec<(usize, Json)>> = BTreeMap::new();
    for (place, proposal) in proposals.iter().enumerate() {
        for (key, value) in proposal.touched() {
            said.entry(key).or_default().push((place, value));
        }
    }
    let (mut united, mut conflicts) = (proposals.to_vec(), Vec::new());
    for (key, sides) in said {
        if sides.iter().all(|(_, value)| *value == sides[0].1) {
            continue;
        }
        let places: Vec<usize> = sides.iter().map(|(place, _)| *place).collect();
        match preferred(&key, &places, proposals, rules) {
            Some(winner) => {
                for place in places.into_iter().filter(|place| *place != winner) {
                    united[place].give_up(&key);
                }
            }
            None => {
                let side = |(place, value): (usize, Json)| (proposals[place].agent.clone(), value);
                conflicts.push(Conflict { key, sides: sides.into_iter().map(side).collect() });
            }
        }
    }
    if conflicts.is_empty() { Ok(united) } else { Err(conflicts) }
}

fn preferred(key: &str, places: &[usize], proposals: &[Proposal], rules: &[SteeringRule]) -> Option<usize> {
    let holds = |rule: &&SteeringRule| {
        rule.keys.is_empty()
            || rule.keys.iter().any(|own| own == key || Some(own.as_str()) == key.strip_prefix("phase_data."))
    };
    let score = |place: usize| proposals[place].confidence.as_ref().map_or(0.0, |own| own.score);
    rules.iter().filter(holds).find_map(|rule| match &rule.prefer {
        Prefer::First => places.iter().copied().min_by_key(|place| read_time(&proposals[*place].created_at)),
        Prefer::Agent(agent) => {
            let is_own = |place: &usize| plain_name(&proposals[*place].agent) == plain_name(agent);
            places.iter().copied().find(is_own)
        }
        Prefer::HigherConfidence => {
            let best = places.iter().copied().max_by(|one, other| score(*one).total_cmp(&score(*other)))?;
            // Equal confidence decides nothing.
            let equals = places.iter().filter(|place| score(**place).total_cmp(&score(best)).is_eq()).count();
            (equals == 1).then_some(best)
        }
    })
}

pub const MANIFEST: &str = "state/manifest.json";

const CONTEXT: &str = "project_context";
const SLICES: &str = "slices";
const HEARTBEATS: &str = "agent_heartbeats";

const ID: &str = "slice_id";

/// Numeric keys of a signal in the manifest.
const NUMBERS: [&str; 3] = ["current_wave", "tasks_completed", "tasks_remaining"];

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    #[error("the manifest is no JSON: {0}")]
    Json(#[from] JsonError),
    #[error("`{path}` of the manifest should be {wanted}")]
    Kind {
        path: String,
        /// The expected type.
        wanted: &'static str,
    },
    #[error("the manifest has the slice `{id}` twice")]
    Twice { id: String },
}

/// Deterministic.
pub fn render(state: &State, signals: &Signals) -> Vec<u8> {
    let mut context: Map<String, Json> = ordered(SliceKind::Project, &state.project.values);
    let extra = context.shift_remove(EXTRA);
    let slice = |slice: &Record| {
        let mut shown = Map::new();
        shown.insert(ID.to_owned(), slice.id.as_str().into());
        shown.extend(ordered(SliceKind::Slice, &slice.shown().values));
        Json::Object(shown)
    };
    let mut manifest = Map::new();
    manifest.insert(CONTEXT.to_owned(), context.into());
    manifest.insert(SLICES.to_owned(), state.slices.iter().map(slice).collect());
    let heartbeats: Map<_, _> =
        signals.iter().map(|(agent, signal)| (agent.clone(), heartbeat(signal))).collect();
    manifest.insert(HEARTBEATS.to_owned(), heartbeats.into());
    if let Some(Json::Object(extra)) = extra {
        for (key, value) in extra {
            manifest.entry(key).or_insert(value);
        }
    }
    // Cannot fail: all keys are texts.
    let mut bytes = serde_json::to_vec_pretty(&manifest).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

pub fn read(bytes: &[u8]) -> Result<(State, Signals), ManifestError> {
    let wrong = |path: &str, wanted| ManifestError::Kind { path: path.to_owned(), wanted };
    let Json::Object(mut manifest) = read_json(bytes)? else { return Err(wrong(".", "a mapping")) };
    let mut context = match manifest.shift_remove(CONTEXT) {
        None => Map::new(),
        Some(Json::Object(context)) => context,
        Some(_) => return Err(wrong(CONTEXT, "a mapping")),
    };
    let slices = match manifest.shift_remove(SLICES) {
        Some(Json::Array(slices)) => slices,
        _ => return Err(wrong(SLICES, "a list")),
    };
    let signals = match manifest.shift_remove(HEARTBEATS) {
        None => Signals::new(),
        Some(Json::Object(heartbeats)) => heartbeats.iter().map(signal).collect(),
        Some(_) => return Err(wrong(HEARTBEATS, "a mapping")),
    };
    let mut records = Vec::new();
    for (place, slice) in slices.into_iter().enumerate() {
        let path = format!("{SLICES}[{place}]");
        let Json::Object(mut values) = slice else { return Err(wrong(&path, "a mapping")) };
        let Some(Json::String(id)) = values.shift_remove(ID).filter(|id| id != "") else {
            return Err(wrong(&format!("{path}.{ID}"), "a text"));
        };
        if records.iter().any(|record: &Record| record.id == id) {
            return Err(ManifestError::Twice { id });
        }
        let order = i64::try_from(place).ok();
        records.push(Record { order, ..Record::new(SliceKind::Slice, id, values) });
    }
    if !manifest.is_empty() {
        context.insert(EXTRA.to_owned(), manifest.into());
    }
    records.push(Record::new(SliceKind::Project, "asdd", context));
    let state = State::from_records(records).ok_or_else(|| wrong(CONTEXT, "there"))?;
    Ok((state, signals))
}

pub fn seen(state: &State) -> State {
    read(&render(state, &Signals::new())).map_or_else(|_| state.clone(), |(seen, _)| seen)
}

fn heartbeat(signal: &Signal) -> Json {
    let mut said = Map::new();
    said.insert("last_execution".to_owned(), signal.at.as_str().into());
    said.insert("status".to_owned(), signal.status.as_deref().unwrap_or("ACTIVE").into());
    if let Some(current) = &signal.current {
        said.insert("current_slice".to_owned(), current.as_str().into());
    }
    for key in NUMBERS {
        said.extend(signal.numbers.get(key).map(|number| (key.to_owned(), Json::from(*number))));
    }
    said.extend(signal.more.iter().map(|(key, value)| (key.clone(), value.clone())));
    said.into()
}

fn signal((agent, said): (&String, &Json)) -> (String, Signal) {
    let text = |key: &str| said.get(key).and_then(Json::as_str).map(str::to_owned);
    let number = |key: &&str| Some(((*key).to_owned(), said.get(*key)?.as_i64()?));
    // Values of a wrong type are written back unchanged.
    let is_other = |(key, value): &(&String, &Json)| match key.as_str() {
        "last_execution" | "status" | "current_slice" => !value.is_string(),
        key if NUMBERS.contains(&key) => value.as_i64().is_none(),
        _ => true,
    };
    let signal = Signal {
        agent: agent.clone(),
        at: text("last_execution").unwrap_or_default(),
        status: text("status"),
        current: text("current_slice"),
        numbers: NUMBERS.iter().filter_map(number).collect(),
        more: said
            .as_object()
            .into_iter()
            .flatten()
            .filter(is_other)
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect(),
    };
    (agent.clone(), signal)
}

impl SliceKind {
    pub fn new_slice(id: &str, (name, kind): (&str, &str), status: &str, order: i64) -> Record {
        let values = serde_json::json!({
            "name": name, "type": kind, "status": status, "governance_mode": "MANUAL", "phase_data": {},
            "confidence_chain": [], "blockers": [], "dissent_notices": [], "reasoning_traces": [],
        });
        let Json::Object(values) = values else { return Record::new(Self::Slice, id, Map::new()) };
        let values = in_order(Self::Slice.keys(), &values);
        Record { order: Some(order), ..Record::new(Self::Slice, id, values) }
    }
}
