//! Files and folders: root, private state, walks, stats, hashes. Nothing here interprets content.

#[cfg(feature = "history")]
pub(crate) mod cache_database;
pub mod file_lock;
pub(crate) mod file_reading;
pub(crate) mod folder;
pub(crate) mod in_parts;
pub(crate) mod listed_files;
pub(crate) mod local_state;
pub(crate) mod own_file;
pub(crate) mod root;
pub(crate) mod stat_cache;
pub(crate) mod walk;

#[cfg(feature = "history")]
pub use cache_database::{CacheDatabase, CacheLayout, CacheUnavailable, SqliteError, is_corrupt};
pub(crate) use file_lock::{names_in, names_in_place};
pub use file_reading::KnownStat;
pub use in_parts::par_map;
pub use local_state::{LocalState, StateFolder};
pub use root::{CONFIGURATION_PATH, ResolveError, Root};
pub use walk::{WalkProblem, WalkProblemKind};
