//! Changes that other programs made in their files, by record.

use std::borrow::Cow;

use super::{Format, Record, RecordKind, State, read, render};
use crate::records::{self, Signals};

/// A record that somebody else has changed in a file that is written from artifacts.
pub type Drift = records::Drift<RecordKind>;

/// The records as they are to be written, and those that stay as somebody else has them.
pub type Merged = records::Merged<State>;

/// The state as a reader of `format` sees it: what the format does not hold is missing.
pub fn seen(format: Format, state: &State) -> State {
    // What was just written is read.
    read(format, &render(format, state, &Signals::new(), "")).unwrap_or_else(|_| state.clone())
}

/// Merges what stands in the files of `format` with what is to stand there ([`records::merge`]).
pub fn merge(
    format: Format,
    (base, theirs, ours): (Option<&State>, &State, &State),
    is_overwritten: &dyn Fn(&str) -> bool,
) -> Merged {
    let shown = seen(format, ours);
    records::merge((base, &without_filled_in(format, theirs, &shown)), (ours, &shown), is_overwritten)
}

/// `theirs` without the language model that an orchestrator fills in for each agent whose record names none.
fn without_filled_in<'s>(format: Format, theirs: &'s State, shown: &State) -> Cow<'s, State> {
    const MODEL: &str = "model";
    let mut theirs = Cow::Borrowed(theirs);
    if format == Format::OrchestratorState {
        for agent in shown.agents.iter().filter(|agent| !agent.values.contains_key(MODEL)) {
            let is_filled_in = |their: &Record| their.id == agent.id && their.values.contains_key(MODEL);
            if let Some(place) = theirs.agents.iter().position(is_filled_in) {
                theirs.to_mut().agents[place].values.shift_remove(MODEL);
            }
        }
    }
    theirs
}
