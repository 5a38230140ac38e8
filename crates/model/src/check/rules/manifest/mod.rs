//! The manifest of the artifacts.

pub(crate) mod row_missing;
pub(crate) mod row_outdated;
