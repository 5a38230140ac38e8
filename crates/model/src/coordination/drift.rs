//! Changes that other programs made in their files, by record.

use super::{Format, RecordKind, State, read, render};
use crate::record::{self, Signals};

/// A record that somebody else has changed in a file that is written from artifacts.
pub type Drift = record::Drift<RecordKind>;

/// The records as they are to be written, and those that stay as somebody else has them.
pub type Merged = record::Merged<State>;

/// The state as a reader of `format` sees it: what the format does not hold is missing.
pub fn seen(format: Format, state: &State) -> State {
    // What was just written is read.
    read(format, &render(format, state, &Signals::new(), "")).unwrap_or_else(|_| state.clone())
}

/// Merges what stands in the files of `format` with what is to stand there ([`record::merge`]).
pub fn merge(
    format: Format,
    (base, theirs, ours): (Option<&State>, &State, &State),
    is_overwritten: &dyn Fn(&str) -> bool,
) -> Merged {
    record::merge((base, theirs), (ours, &seen(format, ours)), is_overwritten)
}
