//! Files that an artifact names.

pub(crate) mod absolute_path;
pub mod input_document_missing;
pub mod successor_missing;
pub(crate) mod next_step_missing;
