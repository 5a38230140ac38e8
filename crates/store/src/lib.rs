//! The edge of stepmark: files, history, locks, git and the database of queries. Everything else is pure and stands in `stepmark-model`.
//!
//! Everything that can change a file stands behind the feature `write`.

mod uninterrupted;
pub mod file_lock;
mod git_folders;
mod local_state;
mod own_file;
mod root;
mod git_process;
mod database_files;
pub mod history;
#[cfg(feature = "write")]
pub mod commit;
pub mod index_db;
pub mod workspace;
