//! Systems that keep state in a way of their own.

mod coordination;
mod coordination_files;
#[cfg(unix)]
mod many_claims;
