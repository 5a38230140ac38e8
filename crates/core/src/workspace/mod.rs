//! The edge: root, configuration, discovery, file system.

mod root;
mod parsed_scalar;
mod path_globs;
mod workflow_declaration;
mod configuration_keys;
mod configuration;
mod initial_files;

pub use configuration::{CONFIGURATION_PATH, Configuration, ConfigurationError, UnknownKey};
pub use initial_files::{STEPMARK_GITIGNORE, initial_configuration};
pub use path_globs::{PathGlob, PathGlobError, PathGlobs};
pub use root::{RelativeError, ResolveError, Root, RootError};
pub use workflow_declaration::{StepSource, WorkflowDeclaration};
