//! The single values of the configuration, each parsed where it stands.

use std::{convert::Infallible, fmt, str::FromStr};

use stepmark_model::artifact::{ProjectPath, ProjectPathError};
use stepmark_model::packs::{deserialize_as_scalar, schema_of_scalar};

/// A path inside the project, seen from its root; `{project-root}/` may stand before it, as in BMAD's files.
#[derive(Clone, Debug)]
pub(super) struct FilePath(pub(super) ProjectPath);

impl FromStr for FilePath {
    type Err = ProjectPathError;

    fn from_str(text: &str) -> Result<Self, ProjectPathError> {
        ProjectPath::new(text.strip_prefix("{project-root}/").unwrap_or(text)).map(Self)
    }
}

/// A number of seconds or steps, at least 1.
#[derive(Clone, Debug)]
pub(super) struct Count(pub(super) std::num::NonZeroU32);

impl FromStr for Count {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse()
            .map(Self)
            .map_err(|_| format!("a whole number from 1 to {} is wanted, not `{text}`", u32::MAX))
    }
}

#[derive(Clone, Debug)]
pub(super) struct Limit(pub(super) u32);

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse()
            .map(Self)
            .map_err(|_| format!("a whole number from 0 to {} is wanted, not `{text}`", u32::MAX))
    }
}

/// A value of `settings:`, as it is spelled.
#[derive(Clone, Debug)]
pub(super) struct SettingText(pub(super) String);

impl FromStr for SettingText {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

/// After what a checkpoint is made by itself: an item of `milestones:`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Milestone {
    /// After this step, in any of its spellings.
    Step(String),
    Finished,
}

impl FromStr for Milestone {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        match text.trim() {
            "" => Err("a milestone is empty: name a step, or `finished`"),
            "finished" => Ok(Self::Finished),
            step => Ok(Self::Step(step.to_owned())),
        }
    }
}

impl fmt::Display for Milestone {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Step(step) => step,
            Self::Finished => "finished",
        })
    }
}

/// `project_id:`, which stands in ticket markers and labels, so it is one short word.
#[derive(Clone, Debug)]
pub(super) struct ProjectId(pub(super) String);

impl FromStr for ProjectId {
    type Err = String;

    fn from_str(id: &str) -> Result<Self, String> {
        let fits = (1..=64).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        let wanted = "a project id is made of 1 to 64 letters, digits, `-`, `_` and `.`";
        if fits { Ok(Self(id.to_owned())) } else { Err(format!("{wanted}, not `{id}`")) }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct VariableName(pub(super) String);

impl FromStr for VariableName {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let fits = !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        let wanted = "the name of a variable is made of letters, digits, `-` and `_`, without braces";
        if fits { Ok(Self(name.to_owned())) } else { Err(format!("{wanted}, not `{name}`")) }
    }
}

/// The name of a store of memory: one word, as those of trackers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StoreName(pub(super) String);

impl FromStr for StoreName {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let fits = (1..=64).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        let wanted = "the name of a store is made of 1 to 64 letters, digits, `-` and `_`";
        if fits { Ok(Self(name.to_owned())) } else { Err(format!("{wanted}, not `{name}`")) }
    }
}

/// The folder that a variable stands for, seen from the project root; empty for the root itself.
#[derive(Clone, Debug)]
pub(super) struct VariablePath(pub(super) String);

impl FromStr for VariablePath {
    type Err = ProjectPathError;

    fn from_str(text: &str) -> Result<Self, ProjectPathError> {
        let inside = match text.strip_prefix("{project-root}") {
            Some(inside) => inside.strip_prefix('/').unwrap_or(inside),
            None => text,
        };
        match ProjectPath::new(inside) {
            Ok(path) => Ok(Self(path.as_str().to_owned())),
            Err(ProjectPathError::Empty) => Ok(Self(String::new())),
            Err(error) => Err(error),
        }
    }
}

deserialize_as_scalar!(
    FilePath,
    Count,
    Limit,
    SettingText,
    Milestone,
    ProjectId,
    VariableName,
    VariablePath,
    StoreName
);
schema_of_scalar!(FilePath, {"type": "string", "minLength": 1, "not": {"pattern": "^/"}});
schema_of_scalar!(Count, {"type": ["integer", "string"], "minimum": 1, "maximum": u32::MAX, "pattern": "^0*[1-9][0-9]*$"});
schema_of_scalar!(Limit, {"type": ["integer", "string"], "minimum": 0, "maximum": u32::MAX, "pattern": "^[0-9]+$"});
schema_of_scalar!(SettingText, {"type": ["string", "number", "boolean"]});
schema_of_scalar!(Milestone, {"type": ["string", "number"], "pattern": r"\S"});
schema_of_scalar!(ProjectId, {"type": ["string", "integer"], "pattern": "^[A-Za-z0-9_.-]{1,64}$"});
schema_of_scalar!(VariableName, {"type": "string", "pattern": "^[A-Za-z0-9_-]+$"});
schema_of_scalar!(StoreName, {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"});
schema_of_scalar!(VariablePath, {"type": "string"});
