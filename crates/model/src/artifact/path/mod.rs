//! Paths of a project, patterns of paths, and their order.

mod project_path;
mod natural_order;

pub use natural_order::natural_order;
pub use project_path::{ProjectPath, ProjectPathError, READ_LIMIT, names_git_folder};
pub use stepmark_packs::{PathGlob, PathGlobs};
