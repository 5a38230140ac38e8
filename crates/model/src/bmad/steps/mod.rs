//! The step files of BMAD: where workflows stand, what their files say, and how one step follows from
//! another.

mod discovery;
mod step_file;
#[cfg(test)]
mod cases;

pub use discovery::{DEFAULT_ROOTS, discover};
pub use step_file::WorkflowFile;
