//! Conditions of moves.

use std::{fmt, str::FromStr};

use serde_json::Value as Json;
use stepmark_frontmatter::{KeyPath, Segment};

use crate::artifact::{
    Artifact,
    parsed_scalar::{deserialize_as_scalar, schema_of_scalar},
};

/// A condition of a move on the artifact. The set is closed: what is judged must stand in files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guard {
    /// `steps-finished`: no step of its workflow is open. Holds where its workflow is unknown.
    StepsFinished,
    /// `children-finished`: no work that was delegated from it is open.
    ChildrenFinished,
    /// `human`: a person makes the move.
    Human,
    /// `filled(KEY)`: the frontmatter says something under KEY.
    Filled(Box<str>),
    /// `dependencies-done(KEY)`: each id under KEY is that of an artifact whose work has come to its end:
    /// what failed or was cancelled has not.
    DependenciesDone(Box<str>),
    /// `holder(KEY)`: whoever makes the move is named under KEY.
    Holder(Box<str>),
    /// `file-exists(KEY)`: what KEY names are files of the project, and it names one.
    FileExists(Box<str>),
    /// `at-least(KEY, N)`: under KEY stands a number from N on, or a list of N entries or more.
    AtLeast(Box<str>, u32),
    /// `verified`: the last of `attempts` has a verification that passed.
    Verified,
    /// `approved`: `approval` names the state that is entered, and a person who may approve it.
    Approved,
}

impl Guard {
    /// The texts that stand in `artifact` under the key of the guard, which may be a path.
    pub fn named_in(&self, artifact: &Artifact) -> Vec<String> {
        let (Self::Filled(key) | Self::DependenciesDone(key) | Self::Holder(key) | Self::FileExists(key)) =
            self
        else {
            return Vec::new();
        };
        let Ok(state) = artifact.state_value() else { return Vec::new() };
        match value_at(&state, key) {
            Some(Json::String(text)) => vec![text.clone()],
            Some(Json::Array(items)) => items.iter().filter_map(Json::as_str).map(str::to_owned).collect(),
            _ => Vec::new(),
        }
    }
}

/// The value under `key`, which may be a path.
pub(super) fn value_at<'s>(state: &'s Json, key: &str) -> Option<&'s Json> {
    let path: KeyPath = key.parse().ok()?;
    path.0.iter().try_fold(state, |value, segment| match segment {
        Segment::Key(key) => value.get(key),
        Segment::Index(index) => value.get(index),
    })
}

impl fmt::Display for Guard {
    /// As it is written in a table.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StepsFinished => out.write_str("steps-finished"),
            Self::ChildrenFinished => out.write_str("children-finished"),
            Self::Human => out.write_str("human"),
            Self::Filled(key) => write!(out, "filled({key})"),
            Self::DependenciesDone(key) => write!(out, "dependencies-done({key})"),
            Self::Holder(key) => write!(out, "holder({key})"),
            Self::FileExists(key) => write!(out, "file-exists({key})"),
            Self::AtLeast(key, least) => write!(out, "at-least({key}, {least})"),
            Self::Verified => out.write_str("verified"),
            Self::Approved => out.write_str("approved"),
        }
    }
}

impl FromStr for Guard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let key = |name: &str| -> Option<Box<str>> {
            let key = text.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')').map(str::trim)?;
            (!key.is_empty()).then(|| key.into())
        };
        match text {
            "steps-finished" => Ok(Self::StepsFinished),
            "children-finished" => Ok(Self::ChildrenFinished),
            "human" => Ok(Self::Human),
            "verified" => Ok(Self::Verified),
            "approved" => Ok(Self::Approved),
            _ => key("filled")
                .map(Self::Filled)
                .or_else(|| key("dependencies-done").map(Self::DependenciesDone))
                .or_else(|| key("holder").map(Self::Holder))
                .or_else(|| key("file-exists").map(Self::FileExists))
                .or_else(|| at_least(&key("at-least")?))
                .ok_or_else(|| {
                    format!(
                        "`{text}` is no guard: write `steps-finished`, `children-finished`, `human`, `verified`, \
                         `approved`, `filled(KEY)`, `file-exists(KEY)`, `dependencies-done(KEY)`, `holder(KEY)` \
                         or, in quotes, `at-least(KEY, N)`"
                    )
                }),
        }
    }
}

fn at_least(arguments: &str) -> Option<Guard> {
    let (key, least) = arguments.rsplit_once(',')?;
    let key = Some(key.trim()).filter(|key| !key.is_empty())?;
    Some(Guard::AtLeast(key.into(), least.trim().parse().ok()?))
}

deserialize_as_scalar!(Guard);

schema_of_scalar!(Guard, {
    "description": "What a move wants of the artifact",
    "type": "string",
    "pattern": concat!(
        r"^(steps-finished|children-finished|human|verified|approved|at-least\(\s*[^)\s,][^)]*,\s*[0-9]+\s*\)",
        r"|(filled|dependencies-done|holder|file-exists)\(\s*[^)\s][^)]*\))$",
    ),
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::ProjectPath;

    #[test]
    fn reads_and_shows() {
        for text in [
            "steps-finished",
            "children-finished",
            "human",
            "filled(blocked_by)",
            "dependencies-done(dependencies)",
            "holder(lock.requester)",
            "file-exists(phase_data.intent)",
            "at-least(reviews, 2)",
            "verified",
            "approved",
        ] {
            assert_eq!(text.parse::<Guard>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "filled",
            "filled()",
            "filled( )",
            "steps",
            "holder()",
            "dependencies-done",
            "at-least(reviews)",
            "at-least(, 2)",
            "at-least(reviews, -1)",
            "verified()",
        ] {
            assert!(text.parse::<Guard>().is_err(), "{text}");
        }
    }

    #[test]
    fn names_what_stands_under_its_key() {
        let text = "---\ndependencies: [a, 3, b]\nclaimed_by: w\nlock: {requester: x}\n---\n";
        let artifact = Artifact::read(ProjectPath::new("t.md").unwrap(), text.as_bytes().to_vec());
        for (guard, wanted) in [
            ("dependencies-done(dependencies)", &["a", "b"][..]),
            ("holder(claimed_by)", &["w"]),
            ("holder(lock.requester)", &["x"]),
            ("holder(nobody)", &[]),
            ("human", &[]),
        ] {
            assert_eq!(guard.parse::<Guard>().unwrap().named_in(&artifact), wanted, "{guard}");
        }
    }
}
