//! The sources of configuration besides the project: values that the edge of a program collects.

use crate::configuration::keys::{DEFAULT_GIT_HISTORY_LIMIT, DEFAULT_LEASE};
use crate::configuration::{ConfiguredValue, Origin};
use std::path::PathBuf;
use stepmark_frontmatter::Value;
use stepmark_model::artifact::PathGlobs;

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

/// The patterns of artifacts where the configuration does not say.
pub(crate) const DEFAULT_INCLUDE: &[&str] = &["**/*.md"];

/// The patterns of files that are never artifacts where the configuration does not say: what an installer or
/// another tool put there. BMAD installs into `_bmad/` (older: `bmad/`, `.bmad/`) and writes artifacts into
/// `_bmad-output/` or `docs/`.
pub(crate) const DEFAULT_EXCLUDE: &[&str] = &[
    "**/_bmad/**",
    "bmad/**",
    "**/.*",
    "**/.*/**",
    "**/node_modules/**",
    "**/site-packages/**",
    "**/target/**",
    "**/vendor/**",
];

/// Excluded whatever the configuration says: the state of stepmark and of git.
pub(super) const ALWAYS_EXCLUDED: &[&str] =
    &["**/.stepmark/**", "**/.stepmark-*", "**/.git/**", "**/archive-v6/**"];

pub(super) fn default_values() -> Vec<ConfiguredValue> {
    let texts = |texts: &[&str]| Value::Sequence(texts.iter().copied().map(Value::from).collect());
    let values = [
        ("artifacts.include", texts(DEFAULT_INCLUDE)),
        ("artifacts.exclude", texts(DEFAULT_EXCLUDE)),
        ("lease.seconds", Value::Integer(DEFAULT_LEASE.into())),
        ("gates", Value::Bool(false)),
        ("git_history.limit_ms", Value::Integer(DEFAULT_GIT_HISTORY_LIMIT.into())),
    ];
    let value =
        |(key, value): (&str, Value)| ConfiguredValue { key: key.to_owned(), value, origin: Origin::Default };
    values.into_iter().map(value).collect()
}

#[expect(clippy::expect_used, reason = "the patterns are constants of this file, and a test compiles them")]
pub(super) fn built_in(globs: &[&str]) -> PathGlobs {
    let globs = globs.iter().map(|glob| glob.parse()).collect::<Result<_, _>>();
    PathGlobs::new(globs.expect("built-in patterns are valid"))
}

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
