//! The formats in which other programs keep a coordination.

use std::{collections::BTreeMap, fmt, str::FromStr};

use serde_json::{Map, Value as Json};
use sha2::{Digest, Sha256};

use super::{
    JsonError, Record, RecordKind, Signals, State, orchestrator_state, read_json, server_state, tasks_file,
};

/// A format in which other programs keep a coordination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A: `tasks.json`, `agents.json`, `master-plan.md` and `results/ID.md`.
    TasksFile,
    /// B: `mcp-state.json` of a server.
    ServerState,
    /// C: the state file of an orchestrator.
    OrchestratorState,
}

/// Files by name, seen from their folder.
pub type Files = BTreeMap<String, Vec<u8>>;

/// A reason why files say no coordination.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// A file is missing.
    #[error("`{file}` is missing")]
    Missing {
        /// The file.
        file: &'static str,
    },
    /// A file is no JSON that can be kept.
    #[error("`{file}` cannot be read")]
    Json {
        /// The file.
        file: &'static str,
        /// The problem.
        source: JsonError,
    },
    /// A file is no text.
    #[error("`{file}` is not UTF-8")]
    NotText {
        /// The file.
        file: &'static str,
    },
    /// A value is of another kind.
    #[error("`{path}` of `{file}` should be {wanted}")]
    Kind {
        /// The file.
        file: &'static str,
        /// The path of the value.
        path: String,
        /// The kind of value that belongs there.
        wanted: &'static str,
    },
    /// An id stands twice.
    #[error("`{file}` has the {kind} `{id}` twice")]
    Twice {
        /// The file.
        file: &'static str,
        /// The kind of the record.
        kind: RecordKind,
        /// The id.
        id: String,
    },
}

impl Format {
    /// The files that it always has; `results/ID.md` come and go with tasks.
    pub const fn files(self) -> &'static [&'static str] {
        match self {
            Self::TasksFile => &[tasks_file::TASKS, tasks_file::AGENTS, tasks_file::PLAN],
            Self::ServerState => &[server_state::FILE],
            Self::OrchestratorState => &[orchestrator_state::FILE],
        }
    }
}

impl Format {
    /// The format of a state file, told by what it holds; `None` where it is no JSON object. What an
    /// orchestrator writes names its limits, a server's file has agents beside the tasks.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let Ok(Json::Object(file)) = read_json(bytes) else { return None };
        let has = |keys: &[&str]| keys.iter().any(|key| file.contains_key(*key));
        Some(match () {
            () if has(&["working_directory", "max_parallel_workers", "task_timeout_seconds"]) => {
                Self::OrchestratorState
            }
            () if has(&["agents", "discoveries", "master_plan"]) => Self::ServerState,
            () => Self::TasksFile,
        })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::TasksFile => "A",
            Self::ServerState => "B",
            Self::OrchestratorState => "C",
        })
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "A" => Ok(Self::TasksFile),
            "B" => Ok(Self::ServerState),
            "C" => Ok(Self::OrchestratorState),
            _ => Err(format!("`{text}` is no option: write `A`, `B` or `C`")),
        }
    }
}

crate::artifact::parsed_scalar::deserialize_as_scalar!(Format);
crate::artifact::parsed_scalar::schema_of_scalar!(Format, {
    "description": "The format in which other programs keep the coordination",
    "type": "string",
    "enum": ["A", "B", "C"],
});

/// The files of `format` that say `state`. The same arguments give the same bytes; `now` is the time of
/// writing.
pub fn render(format: Format, state: &State, signals: &Signals, now: &str) -> Files {
    match format {
        Format::TasksFile => tasks_file::render(state, signals, now),
        Format::ServerState => server_state::render(state, signals, now),
        Format::OrchestratorState => orchestrator_state::render(state, signals, now),
    }
}

