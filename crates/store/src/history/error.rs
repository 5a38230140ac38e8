//! Reasons why history cannot answer.

use std::io;

use crate::{Error, ErrorKind, disk::SqliteError};
use stepmark_model::journal::EventId;

/// A reason why a file or folder of the journal cannot be read; its path is seen from the project root.
pub(super) fn unreadable(path: &str, source: io::Error) -> Error {
    Error::io(format!("cannot read the journal: `{path}`"), source)
}

pub(super) fn no_index(source: rusqlite::Error) -> Error {
    let message = "cannot build the index of the journal; deleting `.stepmark/local/cache/` does no harm";
    Error::io(message, SqliteError(source))
}

pub(super) fn restless() -> Error {
    Error::new(ErrorKind::Io, "cannot read the journal: its files change while they are read; try again")
}

pub(super) fn unknown_event(prefix: &str) -> Error {
    Error::unknown(format!(
        "no event of the journal has an id that starts with `{prefix}`; `stepmark log` shows the ids"
    ))
}

pub(super) fn unknown_session(session: &str) -> Error {
    Error::unknown(format!(
        "no event of the journal names the session `{session}`; `stepmark log` shows the sessions"
    ))
}

pub(super) fn ambiguous_event(prefix: &str, candidates: &[EventId]) -> Error {
    let ids: Vec<String> = candidates.iter().map(|id| format!("`{id}`")).collect();
    Error::usage(format!(
        "`{prefix}` is the beginning of several event ids, as of {}: write more digits",
        ids.join(", ")
    ))
}

pub(super) fn no_event_id(prefix: &str) -> Error {
    Error::unknown(format!(
        "`{prefix}` is no event id: 4 to 32 hexadecimal digits are wanted; `stepmark log` shows the ids"
    ))
}
