//! The questions that are asked of segments and index.

pub(super) mod event_reader;
mod event_segments;
pub(in crate::history) mod extent;
mod overviews;
mod questions;
mod reader;
mod selections;

pub(super) use event_reader::{EventPlace, EventReader};
pub use event_segments::{Point, Removal};
pub use overviews::{KnownArtifact, KnownSegment, Session};
pub use reader::History;
pub use selections::Selection;
