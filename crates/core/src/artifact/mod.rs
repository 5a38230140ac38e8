//! The typed view of a document: steps, status, scope, ids, times, and a diagnosis of every oddity.

mod path;

pub use path::{ProjectPath, ProjectPathError};
