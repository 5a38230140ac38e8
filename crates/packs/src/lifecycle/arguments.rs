//! Types of the arguments of moves, and requirements of moves.

use std::{collections::BTreeMap, fmt, str::FromStr};

use super::{CounterLimit, Guard};
use crate::{
    PathGlob, deserialize_as_scalar,
    scalar::{Name, OneOrMore},
    schema_of_scalar,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentType {
    pub shape: ArgumentShape,
    /// For lists: the shape of each item.
    pub items: Option<ArgumentShape>,
    pub target: Option<Name>,
    pub is_optional: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentShape {
    Text,
    Int,
    Number,
    Bool,
    Time,
    List,
    Map,
    Ref,
}

const SHAPES: [(&str, ArgumentShape); 8] = [
    ("text", ArgumentShape::Text),
    ("int", ArgumentShape::Int),
    ("number", ArgumentShape::Number),
    ("bool", ArgumentShape::Bool),
    ("time", ArgumentShape::Time),
    ("list", ArgumentShape::List),
    ("map", ArgumentShape::Map),
    ("ref", ArgumentShape::Ref),
];

impl FromStr for ArgumentType {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, is_optional) = match text.trim().strip_suffix('?') {
            Some(name) => (name.trim(), true),
            None => (text.trim(), false),
        };
        let item = name.strip_prefix("list of ").map(str::trim);
        let (name, target) = match item.unwrap_or(name).split_once(' ') {
            Some(("ref", kind)) => ("ref", kind.parse().ok()),
            _ => (item.unwrap_or(name), None),
        };
        let shape = SHAPES.iter().find(|(own, _)| *own == name).map(|(_, shape)| *shape);
        match shape.filter(|shape| (*shape == ArgumentShape::Ref) == target.is_some()) {
            Some(shape) if item.is_none() => Ok(Self { shape, items: None, target, is_optional }),
            Some(shape) if shape != ArgumentShape::List => {
                Ok(Self { shape: ArgumentShape::List, items: Some(shape), target, is_optional })
            }
            _ => Err(format!(
                "`{text}` is no type: write text, int, number, bool, time, list, map, ref KIND or list of one of \
                 them, with `?` where it may be absent"
            )),
        }
    }
}

impl fmt::Display for ArgumentType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (list, shape) = match self.items {
            Some(shape) => ("list of ", shape),
            None => ("", self.shape),
        };
        write!(out, "{list}{}", shape.name())?;
        self.target.iter().try_for_each(|kind| write!(out, " {}", kind.0))?;
        out.write_str(if self.is_optional { "?" } else { "" })
    }
}

deserialize_as_scalar!(ArgumentType);
schema_of_scalar!(ArgumentType, {"type": "string", "pattern": r"^\s*(list|(list of )?(text|int|number|bool|time|map|ref [A-Za-z][A-Za-z0-9_-]*))\s*\??\s*$"});

impl ArgumentShape {
    pub(super) fn read(self, text: &str) -> Option<Json> {
        match self {
            Self::Text | Self::Ref => Some(text.into()),
            Self::Time => is_time(text).then(|| text.into()),
            Self::Int => text.trim().parse::<i64>().ok().map(Json::from),
            Self::Number => {
                text.trim().parse::<f64>().ok().and_then(serde_json::Number::from_f64).map(Json::Number)
            }
            Self::Bool => text.trim().parse::<bool>().ok().map(Json::from),
            Self::List => Some(Json::from(vec![text])),
            Self::Map => serde_json::from_str::<Json>(text).ok().filter(Json::is_object),
        }
    }

    fn holds(self, value: &Json) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Ref => value.is_string() || value.is_u64(),
            Self::Int => value.is_i64() || value.is_u64(),
            Self::Number => value.is_number(),
            Self::Bool => value.is_boolean(),
            Self::Time => value.as_str().is_some_and(is_time),
            Self::List => value.is_array(),
            Self::Map => value.is_object(),
        }
    }

    pub fn name(self) -> &'static str {
        SHAPES.iter().find(|(_, shape)| *shape == self).map_or("", |(name, _)| name)
    }
}

