//! Changes of artifacts, whatever they do to the status: those that a lifecycle allows, and approvals.

mod refusal;
mod judge;
mod approval;
#[cfg(test)]
mod cases;

pub use refusal::ChangeRefusal;
