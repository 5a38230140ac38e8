//! Stores beside the embedded one, which other programs read: what each is asked and given.

mod unit;
mod kuzu_memory;
mod ladybug;
#[cfg(test)]
mod conformance_cases;

use std::collections::BTreeMap;

use jiff::Timestamp;
use stepmark_sync::{
    Error, ErrorKind,
    breaker::{Failure, Reason},
};

pub use kuzu_memory::KuzuMemory;
pub use ladybug::Ladybug;
pub use unit::{Unit, UnitKey};

use crate::{Edge, Memory, Query};

pub type Held = BTreeMap<UnitKey, Vec<String>>;

/// A store of memories, as it is asked. Every implementation passes the suite in `target/conformance`.
pub trait MemoryStore {
    /// The ids of the memories that answer the words `text`, the best first, at most `limit`; what is
    /// superseded is left out where the store can tell.
    fn recall(&mut self, text: &str, limit: usize, now: Timestamp) -> Result<Vec<String>, Failure>;

    /// The edges that leave the memory `id`, in order; `None` where the store keeps no graph of ours.
    fn edges_of(&mut self, id: &str) -> Result<Option<Vec<Edge>>, Failure>;
}

/// A store that is given what the embedded one holds. It may be deleted or damaged at any time: what it says
/// that it holds decides what it is given.
pub trait Target: MemoryStore {
    /// The text that stands for a unit there; `None` where it is not for this store.
    fn form(&self, unit: &Unit) -> Option<String>;

    fn held(&mut self) -> Result<Held, Failure>;

    fn batch(&self) -> usize;

    /// Gives it units, in the place of what it holds for them. All of them, or nothing that
    /// [`Target::held`] names.
    fn put(&mut self, units: &[&Unit]) -> Result<(), Failure>;

    /// Takes units away; `false` where the store cannot.
    fn forget(&mut self, keys: &[&UnitKey]) -> Result<bool, Failure>;
}

impl MemoryStore for Memory {
    fn recall(&mut self, text: &str, limit: usize, now: Timestamp) -> Result<Vec<String>, Failure> {
        let query = Query { text: text.to_owned(), limit, ..Query::default() };
        let found = Self::recall(self, &query, now).map_err(|error| failed(&error))?;
        Ok(found.into_iter().map(|recalled| recalled.record.id).collect())
    }

    fn edges_of(&mut self, id: &str) -> Result<Option<Vec<Edge>>, Failure> {
        let units = self.units().map_err(|error| failed(&error))?;
        let own = units.into_iter().find(|unit| unit.record.as_ref().is_some_and(|record| record.id == id));
        Ok(Some(own.map(|unit| unit.edges().collect()).unwrap_or_default()))
    }
}

fn failed(error: &dyn std::error::Error) -> Failure {
    Failure::new(Reason::ServerError, &error.to_string())
}

/// The failure of a program that printed nothing that counts; `install` says how to get it.
fn not_run(error: &Error, name: &str, install: &str) -> Failure {
    match error.kind {
        ErrorKind::Missing => Failure::new(
            Reason::Unreachable,
            &format!("no program `{name}` is on the search path; {install}"),
        ),
        ErrorKind::Late => Failure::new(Reason::Timeout, &format!("`{name}`: {error}")),
        _ => Failure::new(Reason::Unreachable, &format!("`{name}` cannot be run: {error}")),
    }
}
