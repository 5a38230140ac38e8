//! BMAD specifics. Code for any workflow is outside.

pub mod settings;
pub mod steps;
pub mod sprint;
pub mod catalogue;
pub mod memlog;
pub mod migration;
pub mod stories_list;
pub mod tickets;
