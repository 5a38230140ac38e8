//! Conversion between JSON files and records.

use std::collections::HashSet;

use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::{Files, FormatError, read_json};
use crate::{
    coordination::{Record, RecordKind, State, kind::EXTRA},
    records::{RecordKinds as _, VOLATILE},
};

/// For missing times where a program requires one.
pub(super) const UNKNOWN_TIME: &str = "1970-01-01T00:00:00Z";

fn read_object(files: &Files, name: &'static str) -> Result<Map<String, Json>, FormatError> {
    let bytes = files.get(name).ok_or(FormatError::Missing { file: name })?;
    match read_json(bytes) {
        Ok(Json::Object(object)) => Ok(object),
        Ok(_) => Err(FormatError::Kind { file: name, path: "/".to_owned(), wanted: "an object" }),
        Err(source) => Err(FormatError::Json { file: name, source }),
    }
}

pub(super) struct Source {
    pub(super) file: &'static str,
    pub(super) values: Map<String, Json>,
}

impl Source {
    pub(super) fn read(files: &Files, file: &'static str) -> Result<Self, FormatError> {
        Ok(Self { file, values: read_object(files, file)? })
    }

    /// A list, or an object by id; empty if missing.
    pub(super) fn records(&mut self, key: &str, kind: RecordKind) -> Result<Vec<Record>, FormatError> {
        let items = match self.values.shift_remove(key) {
            None | Some(Json::Null) => Vec::new(),
            Some(Json::Array(items)) => {
                let path = |place: usize| format!("{key}[{place}]");
                items.into_iter().enumerate().map(|(place, item)| (path(place), None, item)).collect()
            }
            Some(Json::Object(items)) if kind == RecordKind::Agent => {
                items.into_iter().map(|(id, item)| (format!("{key}.{id}"), Some(id), item)).collect()
            }
            Some(_) => return Err(self.wrong(key, "a list")),
        };
        let mut records: Vec<Record> = Vec::with_capacity(items.len());
        let mut seen = HashSet::with_capacity(items.len());
        for (place, (path, id, item)) in items.into_iter().enumerate() {
            let Json::Object(mut values) = item else { return Err(self.wrong(&path, "an object")) };
            let own = values.shift_remove("id");
            let own = own.as_ref().map(|id| id.as_str().filter(|id| !id.is_empty()).map(str::to_owned));
            let id = match (own, id) {
                (Some(Some(own)), None) => own,
                (Some(Some(own)), Some(id)) if own == id => id,
                (None, Some(id)) if !id.is_empty() => id,
                _ => return Err(self.wrong(&format!("{path}.id"), "a text, the id")),
            };
            if !seen.insert(id.clone()) {
                return Err(FormatError::Twice { file: self.file, kind, id });
            }
            let body = match kind.body_key().map(|key| (key, values.shift_remove(key))) {
                None | Some((_, None)) => String::new(),
                Some((_, Some(Json::String(body)))) => body,
                Some((key, Some(_))) => return Err(self.wrong(&format!("{path}.{key}"), "a text")),
            };
            if kind == RecordKind::Agent {
                values.retain(|key, _| !VOLATILE.contains(&key.as_str()));
            }
            let order = i64::try_from(place).ok();
            records.push(Record { kind, id, order, values: values.into(), body });
        }
        Ok(records)
    }

    pub(super) fn text(&mut self, key: &str) -> Result<Option<String>, FormatError> {
        match self.values.shift_remove(key) {
            None | Some(Json::Null) => Ok(None),
            Some(Json::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.wrong(key, "a text")),
        }
    }

    pub(super) fn into_root(mut self, keys: &[&str], root: &mut Record) {
        for key in keys {
            if let Some(value) = self.values.shift_remove(*key).filter(|value| !value.is_null()) {
                root.values.insert((*key).to_owned(), value);
            }
        }
        self.values.retain(|key, _| !VOLATILE.contains(&key.as_str()));
        if !self.values.is_empty() {
            let extra = root.values.entry(EXTRA).or_insert_with(|| Json::Object(Map::new()));
            if let Json::Object(extra) = extra {
                extra.insert(self.file.to_owned(), self.values.into());
            }
        }
    }

    fn wrong(&self, path: &str, wanted: &'static str) -> FormatError {
        FormatError::Kind { file: self.file, path: path.to_owned(), wanted }
    }
}

pub(super) fn new_root(body: String) -> Record {
    Record { body, ..Record::new(RecordKind::Coordination, RecordKind::Coordination.name(), Map::new()) }
}

pub(super) fn add_extra(state: &State, name: &str, object: &mut Map<String, Json>) {
    let extra = state.root.values.get(EXTRA).and_then(|extra| extra.get(name)?.as_object());
    for (key, value) in extra.into_iter().flatten() {
        object.entry(key).or_insert_with(|| value.clone());
    }
}

/// Indented by two blanks, with a final line end.
pub(super) fn to_bytes(object: &impl Serialize) -> Vec<u8> {
    // Cannot fail: all keys are texts.
    let mut bytes = serde_json::to_vec_pretty(object).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}
