//! Sprints of BMAD: the keys and words of stories, and what of them stands in `sprint-status.yaml` and in the
//! line `Status:` of a story's body, brought to what frontmatter says.
//!
//! # Flow
//! [`Story::read`] (an artifact → what its frontmatter says) → [`project_line`], [`project_ledger`] (what the
//! file says else: [`LedgerEntry`]; the bytes with it: [`LedgerChange`]).
//!
//! # Guarantees
//! * Only the value of an entry changes, or a line comes in; every other byte stays. What was written is
//!   read again and compared.
//! * A ledger that says the same in other words is left as it is, so projecting twice writes nothing the
//!   second time.
//! * The frontmatter wins. A copy that says a word that no lifecycle has is left to a person.

mod sprint_status;
mod ledger_words;
mod story;
mod entries;
mod sides;
#[cfg(test)]
mod cases;

pub use entries::{EntryLocation, LedgerChange, LedgerEntry, LedgerLeft, differing_entries, project_ledger};
pub(crate) use ledger_words::is_story_spec;
pub use ledger_words::{LedgerKey, LedgerPart, LedgerWords, story_key};
pub use sides::{StorySide, StorySides};
pub use sprint_status::{SPRINT_STATUS_NAME, SprintStatus};
pub use story::{Story, StoryState, project_line, with_status};
