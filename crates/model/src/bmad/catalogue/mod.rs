//! The sister catalogues of `files-manifest.csv`: which agents, workflows, skills, tasks and tools a project
//! has, taken from the frontmatter of their files (docs/formats.md).
//!
//! The rows are those of the official BMAD installers 6.0.4 and 6.12, in their order. Everything here is
//! pure: `bmad::catalogues` of the store finds and reads the files and writes the catalogues.
//!
//! # Caveats
//! * A catalogue says what is there now. The installer keeps rows of agents, tasks and tools that are gone;
//!   this does not.
//! * Since 6.12 an agent is a skill: what its frontmatter says of it (`name`; `title`, `role` and the like
//!   where they stand there) is in the catalogue, and the rest stays empty. The installer keeps icons and
//!   titles of these in its own `config.toml`, which is no frontmatter.
//! * Columns of other releases, such as `install_to_bmad`, are kept and stay empty.

mod reading;

pub use reading::{CatalogueFile, EntryProblem, SKILL_FILE, is_agent_skill};

use csv::{QuoteStyle, ReaderBuilder, StringRecord, Terminator, WriterBuilder};
use std::collections::{BTreeMap, HashMap, hash_map};

/// The module of what belongs to none: the word of the official installer for agents outside of its modules.
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

    /// The columns of the newest release (docs/formats.md), for a project whose installer wrote none.
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

/// An agent, workflow, skill, task or tool: what is known of it, by column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry(BTreeMap<&'static str, String>);

impl Entry {
    /// The value of a column; empty where nothing is known.
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

    /// The fields of each row in these columns; empty where a row is too short or there is no such column.
    pub fn fields<const N: usize>(&self, columns: [&str; N]) -> impl Iterator<Item = [&str; N]> {
        let places = columns.map(|column| self.columns.iter().position(|name| name == column));
        self.rows
            .iter()
            .map(move |row| places.map(|place| place.and_then(|place| row.get(place)).unwrap_or_default()))
    }
}

/// The bytes of a catalogue with these columns, as the official installer writes them: the header bare, every
/// field quoted, quotes doubled, LF after each row. Of a column that is unknown, the fields are empty.
pub fn write(columns: &[String], entries: &[Entry]) -> Vec<u8> {
    let writer = |quotes| {
        let mut builder = WriterBuilder::new();
        builder.quote_style(quotes).terminator(Terminator::Any(b'\n')).from_writer(Vec::new())
    };
    let (mut header, mut rows) = (writer(QuoteStyle::Necessary), writer(QuoteStyle::Always));
    // Writing into memory does not fail.
    let _written = header.write_record(columns);
    for entry in entries {
        let _written = rows.write_record(columns.iter().map(|column| entry.get(column)));
    }
    [header, rows].map(|writer| writer.into_inner().unwrap_or_default()).concat()
}

/// The modules in the order of the catalogues: `core`, then as the installer's book names them, then folders
/// that it does not name, by name. Only `folders`, the folders that are there, can have entries, but skills
/// may have left theirs.
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

/// Sorts entries by module, what belongs to none of `modules` last, and within one by path: folder by folder,
/// names in the order of their bytes, as Node lists them.
pub fn in_walk_order(mut entries: Vec<Entry>, modules: &[String]) -> Vec<Entry> {
    entries.sort_by_cached_key(|entry| {
        let module = entry.get("module").to_owned();
        let rank = modules.iter().position(|known| *known == module).unwrap_or(modules.len());
        // `a/z` before `a-b/c`: a folder is compared as a whole, not by what follows its name.
        (rank, module, entry.get("path").replace('/', "\0"))
    });
    entries
}

/// The entries without those whose module and name came before: the later value stands at the earlier place.
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
