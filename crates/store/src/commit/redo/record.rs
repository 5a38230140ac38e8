//! The bytes of a redo record. It can change only files of the project that are as it expects, and none of
//! git's: whoever can write one can write those files.

use std::io;

use serde::{Deserialize, Serialize};

use crate::commit::Expected;
use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    journal::Event,
};

const FORMAT: &str = "stepmark-redo/3";

/// In bytes.
pub(in crate::commit) const LIMIT: u64 = 256 * 1024 * 1024;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::commit) struct RedoRecord {
    pub(in crate::commit) files: Vec<RedoFile>,
    pub(in crate::commit) events: Vec<Event>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::commit) struct RedoFile {
    pub(in crate::commit) path: ProjectPath,
    /// `None` if the file is created.
    pub(in crate::commit) before: Option<FileHash>,
    /// `None` if the file is removed.
    pub(in crate::commit) after: Option<FileHash>,
    /// The bytes of `after`, stored after the JSON in the slot.
    #[serde(skip)]
    pub(in crate::commit) bytes: Vec<u8>,
    length: usize,
}

#[derive(Debug, PartialEq)]
pub(in crate::commit) enum Found {
    Record(RedoRecord),
    /// Not written to its end: nothing of it was done.
    Torn,
    /// Whole, but of another version.
    Foreign,
}

impl RedoFile {
    pub(in crate::commit) fn new(path: ProjectPath, expected: Expected, new: Option<Vec<u8>>) -> Self {
        let before = match expected {
            Expected::Absent => None,
            Expected::Hash(hash) => Some(hash),
        };
        let after = new.as_deref().map(FileHash::of);
        let bytes = new.unwrap_or_default();
        Self { path, before, after, length: bytes.len(), bytes }
    }
}

impl RedoRecord {
    /// `FORMAT HASH\n`, the JSON, a line feed, all files' bytes. The hash covers all after the first line.
    pub(in crate::commit) fn to_bytes(&self) -> io::Result<Vec<u8>> {
        if !self.is_allowed() {
            return Err(io::Error::other("its events do not name all of its files"));
        }
        let mut content = serde_json::to_vec(self)?;
        content.push(b'\n');
        self.files.iter().for_each(|file| content.extend_from_slice(&file.bytes));
        let hash = FileHash::of(&content);
        let mut bytes = format!("{FORMAT} {hash}\n").into_bytes();
        bytes.append(&mut content);
        if bytes.len() as u64 > LIMIT {
            let reason = format!("its files have more than the {LIMIT} bytes that one commit may have");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, reason));
        }
        Ok(bytes)
    }

    pub(in crate::commit) fn parse(bytes: &[u8]) -> Found {
        let Some((first, content)) = split_line(bytes) else { return Found::Torn };
        let line = String::from_utf8_lossy(first);
        let words: Vec<&str> = line.trim_end().split(' ').collect();
        let hash = FileHash::of(content);
        match words[..] {
            [FORMAT, found] if found.parse() == Ok(hash) => {
                Self::of_content(content).filter(Self::is_allowed).map_or(Found::Foreign, Found::Record)
            }
            // Earlier versions signed records.
            ["stepmark-redo/2", found, _] if found.parse() == Ok(hash) => Found::Foreign,
            _ => Found::Torn,
        }
    }

    /// Refuses files of git, and, with events, a file that no event names.
    fn is_allowed(&self) -> bool {
        let is_told = |file: &RedoFile| {
            self.events.iter().any(|event| {
                event.artifact.as_ref().is_some_and(|artifact| artifact.path == file.path)
                    || event.data.values().any(|value| value.as_str() == Some(file.path.as_str()))
            })
        };
        let is_allowed =
            |file: &RedoFile| !file.path.is_in_git_folder() && (self.events.is_empty() || is_told(file));
        self.files.iter().all(is_allowed)
    }

    fn of_content(content: &[u8]) -> Option<Self> {
        let (json, mut rest) = split_line(content)?;
        let mut record: Self = serde_json::from_slice(json).ok()?;
        for file in &mut record.files {
            let (bytes, behind) = rest.split_at_checked(file.length)?;
            file.bytes = bytes.to_vec();
            rest = behind;
        }
        Some(record)
    }

    pub(in crate::commit) fn names(&self, path: &ProjectPath) -> bool {
        self.files.iter().any(|file| file.path == *path)
    }
}

fn split_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    Some(bytes.split_at(memchr::memchr(b'\n', bytes)? + 1))
}

#[cfg(test)]
pub(in crate::commit) mod tests {
    use super::*;
    use crate::commit::{scratch_project::OLD, scratch_project::PRD, scratch_project::named};
    use stepmark_model::journal::{Actor, EventDraft, Kind};

    pub(crate) fn record() -> RedoRecord {
        let at = "2026-11-22T10:00:00Z".parse().unwrap();
        let draft = EventDraft::new(Kind::CHANGE)
            .with("a", PRD)
            .with("b", "gone.md")
            .with("c", "empty.md")
            .with("d", ".git/config");
        let event = Event::new(draft, Actor::human("Ada"), at).sealed();
        let files = vec![
            RedoFile::new(named(PRD), Expected::of(Some(OLD)), Some(b"new\n\n".to_vec())),
            RedoFile::new(named("gone.md"), Expected::of(Some(OLD)), None),
            RedoFile::new(named("empty.md"), Expected::Absent, Some(Vec::new())),
        ];
        RedoRecord { files, events: vec![event] }
    }

    #[test]
    fn a_record_is_whole_or_none() {
        let bytes = record().to_bytes().unwrap();
        let parse = RedoRecord::parse;
        assert_eq!(parse(&bytes), Found::Record(record()));
        for length in 0..bytes.len() {
            assert_eq!(parse(&bytes[..length]), Found::Torn, "{length} bytes");
        }
        for place in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[place] ^= 1;
            assert!(!matches!(parse(&changed), Found::Record(_)), "byte {place}");
        }
    }

    #[test]
    fn a_record_changes_no_file_of_git_and_none_that_no_event_names() {
        for path in [".git/config", "a/.GIT/hooks/pre-commit", "git~1/config", "docs/of-no-event.md"] {
            let mut record = record();
            record.files[0].path = named(path);
            assert!(record.to_bytes().is_err(), "{path}");
            let content = [serde_json::to_vec(&record).unwrap(), vec![b'\n']].concat();
            let line = format!("{FORMAT} {}\n", FileHash::of(&content));
            assert_ne!(RedoRecord::parse(&[line.as_bytes(), &content].concat()), Found::Record(record));
        }
    }
}
