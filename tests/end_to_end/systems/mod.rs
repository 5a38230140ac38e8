//! Systems that keep state in a way of their own.

mod asdd;
mod coordination;
mod coordination_files;
mod coordination_rules;
#[cfg(unix)]
mod many_claims;
mod side_by_side;
mod staged;
