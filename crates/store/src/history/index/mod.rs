//! The disposable database that says where each event stands.

pub(super) mod catch_up;
pub(super) mod check;
mod database;
mod filling;
pub(super) mod heads;
pub(super) mod identity;
pub(super) mod row;
pub(super) mod schema;

pub use check::EventSum;
pub(super) use database::{Fault, Index};
pub(super) use filling::Filling;
pub(super) use row::{Row, state_part};
pub(super) use schema::LAYOUT;

#[cfg(test)]
mod cases;
