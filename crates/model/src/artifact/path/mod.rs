//! Paths of a project, patterns of paths, and their order.

mod project_path;
mod natural_order;
mod git_folder;
mod path_globs;

pub use git_folder::names_git_folder;
pub use natural_order::natural_order;
pub use path_globs::{PathGlob, PathGlobError, PathGlobs};
pub use project_path::{ProjectPath, ProjectPathError, READ_LIMIT};
