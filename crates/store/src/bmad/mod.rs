//! BMAD's sprints and catalogues in a project; [`stepmark_model::bmad`] decides on them.

#[cfg(feature = "write")]
mod findings;
pub mod sprint;
pub mod tickets;
#[cfg(feature = "write")]
pub mod catalogues;

#[cfg(feature = "write")]
pub use findings::NextStory;
