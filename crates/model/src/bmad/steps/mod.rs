//! Step files of BMAD: discovery, content, and order.

mod discovery;
mod step_file;
#[cfg(test)]
mod cases;

pub use discovery::{DEFAULT_ROOTS, discover};
pub use step_file::WorkflowFile;
