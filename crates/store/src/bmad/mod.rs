//! BMAD's own files in a project: its sprints and its catalogues. What they mean is decided in
//! [`stepmark_model::bmad`].

#[cfg(feature = "write")]
mod findings;
pub mod sprint;
pub mod tickets;
#[cfg(feature = "write")]
pub mod catalogues;

#[cfg(feature = "write")]
pub use findings::NextStory;
