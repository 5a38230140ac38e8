//! History: events, the segments they stand in, and the states they lead to. Pure; `store` is the edge that
//! reads and indexes the files (docs/adr/0006-journal.md).

mod event_builder;
mod actor;
mod artifact_key;
mod change_words;
mod event;
mod event_draft;
mod segment;
mod lineage;
mod loss_explanation;
#[cfg(test)]
mod loss_cases;
mod spelling;
mod undo;
mod work_context;

pub use actor::{Actor, ActorError, ActorKind, Attribution, SessionId, SessionIdError};
pub use artifact_key::ArtifactKey;
pub use change_words::{change_in_words, changes_in_words, value_in_words};
pub use event::{ArtifactRef, Digests, Event, EventId, EventIdError, Kind};
pub use event_builder::{Ancestor, ArtifactState, EventBuilder, ExternalAuthor, PriorState};
pub use event_draft::EventDraft;
pub use lineage::{HistoryState, Lineage, ReplayError};
pub use loss_explanation::{ChangeInHistory, Loss, LossExplanation, NewerState};
pub use segment::{
    HashChain, Header, Line, LineProblem, MOST_HEADS, SegmentHead, SegmentName, heads_in, seal,
};
pub use spelling::Spelling;
pub use undo::undo;
pub use work_context::WorkContext;
