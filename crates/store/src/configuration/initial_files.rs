//! The files that `init` writes into `.stepmark/`.

use crate::configuration::{DEFAULT_EXCLUDE, DEFAULT_INCLUDE};

/// The content of `.stepmark/.gitignore`: what belongs to one clone, and what can be rebuilt.
pub const STEPMARK_GITIGNORE: &str = "local/\ncache/\ngates/\n*.tmp\n";

/// The text of a new `.stepmark/config.yaml`: the defaults, explained, and the identity of the project.
///
/// `project_id` is taken as it is; a UUID is what `init` gives.
pub fn initial_configuration(project_id: &str) -> String {
    let list = |globs: &[&str]| globs.iter().map(|glob| format!("\n    - '{glob}'")).collect::<String>();
    include_str!("initial.yaml")
        .replace("PROJECT_ID", project_id)
        .replace(" # INCLUDE", &list(DEFAULT_INCLUDE))
        .replace(" # EXCLUDE", &list(DEFAULT_EXCLUDE))
}
