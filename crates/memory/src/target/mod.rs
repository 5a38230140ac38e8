//! Stores of other programs.

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

/// Every implementation passes the suite in `target/conformance`.
pub trait MemoryStore {
    /// The best first, at most `limit`; without superseded ones if the store can tell.
    fn recall(&mut self, text: &str, limit: usize, now: Timestamp) -> Result<Vec<String>, Failure>;

    /// In order; `None` if the store keeps no graph of ours.
    fn edges_of(&mut self, id: &str) -> Result<Option<Vec<Edge>>, Failure>;
}

/// Filled from the embedded store. It may be deleted or damaged at any time: it is given what it does not say
/// that it holds.
pub trait Target: MemoryStore {
    /// `None` if the unit is not for this store.
    fn form(&self, unit: &Unit) -> Option<String>;

    fn held(&mut self) -> Result<Held, Failure>;

    fn batch(&self) -> usize;

    /// Replaces older forms. All of the units, or nothing that [`Target::held`] names.
    fn put(&mut self, units: &[&Unit]) -> Result<(), Failure>;

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

/// The program printed nothing useful; `install` says how to get it.
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
