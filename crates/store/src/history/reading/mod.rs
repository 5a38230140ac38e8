//! Queries on segments and index.

pub(in crate::history) mod event_segments;
mod overviews;
mod questions;

pub(super) use event_segments::{EventPlace, EventReader};
pub use event_segments::{Point, Removal};
pub use overviews::{History, KnownArtifact, KnownSegment, Session};
pub use questions::Selection;
