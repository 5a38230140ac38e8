//! The reasons why a configuration cannot be used, and the keys in it that have no effect.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use crate::configuration::Side;
use stepmark_frontmatter::Position;
use stepmark_model::spelling::near_words;

/// A key of the configuration that this version does not know: a typing error, or a key of a newer version.
/// It has no effect, and is reported.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UnknownKey {
    /// The way to the key, for instance `workflows[0].step`.
    pub key: String,
    pub file: PathBuf,
    pub near: Option<String>,
}

impl UnknownKey {
    /// The key `key` below `way`, such as `workflows[0].`, in `file`; `known` are the keys that may stand
    /// there.
    pub fn new<'k>(way: &str, key: &str, file: &Path, known: impl IntoIterator<Item = &'k str>) -> Self {
        let near = near_words(key, known).into_iter().next();
        Self { key: format!("{way}{key}"), file: file.to_owned(), near }
    }

    /// The key to write instead, in words that follow others; empty where nothing is like it.
    pub fn suggestion(&self) -> String {
        self.near.as_ref().map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
    }
}

impl fmt::Display for UnknownKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "`{}` has the key `{}`, which stepmark does not know: it has no effect{}",
            self.file.display(),
            self.key,
            self.suggestion()
        )
    }
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigurationError {
    #[error("cannot read the configuration `{}`", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("the configuration `{}` is larger than {limit} bytes", path.display())]
    TooLarge { path: PathBuf, limit: u64 },
    #[error("`{}`{} cannot be used: {reason}", path.display(), position.map(|at| format!(":{at}")).unwrap_or_default())]
    Invalid {
        path: PathBuf,
        /// The place in the file, as far as it is known.
        position: Option<Position>,
        reason: String,
    },
    #[error(
        "`{}:{position}` holds state: `{key}` is {meaning}; configuration is static, and this \
         belongs {}",
        path.display(),
        belongs_to(*side, key)
    )]
    StateKey { path: PathBuf, position: Position, key: String, meaning: &'static str, side: Side },
    #[error("{source_name} cannot be used for `{key}`: {reason}")]
    Given {
        /// The environment variable, or the flag.
        source_name: String,
        key: String,
        reason: String,
    },
}

/// The place where a key that is no configuration belongs, in words.
pub(super) fn belongs_to(side: Side, key: &str) -> String {
    let name = key.rsplit('.').next().unwrap_or(key);
    match side {
        Side::RunTime => "nowhere: it is found out when it is needed".to_owned(),
        Side::Frontmatter | Side::System | Side::Project => {
            format!("in the frontmatter of the artifact (`stepmark set ARTIFACT {name}=…`)")
        }
    }
}
