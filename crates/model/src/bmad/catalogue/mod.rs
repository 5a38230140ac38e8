//! The catalogues beside `files-manifest.csv`: agents, workflows, skills, tasks and tools, read from the
//! frontmatter of their files (docs/formats.md). Pure.
//!
//! Rows and their order are those of the BMAD installers 6.0.4 and 6.12, except:
//! * The installer keeps rows of deleted agents, tasks and tools; this does not.
//! * Since 6.12 an agent is a skill, and its icon and title are in the installer's `config.toml`: those
//!   columns are filled only if the frontmatter has them.
//! * Columns of other releases, such as `install_to_bmad`, are kept empty.

mod reading;

pub use reading::{CatalogueFile, EntryProblem, SKILL_FILE, is_agent_skill};

use csv::{QuoteStyle, ReaderBuilder, StringRecord, Terminator, WriterBuilder};
use std::collections::{BTreeMap, HashMap, hash_map};

/// The installer's word for agents outside of modules.
pub const NO_MODULE: &str = "standalone";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CatalogueKind {
    Agent,
    Workflow,
    Skill,
    Task,
    Tool,
}

impl CatalogueKind {
    pub const ALL: [Self; 5] = [Self::Agent, Self::Workflow, Self::Skill, Self::Task, Self::Tool];

    pub const fn noun(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Workflow => "workflow",
            Self::Skill => "skill",
            Self::Task => "task",
            Self::Tool => "tool",
        }
    }

    pub fn file_name(self) -> String {
        format!("{}-manifest.csv", self.noun())
    }

    /// Of the newest release (docs/formats.md), for projects without catalogues.
    pub fn newest_columns(self) -> Vec<String> {
        let columns = match self {
            Self::Agent => {
                "name displayName title icon capabilities role identity communicationStyle principles module \
                 path canonicalId"
            }
            Self::Workflow => "name description module path canonicalId",
            Self::Skill => "canonicalId name description module path",
            Self::Task | Self::Tool => "name displayName description module path standalone",
        };
        columns.split(' ').map(str::to_owned).collect()
    }
}

/// By column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry(BTreeMap<&'static str, String>);

impl Entry {
    pub fn get(&self, column: &str) -> &str {
        self.0.get(column).map_or("", String::as_str)
    }

    #[must_use]
    pub fn with(mut self, column: &'static str, value: impl Into<String>) -> Self {
        self.0.insert(column, value.into());
        self
    }
}

#[derive(Clone, Debug)]
pub struct Table {
    pub columns: Vec<String>,
    rows: Vec<StringRecord>,
}

impl Table {
    /// Rows may be shorter or longer than the header; all releases have `name`, `module` and `path`.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let mut reader = ReaderBuilder::new().flexible(true).from_reader(bytes);
        let columns = reader.headers().map(|header| header.iter().map(str::to_owned).collect::<Vec<_>>());
        let columns = columns.map_err(|error| error.to_string())?;
        let rows = reader.records().collect::<Result<_, _>>().map_err(|error| error.to_string())?;
        let is_catalogue =
            ["name", "module", "path"].iter().all(|column| columns.iter().any(|name| name == column));
        is_catalogue
            .then_some(Self { columns, rows })
            .ok_or_else(|| "its header is none of a catalogue".to_owned())
    }

    pub fn fields<const N: usize>(&self, columns: [&str; N]) -> impl Iterator<Item = [&str; N]> {
        let places = columns.map(|column| self.columns.iter().position(|name| name == column));
        self.rows
            .iter()
            .map(move |row| places.map(|place| place.and_then(|place| row.get(place)).unwrap_or_default()))
    }
}

/// In the format of the installer: bare header, all fields quoted, quotes doubled, LF. Unknown columns are
/// empty.
pub fn write(columns: &[String], entries: &[Entry]) -> Vec<u8> {
    let writer = |quotes| {
        let mut builder = WriterBuilder::new();
        builder.quote_style(quotes).terminator(Terminator::Any(b'\n')).from_writer(Vec::new())
    };
    let (mut header, mut rows) = (writer(QuoteStyle::Necessary), writer(QuoteStyle::Always));
    let _written = header.write_record(columns);
    for entry in entries {
        let _written = rows.write_record(columns.iter().map(|column| entry.get(column)));
    }
    [header, rows].map(|writer| writer.into_inner().unwrap_or_default()).concat()
}

/// `core`, then as in the installer's manifest, then other folders by name. Only existing `folders` can have
/// entries; skills may be elsewhere.
pub fn module_order(named: &[String], folders: &[String]) -> Vec<String> {
    let mut folders = folders.to_vec();
    folders.sort_unstable();
    let mut modules = vec!["core".to_owned()];
    for module in named.iter().chain(&folders) {
        if !modules.contains(module) {
            modules.push(module.clone());
        }
    }
    modules
}

/// By module (unknown ones last), then by path, folder by folder in byte order, as Node lists them.
pub fn in_walk_order(mut entries: Vec<Entry>, modules: &[String]) -> Vec<Entry> {
    entries.sort_by_cached_key(|entry| {
        let module = entry.get("module").to_owned();
        let rank = modules.iter().position(|known| *known == module).unwrap_or(modules.len());
        // Compares whole folder names: `a/z` before `a-b/c`.
        (rank, module, entry.get("path").replace('/', "\0"))
    });
    entries
}

/// By module and name: the last value, at the first position.
pub fn distinct(entries: Vec<Entry>) -> Vec<Entry> {
    let (mut places, mut distinct) = (HashMap::new(), Vec::<Entry>::new());
    for entry in entries {
        match places.entry(["module", "name"].map(|column| entry.get(column).to_owned())) {
            hash_map::Entry::Occupied(place) => distinct[*place.get()] = entry,
            hash_map::Entry::Vacant(place) => {
                place.insert(distinct.len());
                distinct.push(entry);
            }
        }
    }
    distinct
}

#[cfg(test)]
mod table_cases;
