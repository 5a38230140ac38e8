//! One measurement a file.

pub(crate) mod check;
pub(crate) mod completion;
pub(crate) mod growth;
pub(crate) mod list;
pub(crate) mod manifest;
pub(crate) mod page;
pub(crate) mod projections;
pub(crate) mod query;
pub(crate) mod reader;
pub(crate) mod resume;
pub(crate) mod staged;
pub(crate) mod start;
pub(crate) mod sync;
pub(crate) mod typed_reading;
