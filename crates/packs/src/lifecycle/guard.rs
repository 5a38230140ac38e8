//! Conditions of moves.

use std::{fmt, str::FromStr};

use serde_json::Value as Json;
use stepmark_frontmatter::{KeyPath, Segment};

use crate::{deserialize_as_scalar, schema_of_scalar};

/// A condition of a move. The set is closed: everything judged is in files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guard {
    /// `steps-finished`: no workflow step is open. Holds for an unknown workflow.
    StepsFinished,
    /// `children-finished`: no delegated work is open.
    ChildrenFinished,
    Human,
    Filled(Box<str>),
    /// `dependencies-done(KEY)`: all work under KEY ended well, not failed or cancelled.
    DependenciesDone(Box<str>),
    Holder(Box<str>),
    /// `file-exists(KEY)`: all files under KEY exist, at least one.
    FileExists(Box<str>),
    /// `at-least(KEY, N)`: a number from N on, or a list of N entries or more.
    AtLeast(Box<str>, u32),
    /// `below(KEY, LIMIT)`: a missing number is 0; the limit is a number or a key.
    Below(Box<(String, CounterLimit)>),
    OtherThan(Box<str>),
    /// `exists(KEY)`: all ids under KEY are artifacts of the project, at least one.
    Exists(Box<str>),
    /// `not-before(KEY)`: holds without a time, too.
    NotBefore(Box<str>),
    Role(Box<str>),
    /// `code(NAME)`: a condition in the Rust module of a built-in pack.
    Code(Box<str>),
    Verified,
    /// `approved`: `approval` names the entered state and a person who may approve it.
    Approved,
}

impl Guard {
    /// The key of the guard may be a path.
    pub fn named_in(&self, state: &Json) -> Vec<String> {
        let (Self::Filled(key)
        | Self::DependenciesDone(key)
        | Self::Holder(key)
        | Self::FileExists(key)
        | Self::OtherThan(key)
        | Self::Exists(key)
        | Self::NotBefore(key)) = self
        else {
            return Vec::new();
        };
        match value_at(state, key) {
            Some(Json::String(text)) => vec![text.clone()],
            Some(Json::Array(items)) => items.iter().filter_map(Json::as_str).map(str::to_owned).collect(),
            _ => Vec::new(),
        }
    }
}

pub(super) fn value_at<'s>(state: &'s Json, key: &str) -> Option<&'s Json> {
    let path: KeyPath = key.parse().ok()?;
    path.0.iter().try_fold(state, |value, segment| match segment {
        Segment::Key(key) => value.get(key),
        Segment::Index(index) => value.get(index),
    })
}

type Keyed = fn(Box<str>) -> Guard;

const KEYED: [(&str, Keyed); 9] = [
    ("filled", Guard::Filled),
    ("file-exists", Guard::FileExists),
    ("dependencies-done", Guard::DependenciesDone),
    ("holder", Guard::Holder),
    ("other-than", Guard::OtherThan),
    ("exists", Guard::Exists),
    ("not-before", Guard::NotBefore),
    ("role", Guard::Role),
    ("code", Guard::Code),
];

impl fmt::Display for Guard {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StepsFinished => out.write_str("steps-finished"),
            Self::ChildrenFinished => out.write_str("children-finished"),
            Self::Human => out.write_str("human"),
            Self::Verified => out.write_str("verified"),
            Self::Approved => out.write_str("approved"),
            Self::AtLeast(key, least) => write!(out, "at-least({key}, {least})"),
            Self::Below(pair) => write!(out, "below({}, {})", pair.0, pair.1.word()),
            Self::Filled(key)
            | Self::DependenciesDone(key)
            | Self::Holder(key)
            | Self::FileExists(key)
            | Self::OtherThan(key)
            | Self::Exists(key)
            | Self::NotBefore(key)
            | Self::Code(key)
            | Self::Role(key) => {
                let name =
                    KEYED.iter().find(|(_, make)| make(key.clone()) == *self).map_or("", |(name, _)| name);
                write!(out, "{name}({key})")
            }
        }
    }
}

impl FromStr for Guard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let inner = |name: &str| -> Option<&str> {
            let key = text.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')').map(str::trim)?;
            (!key.is_empty()).then_some(key)
        };
        let pair = |name: &str| {
            let (key, limit) = inner(name)?.rsplit_once(',')?;
            Some((key.trim(), limit.trim())).filter(|(key, _)| !key.is_empty())
        };
        let at_least =
            || pair("at-least").and_then(|(key, least)| Some(Self::AtLeast(key.into(), least.parse().ok()?)));
        let below = || {
            pair("below")
                .and_then(|(key, limit)| Some(Self::Below(Box::new((key.to_owned(), limit.parse().ok()?)))))
        };
        let role = || Some(Self::Role(text.strip_prefix("role ")?.trim().into()));
        match text {
            "steps-finished" => Ok(Self::StepsFinished),
            "children-finished" => Ok(Self::ChildrenFinished),
            "human" | "person" => Ok(Self::Human),
            "verified" => Ok(Self::Verified),
            "approved" => Ok(Self::Approved),
            _ => KEYED
                .iter()
                .find_map(|(name, make)| Some(make(inner(name)?.into())))
                .or_else(|| at_least().or_else(below).or_else(role))
                .ok_or_else(|| {
                    format!(
                        "`{text}` is no guard: write `steps-finished`, `children-finished`, `human`, `verified`, \
                         `approved`, `filled(KEY)`, `file-exists(KEY)`, `dependencies-done(KEY)`, `holder(KEY)`, \
                         `other-than(KEY)`, `exists(KEY)`, `not-before(KEY)`, `role(NAME)` \
                         or, in quotes, `at-least(KEY, N)`, `below(KEY, N)`"
                    )
                }),
        }
    }
}

