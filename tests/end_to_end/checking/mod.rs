//! Commands that keep the state right.

mod check;
mod check_beside;
mod check_staged;
mod doctor;
mod explain;
mod fix;
mod gate;
mod hook;
mod lease;
mod ledgers_follow;
mod ledgers_of_specs;
pub(crate) mod lifecycle;
mod manifest;
mod project;
mod project_ledgers;
mod project_some;
mod unusual_files;
