//! The disposable database that says where each event stands.

pub(super) mod catch_up;
pub(super) mod check;
pub(in crate::history) mod database;

pub use check::EventSum;
pub(super) use database::{Fault, Filling, Index, LAYOUT, Row, state_part};

#[cfg(test)]
mod cases;
