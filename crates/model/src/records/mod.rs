//! Records: artifacts whose frontmatter other systems keep as entries of their own files. A system says which
//! kinds it has ([`RecordKinds`]); reading, writing, comparing and merging are the same for all.

mod kinds;
mod shared_values;
mod record;
mod values;
mod record_set;
mod drift;
mod file_stem;
mod signal;
mod strict_json;

pub use drift::{Drift, DriftChange, Merged, merge};
pub use file_stem::file_stem;
pub use kinds::RecordKinds;
pub(crate) use kinds::{entries_in_order, in_order, ordered};
pub use record::{Record, RecordError};
pub use record_set::RecordSet;
pub(crate) use record_set::by_kind;
pub use shared_values::SharedValues;
pub use signal::{Signal, Signals, take_newer};
pub use strict_json::{JsonError, read_json};
pub use values::read_time;
pub use values::values_digest;
pub(crate) use values::{VOLATILE, said};
