//! Views of a project for people: done, next, wrong.
//!
//! `observation (what is read) → overview (what it means) → page (HTML), board (terminal)`, and `server`,
//! which serves pages and notifies browsers of changes. `markdown` renders the text of artifacts as inert
//! HTML. A module uses only modules to its left. Only `observation` and `server` do I/O: one reads through
//! `stepmark-store`, `stepmark-sync` and `stepmark-memory`, the other is given its sockets.
//!
//! This crate cannot change artifacts: it uses `stepmark-store` without its feature `write`.

pub mod wording;
pub mod observation;
pub mod overview;
pub mod markdown;
pub mod page;
pub mod server;
pub mod board;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make projects")]
mod sample_project;
