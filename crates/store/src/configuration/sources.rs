//! The sources of configuration besides the project: values that the edge of a program collects.

use std::path::PathBuf;

/// The surroundings of a project: given by whoever opens it, so that the library reads no environment by
/// itself. The default is none of it.
///
/// Layers, the weakest first: built-in defaults, the user's file, the project's file, environment variables,
/// flags.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigurationSources {
    /// The user's configuration file: `$XDG_CONFIG_HOME/stepmark/config.yaml`, else
    /// `~/.config/stepmark/config.yaml`. It need not exist.
    pub user_file: Option<PathBuf>,
    /// Environment variables and their values. Those that [`VARIABLES`](crate::configuration::VARIABLES) does
    /// not name are left alone.
    pub environment: Vec<(String, String)>,
    /// Keys and values of the command line, in its order: the last counts.
    pub flags: Vec<(String, String)>,
}
