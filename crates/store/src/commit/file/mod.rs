//! One file replaced: staged, settled, exchanged, or removed.

mod attributes;
mod conflict;
mod folder;
mod publish;
mod read;
mod removal;
mod replace;
mod settle;
mod stage;

pub(super) use attributes::Attributes;
pub use conflict::{Conflict, Expected, Found};
pub use folder::{FolderError, FsyncPolicy, make_folders_to};
pub(super) use folder::{flush_folder, write_anew};
pub(super) use publish::{Moment, finish};
pub use publish::{PublishError, Published};
pub use read::ReadError;
pub(super) use read::{FileContent, read_file};
pub(super) use removal::remove;
pub(super) use replace::exchange;
pub use stage::{StageError, Staged};