impl ArgumentType {
    /// A text that does not fit this type stays a text.
    pub fn of_cell(&self, text: &str) -> Json {
        let value = |shape: ArgumentShape, text: &str| shape.read(text).unwrap_or_else(|| text.into());
        match self.shape {
            ArgumentShape::List => {
                let items = text.split(';').map(str::trim).filter(|item| !item.is_empty());
                items.map(|item| value(self.items.unwrap_or(ArgumentShape::Text), item)).collect()
            }
            shape => value(shape, text),
        }
    }

    /// `None`: the value fits.
    pub fn fault(&self, name: &str, value: Option<&Json>) -> Option<String> {
        let wanted = Self { is_optional: false, ..self.clone() };
        let holds = |value: &Json| {
            let each =
                |of: ArgumentShape| value.as_array().is_some_and(|all| all.iter().all(|one| of.holds(one)));
            self.shape.holds(value) && self.items.is_none_or(each)
        };
        match value.filter(|value| !value.is_null() && value.as_str() != Some("")) {
            None => (!self.is_optional).then(|| format!("`{name}` says nothing, and {wanted} is wanted")),
            Some(value) => (!holds(value)).then(|| format!("`{name}` is {value}, and {wanted} is wanted")),
        }
    }
}

fn is_time(text: &str) -> bool {
    text.parse::<jiff::Timestamp>().is_ok() || text.parse::<jiff::civil::DateTime>().is_ok()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    Reason,
    Evidence,
}

impl Need {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reason => "reason",
            Self::Evidence => "evidence",
        }
    }
}

impl FromStr for Need {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Self::Reason, Self::Evidence];
        let found = all.into_iter().find(|need| need.name() == text.trim());
        found.ok_or_else(|| format!("a move needs `reason` or `evidence`, and `{text}` is neither"))
    }
}

deserialize_as_scalar!(Need);
schema_of_scalar!(Need, {"type": "string", "enum": ["reason", "evidence"]});

/// A lifecycle: a table of states and legal moves, and the artifacts that it applies to. With the name of a
/// built-in one, and without `states`, it says which artifacts that one applies to.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping with `name`, `states`, `moves`, `applies_to`")]
pub struct LifecycleDeclaration {
    /// Its name.
    pub name: Name,
    /// Its title.
    pub title: Option<String>,
    /// The states, in the order in which people read them.
    pub states: Option<Vec<StateDeclaration>>,
    /// The legal moves.
    pub moves: Option<Vec<MoveDeclaration>>,
    /// Numbers in the frontmatter that say how often a state was entered.
    pub counters: Option<Vec<CounterDeclaration>>,
    /// The frontmatter keys that say whose status it is: where one of them changes too, the status is that of
    /// another thing, and begins anew.
    pub subject: Option<Vec<Name>>,
    /// The frontmatter key that gets the date of each move, where it is there.
    pub dated: Option<Name>,
    /// Frontmatter keys of lists that only grow: what stands in them is never changed or taken away.
    pub append_only: Option<Vec<Name>>,
    /// Frontmatter keys that an agent changes by moves alone.
    pub by_moves: Option<Vec<Name>>,
    /// Frontmatter keys under which no other names may stand than these; in a list that holds of each entry.
    pub closed: Option<BTreeMap<Name, Vec<Name>>>,
    /// The role (`roles`) of those who may change the frontmatter.
    pub writers: Option<Name>,
    /// The role of the people whose approval counts; without it that of any person does.
    pub approvers: Option<Name>,
    /// The artifacts that it applies to: those for which one of these holds.
    pub applies_to: Option<Vec<ConditionDeclaration>>,
}

