//! Artifacts → bytes of local copies. Pure and rebuildable.

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
    /// In answers, and in the record of writes.
    pub name: &'static str,
    pub made_of: Source,
    /// Deadline for matching its source.
    pub freshness: Freshness,
    /// Its files, as a pattern relative to the project root.
    pub files: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Each part depends on one artifact.
    EachArtifact,
    Project,
    /// Workflows, agents, skills, tasks, components.
    Definitions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// Atomic with the source.
    InTheCommit,
    /// By the return of the command.
    AfterTheCommit,
    /// On read.
    WhenAsked,
    /// On an explicit command.
    WhenCalledFor,
}

impl ProjectionFacts {
    /// `sprint-status.yaml`, and `Status:` lines of stories.
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
    Current,
    Missing,
    /// Unedited, but its source has changed.
    Stale,
    /// Edited by somebody else.
    Edited,
    Unknown,
}

impl FileState {
    /// By hashes of the present file, the wanted one, and the last one written. An empty file counts as
    /// missing: nothing would be lost.
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

    pub const fn may_be_edited(self) -> bool {
        matches!(self, Self::Edited | Self::Unknown)
    }
}

const MADE_BY: &str = "stepmark";

/// By the keys of `kind`, then by path: numbers by value, texts in natural order, missing values last.
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

pub fn render(pack: &str, file: &FileDeclaration, rows: &[(&ProjectPath, &Json)]) -> Vec<u8> {
    if file.is_csv() {
        let mut out = csv::Writer::from_writer(Vec::new());
        let keys = file.keys.iter().map(|key| &*key.0);
        let head = std::iter::once("path").chain(keys.clone()).map(str::to_owned).collect::<Vec<_>>();
        let row = |(path, state): &(&ProjectPath, &Json)| -> Vec<String> {
            std::iter::once(path.to_string()).chain(keys.clone().map(|key| text(state.get(key)))).collect()
        };
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

/// Of our file or another program's: CSV as texts, JSON as a list at the top or under a key.
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

pub fn is_pack_file(file: &FileDeclaration, bytes: &[u8]) -> bool {
    if file.is_csv() {
        return bytes.starts_with(b"path,");
    }
    let value: Option<Json> = serde_json::from_slice(bytes).ok();
    value.is_some_and(|value| value.get("made_by").and_then(Json::as_str) == Some(MADE_BY))
}

/// Lists are joined; nested values become JSON.
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
