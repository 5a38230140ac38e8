//! BMAD's own files in a project: its sprints and its catalogues. What they mean is decided in
//! [`stepmark_model::bmad`].

mod findings;
#[cfg(feature = "write")]
pub mod migrating;
pub mod sprint;
pub mod tickets;
pub mod catalogues;
