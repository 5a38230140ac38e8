//! Records: artifacts whose frontmatter other systems keep as entries of their own files. A system says which
//! kinds it has ([`RecordKinds`]); reading, writing, comparing and merging are the same for all.

mod kinds;
mod record;
mod values;
mod drift;
mod strict_json;

pub use drift::{Drift, DriftChange, Merged, merge};

#[derive(Debug, PartialEq, Eq)]
pub struct System {
    pub name: &'static str,
    pub begin: &'static str,
    /// The way in which a record that cannot be read is mended.
    pub mend: &'static str,
    /// The command that brings its state files in, and the one that writes them.
    pub import: &'static str,
    pub project: &'static str,
}

pub use kinds::{RecordKinds, Signal, Signals, take_newer};
pub(crate) use kinds::{entries_in_order, in_order, ordered};
pub use record::RecordSet;
pub(crate) use record::by_kind;
pub use record::{Record, RecordError};
pub use strict_json::{JsonError, read_json};
pub use values::{SharedValues, file_stem, read_time, values_digest};
pub(crate) use values::{VOLATILE, said};
