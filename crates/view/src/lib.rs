//! stepmark-view: what is done, what is next and what is wrong in a project, for people to look at.
//!
//! `observation (what is read) → overview (what it means) → page (HTML), board (terminal)`, and `server`,
//! which hands pages out and tells browsers when they change. `markdown` turns the text of artifacts into
//! HTML that cannot do anything. A room uses only rooms to its left; everything is pure but `observation`,
//! which reads through `stepmark-store`, `stepmark-sync` and `stepmark-memory`, and `server`, which is given
//! its sockets.
//!
//! Nothing here can change an artifact: this crate depends on `stepmark-store` without its feature `write`.

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