/// A state.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping with `name`")]
pub struct StateDeclaration {
    /// Its name, as it is written into artifacts.
    pub name: Name,
    /// Other words for it, which are read and not written.
    pub synonyms: Option<Vec<Name>>,
    /// Its meaning, for people.
    pub meaning: Option<String>,
    /// The progress of the work: higher is further. None for a state beside the way, such as blocked.
    pub rank: Option<u32>,
    /// True if work begins in it. Without any such state it begins in the first.
    pub initial: Option<bool>,
    /// True if the work has ended in it.
    pub terminal: Option<bool>,
    /// True if only a move out of it changes the frontmatter.
    pub frozen: Option<bool>,
    /// The frontmatter key that remembers which state it was entered from: it is left for that one. Of
    /// several the last is written, and the first that names a state is where it is left for.
    pub return_to: Option<OneOrMore<Name>>,
    /// The command behind `stepmark` that leads on, where no move does; `ID` stands for the id.
    pub next: Option<String>,
    /// `person` where the work waits for one: it is no next work of agents, and never done.
    pub waits_for: Option<Waits>,
    /// Frontmatter keys with the numbers that are written when it is entered.
    pub sets: Option<BTreeMap<String, u64>>,
    /// Frontmatter keys that are there while it lasts: written when it is entered, and taken away after it.
    pub while_in: Option<BTreeMap<String, Lasting>>,
    /// A frontmatter key that is written when it is entered and the key is not there yet; then it stays: the
    /// first whose condition holds.
    pub once: Option<Vec<OnceDeclaration>>,
    /// The files of skills that say how the work goes on in it: the first whose condition holds.
    pub read: Option<Vec<ReadDeclaration>>,
}

/// What a key says for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum Once {
    /// The commit that is checked out; `NO_VCS` where there is none.
    #[serde(rename = "$head")]
    Head,
}

/// A key that is written once, and for which artifacts.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping with `key` and `value`")]
pub struct OnceDeclaration {
    /// The key.
    pub key: Name,
    /// What it says.
    pub value: Once,
    /// The artifacts that it is for; without it all.
    pub when: Option<ConditionDeclaration>,
}

/// A file of a skill, seen from the folder of the skills, and for which artifacts it is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping with `file`")]
pub struct ReadDeclaration {
    /// The file: `bmad-build/step-02-plan.md`.
    pub file: Name,
    /// The artifacts that it is for; without it all.
    pub when: Option<ConditionDeclaration>,
}

/// What a key says while a state lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum Lasting {
    /// The day on which the state was entered.
    #[serde(rename = "$today")]
    Today,
    /// The reason that was given for it; where none was, the key is not written.
    #[serde(rename = "$reason")]
    Reason,
}

/// Whoever a state waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Waits {
    Person,
}

/// Legal moves: from each of these states to each of those.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping with `from` and `to`")]
pub struct MoveDeclaration {
    /// The states that are left; `*` means every one that is not terminal.
    pub from: OneOrMore<Name>,
    /// The states that are entered.
    pub to: OneOrMore<Name>,
    /// The guards of the moves: `steps-finished`, `children-finished`, `human`, `verified`, `approved`,
    /// `filled(KEY)`, `file-exists(KEY)`, `at-least(KEY, N)`, `dependencies-done(KEY)`, `holder(KEY)`.
    pub guards: Option<Vec<Guard>>,
}

/// A number in the frontmatter that says how often a state was entered.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping with `key` and `entering`")]
pub struct CounterDeclaration {
    /// The frontmatter key of the number.
    pub key: Name,
    /// The states whose entering counts.
    pub entering: OneOrMore<Name>,
    /// The states from which they are entered; without it any.
    pub leaving: Option<OneOrMore<Name>>,
    /// The highest value, or the frontmatter key that holds it.
    pub at_most: Option<CounterLimit>,
    /// The states whose entering sets it to 0.
    pub reset_by: Option<OneOrMore<Name>>,
    /// The states whose leaving sets it to 0.
    pub reset_leaving: Option<OneOrMore<Name>>,
}

/// Artifacts: those for which all that is said here holds.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a mapping with `path`, `workflow_type`, `key`, `heading` or `delegated`"
)]
pub struct ConditionDeclaration {
    /// Patterns over paths, seen from the project root.
    pub path: Option<OneOrMore<PathGlob>>,
    /// Values of `workflowType`.
    pub workflow_type: Option<OneOrMore<Name>>,
    /// Frontmatter keys with the values that they may have; `*` means any.
    pub key: Option<BTreeMap<String, OneOrMore<Name>>>,
    /// Words that the first heading begins with.
    pub heading: Option<Name>,
    /// True if it was delegated from another artifact.
    pub delegated: Option<bool>,
}

