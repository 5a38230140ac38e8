//! Artifacts → the bytes of every local copy. Pure and rebuildable.

pub mod files_manifest;
pub mod instructions;
pub mod checkpoint;
pub mod gates;
pub mod git_hook;

use std::cmp::Ordering;

use crate::artifact::{FileHash, ProjectPath, natural_order};
use serde_json::{Map, Value as Json};
use stepmark_packs::{FileDeclaration, Kind};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProjectionFacts {
    /// Its name in answers, and in the memory of what was written.
    pub name: &'static str,
    pub made_of: Source,
    /// The time by which it has to say what its source says.
    pub freshness: Freshness,
    /// The files that it owns, as a pattern seen from the project root.
    pub files: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Artifacts, each by itself: where one changes, the part of that one is made anew.
    EachArtifact,
    /// All artifacts, and what else is kept of a project.
    Project,
    /// The definitions that agents work by: workflows, agents, skills, tasks, components.
    Definitions,
}

/// The time by which a projection has to say what its source says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// In the commit that changes its source: both or neither.
    InTheCommit,
    /// The return of the command that changed its source.
    AfterTheCommit,
    /// The moment at which it is asked: whoever reads it brings it up to date.
    WhenAsked,
    /// The moment at which a person or an agent calls for it.
    WhenCalledFor,
}

impl ProjectionFacts {
    /// `sprint-status.yaml` and the line `Status:` of stories.
    pub const LEDGERS: Self =
        Self::of("ledgers", Source::EachArtifact, Freshness::InTheCommit, "**/sprint-status.yaml");
    pub const GATES: Self =
        Self::of("gates", Source::EachArtifact, Freshness::AfterTheCommit, ".stepmark/gates/**/*.gate");
    pub const FILES_MANIFEST: Self = Self::of(
        "files-manifest",
        Source::EachArtifact,
        Freshness::WhenCalledFor,
        ".stepmark/manifests/files-manifest.csv",
    );
    pub const CATALOGUES: Self = Self::of(
        "catalogues",
        Source::Definitions,
        Freshness::WhenCalledFor,
        ".stepmark/manifests/*-manifest.csv",
    );
    pub const INDEX: Self =
        Self::of("index", Source::Project, Freshness::WhenAsked, ".stepmark/local/cache/*.db");
    pub const AUTODEV_SUMMARY: Self =
        Self::of("autodev-summary", Source::EachArtifact, Freshness::WhenCalledFor, "*");
    pub const PACK_FILES: Self = Self::of("pack-files", Source::EachArtifact, Freshness::AfterTheCommit, "*");
    pub const INSTRUCTIONS: Self =
        Self::of("instructions", Source::Definitions, Freshness::WhenCalledFor, "*");

