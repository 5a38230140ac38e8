//! What sync may do to tickets that exist.

use std::str::FromStr;

use crate::scalar::deserialize_as_scalar;

/// What happens to a managed field that a person changed in the tracker. Nothing ever flows back into artifacts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Drift {
    /// It is written again.
    #[default]
    Overwrite,
    /// It is reported, and left alone until the artifact changes.
    Report,
}

/// What happens to a ticket whose artifact is gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prune {
    /// It is reported, and left alone.
    #[default]
    Keep,
    /// It is closed as not planned.
    Close,
}

/// What happens to other tickets that carry the marker of an artifact which has one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// They are reported, and left alone.
    Report,
    /// They are closed as duplicates, where nobody else wrote in them.
    #[default]
    Close,
}

impl FromStr for Duplicates {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "report" => Ok(Self::Report),
            "close" => Ok(Self::Close),
            _ => Err(format!("`report` or `close` is wanted, not `{word}`")),
        }
    }
}

impl FromStr for Drift {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "overwrite" => Ok(Self::Overwrite),
            "report" => Ok(Self::Report),
            _ => Err(format!("`overwrite` or `report` is wanted, not `{word}`")),
        }
    }
}

impl FromStr for Prune {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "keep" => Ok(Self::Keep),
            "close" => Ok(Self::Close),
            _ => Err(format!("`keep` or `close` is wanted, not `{word}`")),
        }
    }
}

deserialize_as_scalar!(Drift, Duplicates, Prune);
