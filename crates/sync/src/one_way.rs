//! The proof that sync has no way back. It holds only where this crate is compiled by itself, since features
//! unify in a workspace: `cargo test -p stepmark-sync --doc --features prove-one-way`, as CI does.
//!
//! ```compile_fail,E0599
//! fn no_way_back(workspace: &stepmark_store::workspace::Workspace) {
//!     let _ = workspace.update("docs/prd.md", |prd| prd.complete("step-03-success"));
//! }
//! ```
//!
//! ```compile_fail,E0433
//! use stepmark_store::commit::Transaction;
//! ```
//!
//! What reads is there:
//!
//! ```
//! fn read(workspace: &stepmark_store::workspace::Workspace) {
//!     let _ = workspace.artifacts();
//! }
//! ```
