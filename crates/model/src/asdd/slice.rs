//! Typed reads and changes of slices.

use serde_json::{Number, Value as Json};

use super::{Record, kind::HIDDEN, plain_name};
use crate::{artifact::FileHash, records::values_digest};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChainEntry<'s> {
    pub agent: &'s str,
    /// Its confidence, from 0 to 1.
    pub score: f64,
    /// The time (RFC 3339).
    pub timestamp: Option<&'s str>,
}

impl Record {
    pub fn status(&self) -> &str {
        self.text("status").unwrap_or_default()
    }

    /// The status that it has when nothing holds it up: where a lock was put on it, the one before.
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

    /// The product of the chain with three decimals; `None` for an empty chain.
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

    /// Returns whether a phase needs the word of a tech lead.
    pub fn is_manual(&self) -> bool {
        self.text("governance_mode") != Some("AUTO")
    }

    pub fn approved(&self) -> Option<&str> {
        self.values.get("approval")?.get("to")?.as_str()
    }

    /// The keys that wait for the word of a tech lead.
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

    /// The digest on which a proposal rests: what the manifest says of the slice, a lock aside.
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
