//! Contradictions between a slice and the files of the project.

use std::fmt;

use super::{Record, SliceFacts, State, phase::place_of_file, phase_of};
use crate::lifecycle::built_in;

/// A contradiction between a slice and the files of the project.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Inconsistency {
    /// A file is listed and not there.
    Missing {
        /// The key of `phase_data`.
        key: String,
        /// The path.
        path: String,
    },
    /// The status is no word of the table.
    UnknownStatus {
        /// The status.
        status: String,
    },
    /// An agent stands twice in the confidence chain.
    Twice {
        /// The agent.
        agent: String,
    },
    /// The file of a phase that is still to come is there.
    LaterFile {
        /// The path.
        path: String,
        /// The status.
        status: String,
    },
}

impl fmt::Display for Inconsistency {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { key, path } => {
                write!(out, "`phase_data.{key}` names `{path}`, which is not there")
            }
            Self::UnknownStatus { status } => write!(out, "`{status}` is no status of a slice"),
            Self::Twice { agent } => write!(out, "`{agent}` stands twice in the confidence chain"),
            Self::LaterFile { path, status } => {
                write!(out, "`{path}` is there, and the slice is still in {status}")
            }
        }
    }
}

/// The contradictions between `slice` and the files of the project.
pub fn inconsistencies(slice: &Record, facts: &SliceFacts) -> Vec<Inconsistency> {
    let status = slice.status();
    let is_known = built_in("asdd-slice").is_some_and(|table| table.state_of(status).is_some());
    let unknown = (!is_known).then(|| Inconsistency::UnknownStatus { status: status.to_owned() });
    let is_gone = |path: &str| facts.files.get(path).is_some_and(Option::is_none);
    let missing = slice.phase_files().into_iter().filter(|(_, path)| is_gone(path));
    let missing =
        missing.map(|(key, path)| Inconsistency::Missing { key: key.to_owned(), path: path.to_owned() });
    let twice = slice.twice_in_chain().map(|agent| Inconsistency::Twice { agent: agent.to_owned() });
    unknown.into_iter().chain(missing).chain(twice).chain(later_files(slice, facts)).collect()
}

/// The files of phases that are still to come. Tasks are planned while the design is still open, and what a
/// failed attempt left is there until the next one.
fn later_files(slice: &Record, facts: &SliceFacts) -> Vec<Inconsistency> {
    let status = slice.status_below_lock();
    if slice.values.contains_key("rollback_timestamp") {
        return Vec::new();
    }
    let Some((place, _)) = phase_of(status) else { return Vec::new() };
    let is_later = |key: &str| {
        let early = usize::from(key == "tasks");
        place_of_file(key).is_some_and(|own| own > place + early)
    };
    let own = slice.phase_files();
    let beside = SliceFacts::paths_of(slice);
    let beside = beside.iter().filter_map(|path| {
        let (folder, name) = path.rsplit_once('/')?;
        folder.contains("/specs/").then_some((name.strip_suffix(".md")?, path.as_str()))
    });
    let mut found: Vec<Inconsistency> = Vec::new();
    for (key, path) in own.into_iter().filter(|(key, _)| *key != "domain_model").chain(beside) {
        let later = Inconsistency::LaterFile { path: path.to_owned(), status: status.to_owned() };
        if is_later(key) && facts.hash(path).is_some() && !found.contains(&later) {
            found.push(later);
        }
    }
    found
}

/// The files that `slice` names and somebody changed: no slice has accepted them as they are.
pub fn drifted<'s>(slice: &'s Record, state: &State, facts: &SliceFacts) -> Vec<&'s str> {
    let is_drifted = |path: &&str| {
        let Some(hash) = facts.hash(path) else { return false };
        state.accepted(path).next().is_some() && !state.accepts(path, &hash.to_string())
    };
    slice.phase_files().into_iter().map(|(_, path)| path).filter(is_drifted).collect()
}