    const fn of(name: &'static str, made_of: Source, freshness: Freshness, files: &'static str) -> Self {
        Self { name, made_of, freshness, files }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileState {
    /// It has these bytes.
    Current,
    Missing,
    /// It is as it was written, and what it is made of has changed since.
    Stale,
    /// It is not as it was written: somebody changed it.
    Edited,
    Unknown,
}

impl FileState {
    /// Judges a file by hashes: `found` is that of the file, `wanted` that of what belongs there, `written`
    /// that of what was written last. An empty file is as good as none: nothing would be lost with it.
    pub fn judge(found: Option<FileHash>, wanted: FileHash, written: Option<FileHash>) -> Self {
        match (found, written) {
            (None, _) => Self::Missing,
            (Some(found), _) if found == wanted => Self::Current,
            (Some(found), _) if found == FileHash::of(b"") => Self::Missing,
            (Some(found), Some(written)) if found == written => Self::Stale,
            (Some(_), Some(_)) => Self::Edited,
            (Some(_), None) => Self::Unknown,
        }
    }

    /// Returns whether the file may hold what somebody wrote by hand.
    pub const fn may_be_edited(self) -> bool {
        matches!(self, Self::Edited | Self::Unknown)
    }
}

const MADE_BY: &str = "stepmark";

/// The order of two artifacts of `kind`, by its keys, then by their paths: numbers by their values, texts as
/// people sort them, and those without a value last.
pub fn order_of(kind: &Kind, one: (&ProjectPath, &Json), other: (&ProjectPath, &Json)) -> Ordering {
    let by_key = |key: &String| match [one.1, other.1].map(|state| state.get(key)) {
        [Some(one), Some(other)] => match (one.as_f64(), other.as_f64()) {
            (Some(one), Some(other)) => one.total_cmp(&other),
            _ => natural_order(&text(Some(one)), &text(Some(other))),
        },
        [one, other] => one.is_none().cmp(&other.is_none()),
    };
    let by_path = || natural_order(one.0.as_str(), other.0.as_str());
    kind.order.iter().map(by_key).find(|order| order.is_ne()).unwrap_or_else(by_path)
}

/// The bytes of `file` of the pack `pack`, with the frontmatter of each artifact.
pub fn render(pack: &str, file: &FileDeclaration, rows: &[(&ProjectPath, &Json)]) -> Vec<u8> {
    if file.is_csv() {
        let mut out = csv::Writer::from_writer(Vec::new());
        let keys = file.keys.iter().map(|key| &*key.0);
        let head = std::iter::once("path").chain(keys.clone()).map(str::to_owned).collect::<Vec<_>>();
        let row = |(path, state): &(&ProjectPath, &Json)| -> Vec<String> {
            std::iter::once(path.to_string()).chain(keys.clone().map(|key| text(state.get(key)))).collect()
        };
        // Writing into memory does not fail.
        let _written =
            std::iter::once(head).chain(rows.iter().map(row)).try_for_each(|row| out.write_record(row));
        return out.into_inner().unwrap_or_default();
    }
    let row = |(path, state): &(&ProjectPath, &Json)| {
        let value = |key: &str| (key.to_owned(), state.get(key).cloned().unwrap_or_default());
        let own = file.keys.iter().map(|key| value(&key.0));
        let path = ("path".to_owned(), Json::from(path.as_str()));
        format!("    {}", Json::Object(std::iter::once(path).chain(own).collect::<Map<_, _>>()))
    };
    let rows = rows.iter().map(row).collect::<Vec<_>>().join(",\n");
    let head = format!("{{\n  \"made_by\": \"{MADE_BY}\",\n  \"pack\": {},\n  \"rows\": [", Json::from(pack));
    let close = if rows.is_empty() { "]\n}\n" } else { "\n  ]\n}\n" };
    format!("{head}{}{rows}{close}", if rows.is_empty() { "" } else { "\n" }).into_bytes()
}

/// The rows that a file holds, ours or another program's: those of CSV with a text a column, those of JSON
/// from the list that it is, or that stands under one of its keys.
pub fn rows(bytes: &[u8], is_csv: bool) -> Result<Vec<Map<String, Json>>, String> {
    if is_csv {
        let mut reader = csv::Reader::from_reader(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes));
        let head = reader.headers().map_err(|error| error.to_string())?.clone();
        let row = |row: csv::Result<csv::StringRecord>| {
            let row = row.map_err(|error| error.to_string())?;
            Ok(head.iter().zip(&row).map(|(column, cell)| (column.trim().to_owned(), cell.into())).collect())
        };
        return reader.records().map(row).collect();
    }
    let value: Json = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let lists = value
        .as_array()
        .into_iter()
        .chain(value.as_object().into_iter().flatten().filter_map(|(_, value)| value.as_array()));
    let objects =
        |list: &Vec<Json>| list.iter().map(|row| row.as_object().cloned()).collect::<Option<Vec<_>>>();
    lists.filter_map(objects).next().ok_or_else(|| "it holds no list of objects".to_owned())
}

/// Returns whether `bytes` look like what [`render`] makes for `file`.
pub fn is_pack_file(file: &FileDeclaration, bytes: &[u8]) -> bool {
    if file.is_csv() {
        return bytes.starts_with(b"path,");
    }
    let value: Option<Json> = serde_json::from_slice(bytes).ok();
    value.is_some_and(|value| value.get("made_by").and_then(Json::as_str) == Some(MADE_BY))
}

/// A value as a cell: entries of a list behind each other, what is more as JSON.
pub fn text(value: Option<&Json>) -> String {
    match value {
        None | Some(Json::Null) => String::new(),
        Some(Json::String(text)) => text.clone(),
        Some(Json::Array(items)) if items.iter().all(|item| !item.is_array() && !item.is_object()) => {
            items.iter().map(|item| text(Some(item))).collect::<Vec<_>>().join("; ")
        }
        Some(value) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_judged_by_what_was_written_last() {
        let hash = |text: &str| FileHash::of(text.as_bytes());
        for (found, written, expected) in [
            (Some("now"), Some("before"), FileState::Current),
            (Some("now"), None, FileState::Current),
            (None, Some("before"), FileState::Missing),
            (Some(""), Some("before"), FileState::Missing),
            (Some("before"), Some("before"), FileState::Stale),
            (Some("other"), Some("before"), FileState::Edited),
            (Some("other"), None, FileState::Unknown),
        ] {
            let state = FileState::judge(found.map(hash), hash("now"), written.map(hash));
            assert_eq!(state, expected, "{found:?} {written:?}");
        }
    }
}
