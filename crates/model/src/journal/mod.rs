//! History: events, segments, and states. Pure; `store` reads and indexes the files
//! (docs/adr/0006-journal.md).

mod event_builder;
mod actor;
mod event;
mod event_draft;
mod segment;
mod lineage;
mod loss_explanation;
#[cfg(test)]
mod loss_cases;
mod spelling;

pub use actor::{Actor, ActorError, ActorKind, ArtifactKey, Attribution, SessionId, SessionIdError};
pub use event::{ArtifactRef, Digests, Event, EventId, EventIdError, Kind};
pub use event_builder::{Ancestor, ArtifactState, EventBuilder, ExternalAuthor, PriorState};
pub use event_draft::{EventDraft, WorkContext, change_in_words, changes_in_words, value_in_words};
pub use lineage::{HistoryState, Lineage, ReplayError, undo};
pub use loss_explanation::{ChangeInHistory, Loss, LossExplanation, NewerState};
pub use segment::{
    HashChain, Header, Line, LineProblem, MOST_HEADS, SegmentHead, SegmentName, heads_in, seal,
};
pub use spelling::Spelling;
