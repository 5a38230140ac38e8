//! The edge: root, configuration, discovery, file system.

mod root;
mod parsed_scalar;
mod path_globs;
mod workflow_declaration;
mod configuration_keys;
mod configuration;
mod initial_files;
mod workflow_listing;
mod workflows;

pub use configuration::{CONFIGURATION_PATH, Configuration, ConfigurationError, UnknownKey};
pub use initial_files::{STEPMARK_GITIGNORE, initial_configuration};
pub use path_globs::{PathGlob, PathGlobError, PathGlobs};
pub use root::{RelativeError, ResolveError, Root, RootError};
pub use workflow_declaration::{StepSource, WorkflowDeclaration};
pub use workflow_listing::ListingProblem;
pub use workflows::{WorkflowFileError, Workflows, progress};