deserialize_as_scalar!(Guard);

schema_of_scalar!(Guard, {
    "description": "What a move wants of the artifact",
    "type": "string",
    "pattern": concat!(
        r"^(steps-finished|children-finished|human|person|verified|approved|role [^\s].*",
        r"|at-least\(\s*[^)\s,][^)]*,\s*[0-9]+\s*\)|below\(\s*[^)\s,][^)]*,\s*[^)\s]+\s*\)",
        r"|(filled|dependencies-done|holder|file-exists|other-than|exists|not-before|role)\(\s*[^)\s][^)]*\))$",
    ),
});

const PASS: &str = "PASS";

impl Guard {
    /// The reason why a guard about values does not hold; `None` too for a guard about other things.
    pub fn unmet_in(&self, state: &Json) -> Option<String> {
        match self {
            Self::AtLeast(key, least) => {
                let found = value_at(state, key).and_then(size);
                let told = || match found {
                    Some(found) => format!("`{key}` is {found}"),
                    None => format!("`{key}` is neither a number nor a list"),
                };
                let is_enough = found.is_some_and(|found| found >= f64::from(*least));
                (!is_enough).then(told)
            }
            Self::Below(pair) => {
                let (key, limit) = &**pair;
                let number = |key: &str| value_at(state, key).and_then(Json::as_u64);
                let (found, most) = (
                    number(key).unwrap_or_default(),
                    match limit {
                        CounterLimit::Number(most) => Some(*most),
                        CounterLimit::Key(key) => number(key),
                    },
                );
                let is_below = most.is_none_or(|most| found < most);
                (!is_below)
                    .then(|| format!("`{key}` is {found}, and {limit} allows {}", most.unwrap_or_default()))
            }
            Self::Verified => unverified(state),
            _ => None,
        }
    }
}

fn size(value: &Json) -> Option<f64> {
    let length = |items: &Vec<Json>| items.len() as f64;
    value.as_f64().or_else(|| value.as_array().map(length))
}

fn unverified(state: &Json) -> Option<String> {
    let last = |key: &str| state[key].as_array().and_then(|items| items.last());
    let Some(attempt) = last("attempts").and_then(|attempt| attempt["attempt_id"].as_str()) else {
        return Some("it has no attempt".to_owned());
    };
    let verifications = state["verifications"].as_array().map(Vec::as_slice).unwrap_or_default();
    match verifications.iter().rfind(|verification| verification["attempt_id"] == attempt) {
        None => Some(format!("the attempt `{attempt}` has no verification")),
        Some(verification) if passes(verification) => None,
        Some(_) => Some(format!("the verification of the attempt `{attempt}` did not pass")),
    }
}

/// An empty verification does not pass.
fn passes(verification: &Json) -> bool {
    let checks = verification["checks"].as_array().map(Vec::as_slice).unwrap_or_default();
    let decision = verification["verifier"]["decision"].as_str();
    let is_passed = |check: &Json| check["passed"] == true || check["required"] == false;
    let says_something = !checks.is_empty() || decision.is_some();
    says_something && checks.iter().all(is_passed) && decision.is_none_or(|decision| decision == PASS)
}

/// A key lets a person raise the limit for one artifact.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(untagged)]
pub enum CounterLimit {
    Number(u64),
    Key(String),
}

impl CounterLimit {
    fn word(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Key(key) => key.clone(),
        }
    }
}

impl fmt::Display for CounterLimit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(out, "{number}"),
            Self::Key(key) => write!(out, "`{key}`"),
        }
    }
}

impl FromStr for CounterLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let is_key = |text: &str| text.starts_with(|letter: char| letter.is_alphabetic() || letter == '_');
        match text.parse() {
            Ok(number) => Ok(Self::Number(number)),
            Err(_) if is_key(text) => Ok(Self::Key(text.to_owned())),
            Err(_) => Err(format!("`{text}` is no limit: a whole number, or a frontmatter key, is wanted")),
        }
    }
}

deserialize_as_scalar!(CounterLimit);
schema_of_scalar!(CounterLimit, {
    "anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": r"^\s*([0-9]+\s*$|[^\W\d]|_)"}]
});

#[cfg(test)]
mod tests {
    use super::*;

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
        let text = "dependencies: [a, 3, b]\nclaimed_by: w\nlock: {requester: x}";
        let state: Json = serde_yaml::from_str(text).unwrap();
        for (guard, wanted) in [
            ("dependencies-done(dependencies)", &["a", "b"][..]),
            ("holder(claimed_by)", &["w"]),
            ("holder(lock.requester)", &["x"]),
            ("holder(nobody)", &[]),
            ("human", &[]),
        ] {
            assert_eq!(guard.parse::<Guard>().unwrap().named_in(&state), wanted, "{guard}");
        }
    }
}
