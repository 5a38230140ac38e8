//! `manifest.json`: what agents read before they work.

use serde_json::{Map, Value as Json};

use super::{Record, SliceKind, State, state::EXTRA};
use crate::records::{
    JsonError, RecordKinds as _, RecordSet as _, Signal, Signals, in_order, ordered, read_json,
};

pub const MANIFEST: &str = "state/manifest.json";

const CONTEXT: &str = "project_context";
const SLICES: &str = "slices";
const HEARTBEATS: &str = "agent_heartbeats";

const ID: &str = "slice_id";

/// The keys of heartbeats: those of the manifest, and the numbers of a signal.
const NUMBERS: [&str; 3] = ["current_wave", "tasks_completed", "tasks_remaining"];

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    #[error("the manifest is no JSON: {0}")]
    Json(#[from] JsonError),
    #[error("`{path}` of the manifest should be {wanted}")]
    Kind {
        path: String,
        /// The kind of value that belongs there.
        wanted: &'static str,
    },
    #[error("the manifest has the slice `{id}` twice")]
    Twice { id: String },
}

/// The manifest that says `state`. The same arguments give the same bytes.
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
    // Keys are texts, so all of it can be written.
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
    // What was just written is read.
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
    // What is of another kind than it should be comes out again as it is.
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
