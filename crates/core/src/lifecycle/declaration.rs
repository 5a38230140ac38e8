//! A lifecycle as it is written: in `.stepmark/config.yaml` and in the tables that are built in.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    Guard,
    one_or_more::{Name, OneOrMore},
};
use crate::artifact::PathGlob;

/// A lifecycle: a table of states and legal moves, and the artifacts that it applies to. With the name of a built-in one, and
/// without `states`, it says which artifacts that one applies to.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping with `name`, `states`, `moves`, `applies_to`")]
pub struct LifecycleDeclaration {
    /// Its name.
    pub(super) name: Name,
    /// What it is, for people.
    pub(super) title: Option<String>,
    /// The states, in the order in which people read them.
    pub(super) states: Option<Vec<StateDeclaration>>,
    /// The legal moves.
    pub(super) moves: Option<Vec<MoveDeclaration>>,
    /// Numbers in the frontmatter that say how often a state was entered.
    pub(super) counters: Option<Vec<CounterDeclaration>>,
    /// The artifacts that it applies to: those for which one of these holds.
    pub(super) applies_to: Option<Vec<ConditionDeclaration>>,
}

/// A state.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping with `name`")]
pub(super) struct StateDeclaration {
    /// Its name, as it is written into artifacts.
    pub(super) name: Name,
    /// Other words for it, which are read and not written.
    pub(super) synonyms: Option<Vec<Name>>,
    /// What it means, for people.
    pub(super) meaning: Option<String>,
    /// How far the work is: higher is further. None for a state beside the way, such as blocked.
    pub(super) rank: Option<u32>,
    /// Whether work begins in it. Without any such state it begins in the first.
    pub(super) initial: Option<bool>,
    /// Whether the work has ended in it.
    pub(super) terminal: Option<bool>,
    /// The frontmatter key that remembers which state it was entered from: it is left for that one.
    pub(super) return_to: Option<Name>,
}

/// Legal moves: from each of these states to each of those.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping with `from` and `to`")]
pub(super) struct MoveDeclaration {
    /// The states that are left; `*` means every one that is not terminal.
    pub(super) from: OneOrMore<Name>,
    /// The states that are entered.
    pub(super) to: OneOrMore<Name>,
    /// What the moves want: `steps-finished`, `children-finished`, `filled(KEY)`.
    pub(super) guards: Option<Vec<Guard>>,
}

/// A number in the frontmatter that says how often a state was entered.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping with `key` and `entering`")]
pub(super) struct CounterDeclaration {
    /// The frontmatter key of the number.
    pub(super) key: Name,
    /// The states whose entering counts.
    pub(super) entering: OneOrMore<Name>,
    /// How high it may get.
    pub(super) at_most: Option<u64>,
    /// The states whose entering sets it to 0.
    pub(super) reset_by: Option<OneOrMore<Name>>,
}

/// Artifacts: those for which all that is said here holds.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping with `path`, `workflow_type`, `key` or `heading`")]
pub(super) struct ConditionDeclaration {
    /// Patterns over paths, seen from the project root.
    pub(super) path: Option<OneOrMore<PathGlob>>,
    /// Values of `workflowType`.
    pub(super) workflow_type: Option<OneOrMore<Name>>,
    /// Frontmatter keys with the values that they may have; `*` means any.
    pub(super) key: Option<BTreeMap<String, OneOrMore<Name>>>,
    /// Words that the first heading begins with.
    pub(super) heading: Option<Name>,
}
