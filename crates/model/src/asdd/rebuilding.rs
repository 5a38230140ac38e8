//! Slices made again from the files of the project.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::{PHASES, Record, SliceKind, State, consistency::place_of_file};
use crate::records::RecordSet as _;

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
