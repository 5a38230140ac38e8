//! The dialect of BMAD: all that only BMAD does. What holds for any workflow stands outside.

pub mod settings;
pub mod steps;
pub mod sprint;
pub mod catalogue;
pub mod memlog;
pub mod migration;
pub mod stories_list;
pub mod tickets;
