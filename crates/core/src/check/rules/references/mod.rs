//! Files that an artifact names.

pub(crate) mod absolute_path;
