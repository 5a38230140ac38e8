//! The rules, one a file, in a folder for each group. A rule's id, its words and its examples stand beside
//! what it looks for.

pub mod suppression;
pub(crate) mod document;
pub(crate) mod steps;
pub mod status;
pub mod references;
pub(crate) mod delegation;
pub(crate) mod gates;
pub(crate) mod scope;
pub(crate) mod manifest;
pub mod history;
#[cfg(test)]
pub(crate) mod sample;
