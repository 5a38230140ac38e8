//! One file replaced: staged, settled, exchanged, or removed.

mod conflict;
mod publish;
mod read;
mod replace;
mod settle;
mod stage;

pub(super) use conflict::Attributes;
pub use conflict::{Conflict, Expected, Found};
pub(super) use publish::{Moment, finish};
pub use publish::{PublishError, Published};
pub use read::ReadError;
pub(super) use read::{FileContent, read_file};
pub use read::{FolderError, FsyncPolicy, make_folders_to};
pub(super) use read::{flush_folder, write_anew};
pub(super) use replace::exchange;
pub(super) use settle::remove;
pub use stage::{StageError, Staged};
