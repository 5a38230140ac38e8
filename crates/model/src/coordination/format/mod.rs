//! Coordination files of other programs.

mod source;
mod tasks_file;
mod server_state;
mod orchestrator_task;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod round_trip_cases;

pub use crate::records::{JsonError, file_stem, read_json};
pub(crate) use orchestrator_task::unheld;
pub use tasks_file::result_file;

use std::{collections::BTreeMap, fmt, str::FromStr};

use serde_json::Value as Json;

use super::{RecordKind, State};
use crate::records::{Signal, Signals, read_time};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A: `tasks.json`, `agents.json`, `master-plan.md`, `results/ID.md`.
    TasksFile,
    /// B: `mcp-state.json` of a server.
    ServerState,
    OrchestratorState,
}

pub type Files = BTreeMap<String, Vec<u8>>;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    #[error("`{file}` is missing")]
    Missing { file: &'static str },
    #[error("`{file}` cannot be read")]
    Json { file: &'static str, source: JsonError },
    #[error("`{file}` is not UTF-8")]
    NotText { file: &'static str },
    #[error("`{path}` of `{file}` should be {wanted}")]
    Kind {
        file: &'static str,
        path: String,
        /// The expected type.
        wanted: &'static str,
    },
    #[error("`{file}` has the {kind} `{id}` twice")]
    Twice { file: &'static str, kind: RecordKind, id: String },
}

impl Format {
    /// Always present; `results/ID.md` depend on tasks.
    pub const fn files(self) -> &'static [&'static str] {
        match self {
            Self::TasksFile => &[tasks_file::TASKS, tasks_file::AGENTS, tasks_file::PLAN],
            Self::ServerState => &[server_state::FILE],
            Self::OrchestratorState => &[orchestrator_task::FILE],
        }
    }
}

impl Format {
    /// Detected by content: an orchestrator's file names its limits, a server's has agents beside the tasks.
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

impl Format {
    /// One of [`Self::files`], with the last sign of life per agent.
    pub const fn heartbeat_file(self) -> &'static str {
        match self {
            Self::TasksFile => tasks_file::AGENTS,
            Self::ServerState => server_state::FILE,
            Self::OrchestratorState => orchestrator_task::FILE,
        }
    }
}

pub fn heartbeats(bytes: &[u8]) -> Signals {
    let Ok(Json::Object(file)) = read_json(bytes) else { return Signals::new() };
    let signal = |id: Option<&str>, agent: &Json| {
        let id = agent.get("id").and_then(Json::as_str).or(id)?.to_owned();
        let at = ["last_seen", "last_heartbeat"].iter().find_map(|key| agent.get(key)?.as_str());
        let at = at.filter(|at| *at != source::UNKNOWN_TIME && read_time(at).is_some())?.to_owned();
        Some((id.clone(), Signal { agent: id, at, ..Signal::default() }))
    };
    match file.get("agents") {
        Some(Json::Array(agents)) => agents.iter().filter_map(|agent| signal(None, agent)).collect(),
        Some(Json::Object(agents)) => {
            agents.iter().filter_map(|(id, agent)| signal(Some(id), agent)).collect()
        }
        _ => Signals::new(),
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

stepmark_packs::deserialize_as_scalar!(Format);
stepmark_packs::schema_of_scalar!(Format, {
    "description": "The format in which other programs keep the coordination",
    "type": "string",
    "enum": ["A", "B", "C"],
});

/// Deterministic; `now` is the time of writing.
pub fn render(format: Format, state: &State, signals: &Signals, now: &str) -> Files {
    match format {
        Format::TasksFile => tasks_file::render(state, signals, now),
        Format::ServerState => server_state::render(state, signals, now),
        Format::OrchestratorState => orchestrator_task::render(state, signals, now),
    }
}

pub fn read(format: Format, files: &Files) -> Result<State, FormatError> {
    match format {
        Format::TasksFile => tasks_file::read(files),
        Format::ServerState => server_state::read(files),
        Format::OrchestratorState => orchestrator_task::read(files),
    }
}
