//! The disposable database that says where each event stands.

pub(super) mod catch_up;
pub(super) mod check;
pub(in crate::history) mod database;
mod filling;
pub(super) mod identity;

pub use check::EventSum;
pub(super) use database::{Fault, Index, LAYOUT, Row, state_part};
pub(super) use filling::Filling;

#[cfg(test)]
mod cases;