/// The state that `files` of `format` say. Files that the format does not read may be among them.
///
/// # Errors
/// When a file is missing or damaged, or a record has no id, or that of another.
pub fn read(format: Format, files: &Files) -> Result<State, FormatError> {
    match format {
        Format::TasksFile => tasks_file::read(files),
        Format::ServerState => server_state::read(files),
        Format::OrchestratorState => orchestrator_state::read(files),
    }
}

/// The name of the file of `id`, without its extension: the id where that is a plain name, else one that is
/// like it.
pub fn file_stem(id: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
    if (1..=80).contains(&id.len()) && !id.starts_with('.') && id.chars().all(is_plain) {
        return id.to_owned();
    }
    let slug: String =
        id.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).take(60).collect();
    let digest = Sha256::digest(id.as_bytes());
    let digits: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{digits}", slug.trim_matches('-')).trim_start_matches('-').to_owned()
}

/// The object that the file `name` holds.
pub(super) fn read_object(files: &Files, name: &'static str) -> Result<Map<String, Json>, FormatError> {
    let bytes = files.get(name).ok_or(FormatError::Missing { file: name })?;
    match read_json(bytes) {
        Ok(Json::Object(object)) => Ok(object),
        Ok(_) => Err(FormatError::Kind { file: name, path: "/".to_owned(), wanted: "an object" }),
        Err(source) => Err(FormatError::Json { file: name, source }),
    }
}

/// The values of a file that is read into records.
pub(super) struct Source {
    pub(super) file: &'static str,
    pub(super) values: Map<String, Json>,
}

impl Source {
    pub(super) fn read(files: &Files, file: &'static str) -> Result<Self, FormatError> {
        Ok(Self { file, values: read_object(files, file)? })
    }

    /// Takes the records of `kind` under `key`: a list, or an object by id. Without any there are none.
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
        let mut seen = std::collections::HashSet::with_capacity(items.len());
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
                values.retain(|key, _| !super::values::VOLATILE.contains(&key.as_str()));
            }
            let order = i64::try_from(place).ok();
            records.push(Record { kind, id, order, values, body });
        }
        Ok(records)
    }

    /// Takes the text under `key`.
    pub(super) fn text(&mut self, key: &str) -> Result<Option<String>, FormatError> {
        match self.values.shift_remove(key) {
            None | Some(Json::Null) => Ok(None),
            Some(Json::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.wrong(key, "a text")),
        }
    }

    /// Moves the values under `keys` into `root`, and what is left but volatile ones under its `extra`.
    pub(super) fn into_root(mut self, keys: &[&str], root: &mut Record) {
        for key in keys {
            if let Some(value) = self.values.shift_remove(*key).filter(|value| !value.is_null()) {
                root.values.insert((*key).to_owned(), value);
            }
        }
        self.values.retain(|key, _| !super::values::VOLATILE.contains(&key.as_str()));
        if !self.values.is_empty() {
            let extra = root.values.entry(super::kind::EXTRA).or_insert_with(|| Json::Object(Map::new()));
            if let Json::Object(extra) = extra {
                extra.insert(self.file.to_owned(), self.values.into());
            }
        }
    }

    fn wrong(&self, path: &str, wanted: &'static str) -> FormatError {
        FormatError::Kind { file: self.file, path: path.to_owned(), wanted }
    }
}

/// The record of a coordination that is read.
pub(super) fn new_root(body: String) -> Record {
    Record { body, ..Record::new(RecordKind::Coordination, RecordKind::Coordination.name(), Map::new()) }
}

/// What the file `name` says besides, under the root's `extra`.
pub(super) fn add_extra(state: &State, name: &str, object: &mut Map<String, Json>) {
    let extra = state.root.values.get(super::kind::EXTRA).and_then(|extra| extra.get(name)?.as_object());
    for (key, value) in extra.into_iter().flatten() {
        object.entry(key).or_insert_with(|| value.clone());
    }
}

/// The bytes of a JSON file: two blanks a level, and a line end.
pub(super) fn to_bytes(object: Map<String, Json>) -> Vec<u8> {
    format!("{:#}\n", Json::Object(object)).into_bytes()
}
