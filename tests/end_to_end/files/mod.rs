//! Files, folders and repositories as they are found.

mod bad_content;
mod bad_paths;
mod git_programs;
mod local_state;
mod monorepo;
mod outputs;
mod permissions;
