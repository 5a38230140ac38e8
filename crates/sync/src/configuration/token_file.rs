//! Where a credential is kept.

use std::{path::PathBuf, str::FromStr};

use crate::scalar::deserialize_as_scalar;

/// `token_file:` of a tracker: an absolute path, or one below `~/`. A path of the project is refused: what stands there is committed sooner
/// or later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TokenFile(pub(super) PathBuf);

impl FromStr for TokenFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let path = PathBuf::from(text);
        if path.is_absolute() || path.starts_with("~") && path.components().count() > 1 {
            Ok(Self(path))
        } else {
            Err(format!(
                "`{text}` is no place for a credential: an absolute path, or one that begins with `~/`, is wanted"
            ))
        }
    }
}

deserialize_as_scalar!(TokenFile);
