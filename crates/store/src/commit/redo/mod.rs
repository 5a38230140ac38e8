//! Records of what a commit is about to do, kept until it is done, and finished by the next one.

mod aside;
pub(super) mod record;
mod roll_forward;
pub(super) mod slot;

pub use aside::{CommitSetAside, SetAsideRepair, commits_set_aside, repair_commits_set_aside};
pub(super) use aside::{may_pass, set_aside, set_aside_unread};
pub(super) use record::{Found, LIMIT, RedoFile, RedoRecord};
pub(super) use roll_forward::{acquire_all, finish, hindrance, recover, roll_forward, told, withdraw};
pub use roll_forward::{finish_interrupted, interrupted_paths};
pub(super) use slot::Slot;