/// Apply to every change, whatever the status.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Attributes {
    /// Lists that only grow; each may be a path.
    pub append_only: Vec<String>,
    /// Keys that an agent changes only by moves.
    pub by_moves: Vec<String>,
    /// The names allowed under a key, or in each entry of a list.
    pub closed: BTreeMap<String, Vec<String>>,
    /// `None`: everybody may write.
    pub writers: Option<String>,
    /// `None`: any person may approve.
    pub approvers: Option<String>,
}

impl Attributes {
    pub fn of(declaration: &LifecycleDeclaration) -> Self {
        let LifecycleDeclaration { append_only, by_moves, closed, writers, approvers, .. } = declaration;
        let names = |names: &[Name]| names.iter().map(|name| name.0.clone()).collect::<Vec<_>>();
        let closed = closed.iter().flatten();
        Self {
            append_only: append_only.as_deref().map(names).unwrap_or_default(),
            by_moves: by_moves.as_deref().map(names).unwrap_or_default(),
            closed: closed.map(|(key, known)| (key.0.clone(), names(known))).collect(),
            writers: writers.as_ref().map(|role| role.0.clone()),
            approvers: approvers.as_ref().map(|role| role.0.clone()),
        }
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::LifecycleDeclaration;

    fn accepted(text: &str) -> (bool, bool) {
        let schema = schemars::schema_for!(LifecycleDeclaration);
        let validator = jsonschema::validator_for(schema.as_value()).unwrap();
        let value: serde_json::Value = serde_yaml::from_str(text).unwrap();
        (serde_yaml::from_str::<LifecycleDeclaration>(text).is_ok(), validator.is_valid(&value))
    }

    #[test]
    fn what_a_table_can_say_is_read_and_valid() {
        for text in [
            "name: x",
            "name: x\nstates: [{name: a, synonyms: [b], rank: 2, initial: true, return_to: c}]",
            "name: x\nmoves: [{from: '*', to: b, guards: [steps-finished, filled(c)]}]",
            "name: x\nmoves: [{from: [a, b], to: [c]}]",
            "name: x\ncounters: [{key: n, entering: a, at_most: 3, reset_by: [b, c]}]",
            "name: x\ncounters: [{key: n, entering: a, at_most: most_tries}]",
            "name: x\nstates: [{name: a, frozen: true, return_to: [b, c]}]",
            "name: x\nmoves: [{from: a, to: b, guards: [verified, approved, 'at-least(c.d, 2)', file-exists(e)]}]",
            "name: x\nappend_only: [a, b.c]\nclosed: {a: [b, c]}\nwriters: custodian\napprovers: tech_lead",
            "name: x\napplies_to: [{path: 'docs/**', workflow_type: [prd], key: {kind: [a, b], owner: '*'}}]",
        ] {
            assert_eq!(accepted(text), (true, true), "{text}");
        }
    }

    #[test]
    fn what_a_table_cannot_say_is_neither_read_nor_valid() {
        for text in [
            "states: []",
            "name: ''",
            "name: x\nstate: []",
            "name: x\nstates: [{name: a, sinonyms: [b]}]",
            "name: x\nstates: [{name: a, rank: -1}]",
            "name: x\nmoves: [{from: a}]",
            "name: x\nmoves: [{from: a, to: []}]",
            "name: x\nmoves: [{from: a, to: ' '}]",
            "name: x\nmoves: [{from: a, to: [b, {c: d}]}]",
            "name: x\nmoves: [{from: a, to: b, guards: [always]}]",
            "name: x\napplies_to: [{path: []}]",
            "name: x\ncounters: [{key: n, entering: a, at_most: -1}]",
            "name: x\nmoves: [{from: a, to: b, guards: ['at-least(c)']}]",
            "name: x\nstates: [{name: a, return_to: []}]",
            "name: x\nappend_only: a",
            "name: x\nclosed: {a: b}",
            "name: x\nwriters: [custodian]",
        ] {
            assert_eq!(accepted(text), (false, false), "{text}");
        }
        let outside = "name: x\napplies_to: [{path: /abs}]";
        assert!(!accepted(outside).0, "what only reading tells");
    }
}
