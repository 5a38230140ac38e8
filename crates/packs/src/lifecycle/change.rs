//! Legality of changes of frontmatter.

use std::{collections::BTreeMap, str::FromStr};

use super::{CounterLimit, Lifecycle, guard::value_at};
use crate::{
    deserialize_as_scalar,
    scalar::{Name, OneOrMore},
    schema_of_scalar,
    spelling::listed,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;
use stepmark_frontmatter::{Node, NodeKind, Yaml};

impl Lifecycle {
    /// Refusals that no force overrides come first. `after` is `None` where the file is deleted. Status moves
    /// are judged by [`Lifecycle::judge_move`].
    pub fn judge_change(
        &self,
        [before, after]: [Option<&Json>; 2],
        writer: Option<(&str, &Roles)>,
    ) -> Vec<ChangeRefusal> {
        if !self.judges_changes() {
            return Vec::new();
        }
        if before == after {
            return Vec::new();
        }
        let mut refused = Vec::new();
        if let (Some(old), Some(new)) = (before, after) {
            let lists = self.attributes.append_only.iter();
            refused.extend(lists.filter_map(|key| self.not_appended(key, old, new)));
        }
        refused.extend(before.and_then(|before| self.frozen(before, after)));
        if let (Some(old), Some(new), Some((actor, _))) = (before, after, writer)
            && actor.starts_with("agent:")
        {
            let differs = |key: &&String| value_at(old, key) != value_at(new, key);
            let keys: Vec<String> = self.attributes.by_moves.iter().filter(differs).cloned().collect();
            let (lifecycle, actor) = (self.name.clone(), actor.to_owned());
            refused.extend((!keys.is_empty()).then_some(ChangeRefusal::OnlyByMoves {
                lifecycle,
                actor,
                keys,
            }));
        }
        refused.extend(writer.and_then(|(actor, roles)| self.judge_writer(actor, roles)));
        if let Some(new) = after {
            let closed = self.attributes.closed.iter();
            let old = before.unwrap_or(&Json::Null);
            refused.extend(closed.filter_map(|(key, known)| self.not_closed((key, known), old, new)));
        }
        refused
    }

    pub fn judge_writer(&self, actor: &str, roles: &Roles) -> Option<ChangeRefusal> {
        refused_to(&self.name, self.attributes.writers.as_deref()?, (actor, roles))
    }

    fn not_appended(&self, key: &str, old: &Json, new: &Json) -> Option<ChangeRefusal> {
        let entries = |state| value_at(state, key).and_then(Json::as_array).map(Vec::as_slice);
        let old = entries(old).filter(|old| !old.is_empty())?;
        let new = entries(new).unwrap_or_default();
        let kept = old.iter().zip(new).take_while(|(old, new)| old == new).count();
        let (lifecycle, key, before) = (self.name.clone(), key.to_owned(), old.len());
        (kept < before).then_some(ChangeRefusal::NotAppended { lifecycle, key, kept, before })
    }

    fn frozen(&self, before: &Json, after: Option<&Json>) -> Option<ChangeRefusal> {
        let status =
            |state: &Json| state["status"].as_str().filter(|word| !word.is_empty()).map(str::to_owned);
        let state = self.state_of(&status(before)?).filter(|state| state.is_frozen)?;
        let keys = RootKeys::from(before);
        let remembered = self.remembered(state, &keys);
        let target = after.and_then(status);
        let moves = |to: &str| self.legal_move(Some(&state.name), to, remembered);
        if target.is_some_and(|to| moves(&to).is_ok_and(|verdict| verdict.is_move())) {
            return None;
        }
        let legal = self.moves_from(state, remembered).iter().map(|legal| legal.to.name.clone()).collect();
        let (lifecycle, state) = (self.name.clone(), state.name.clone());
        Some(ChangeRefusal::Frozen { lifecycle, state, legal })
    }

    fn not_closed(&self, (key, known): (&str, &[String]), old: &Json, new: &Json) -> Option<ChangeRefusal> {
        let unknown = |state| -> Vec<String> {
            let names = value_at(state, key).map(names_in).unwrap_or_default();
            names.into_iter().filter(|name| !known.contains(name)).collect()
        };
        let were = unknown(old);
        let names: Vec<String> = unknown(new).into_iter().filter(|name| !were.contains(name)).collect();
        let (lifecycle, key, known) = (self.name.clone(), key.to_owned(), known.to_vec());
        (!names.is_empty()).then_some(ChangeRefusal::NotClosed { lifecycle, key, names, known })
    }
}

pub(crate) fn refused_to(name: &str, role: &str, (actor, roles): (&str, &Roles)) -> Option<ChangeRefusal> {
    let (lifecycle, actor) = (name.to_owned(), actor.to_owned());
    let actors = roles.of(role);
    (!roles.has(role, &actor)).then(|| ChangeRefusal::NotWriter {
        lifecycle,
        role: role.to_owned(),
        actor,
        actors,
    })
}

/// Names in a mapping, or in a list of mappings; each once.
fn names_in(value: &Json) -> Vec<String> {
    let mut names: Vec<String> = match value {
        Json::Object(entries) => entries.keys().cloned().collect(),
        Json::Array(items) => {
            items.iter().filter_map(Json::as_object).flat_map(|item| item.keys().cloned()).collect()
        }
        _ => Vec::new(),
    };
    names.sort_unstable();
    names.dedup();
    names
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChangeRefusal {
    #[error("`{key}` only grows by the lifecycle `{lifecycle}`: {}", lost(*.kept, *.before))]
    NotAppended { lifecycle: String, key: String, kept: usize, before: usize },
    #[error(
        "it is `{state}`, which the lifecycle `{lifecycle}` leaves as it is: {}",
        if legal.is_empty() { "nothing leads out of it".to_owned() } else { format!("only a move to {} changes it", listed(legal)) }
    )]
    Frozen { lifecycle: String, state: String, legal: Vec<String> },
    #[error(
        "only the role `{role}` changes it by the lifecycle `{lifecycle}`, and `{actor}` does not have it{}",
        who(actors)
    )]
    NotWriter { lifecycle: String, role: String, actor: String, actors: Vec<String> },
    #[error(
        "{} change{} by moves alone by the lifecycle `{lifecycle}`, and `{actor}` is no person",
        listed(keys),
        if keys.len() == 1 { "s" } else { "" }
    )]
    OnlyByMoves { lifecycle: String, actor: String, keys: Vec<String> },
    #[error("under `{key}` the lifecycle `{lifecycle}` has no {}: it has {}", listed(names), listed(known))]
    NotClosed { lifecycle: String, key: String, names: Vec<String>, known: Vec<String> },
}

impl ChangeRefusal {
    pub const fn may_be_forced(&self) -> bool {
        !matches!(self, Self::NotAppended { .. })
    }
}

fn lost(kept: usize, before: usize) -> String {
    format!("of its {before} entries the {} was changed or taken away", ordinal(kept + 1))
}

fn ordinal(number: usize) -> String {
    let ending = match (number % 10, number % 100) {
        (1, rest) if rest != 11 => "st",
        (2, rest) if rest != 12 => "nd",
        (3, rest) if rest != 13 => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

fn who(actors: &[String]) -> String {
    match actors {
        [] => "; it is declared nowhere".to_owned(),
        actors => format!("; it is that of {}", listed(actors)),
    }
}

impl Lifecycle {
    /// `None`: approved. `approval: {to, by, decided_at}` must name the entered state and a person with the
    /// approver role.
    pub fn unapproved(&self, state: &Json, roles: &Roles) -> Option<String> {
        let said = |key: &str| state["approval"][key].as_str().filter(|text| !text.trim().is_empty());
        let (Some(to), Some(by), Some(_)) = (said("to"), said("by"), said("decided_at")) else {
            return Some("`approval` does not say `to`, `by` and `decided_at`".to_owned());
        };
        let status = state["status"].as_str().and_then(|word| self.state_of(word));
        if self.state_of(to).is_none() || self.state_of(to) != status {
            return Some(format!("`approval` is for `{to}`"));
        }
        if !by.starts_with("human:") {
            return Some(format!("`approval` is by `{by}`, and only a person approves: `human:NAME`"));
        }
        let role = self.attributes.approvers.as_ref().filter(|role| !roles.has(role, by))?;
        Some(format!("`{by}`, who approved it, does not have the role `{role}`"))
    }
}

/// Who has which role. That is for working together, and no protection: an actor is whoever the environment
/// says.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Roles(BTreeMap<Name, OneOrMore<ActorPattern>>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ActorPattern(String);

impl Roles {
    /// `actor` is in written form: `human:Ada`.
    pub fn has(&self, role: &str, actor: &str) -> bool {
        self.patterns(role).iter().any(|pattern| match pattern.0.strip_suffix('*') {
            Some(beginning) => actor.starts_with(beginning),
            None => actor == pattern.0,
        })
    }

    pub fn of(&self, role: &str) -> Vec<String> {
        self.patterns(role).iter().map(|pattern| pattern.0.clone()).collect()
    }

    #[must_use]
    pub fn overlaid(mut self, nearer: Self) -> Self {
        self.0.extend(nearer.0);
        self
    }

    fn patterns(&self, role: &str) -> &[ActorPattern] {
        let own = self.0.iter().find(|(name, _)| name.0 == role);
        own.map(|(_, patterns)| patterns.0.as_slice()).unwrap_or_default()
    }
}

impl Default for Roles {
    /// The roles of the built-in systems: `custodian`, `tech_lead`, `product_owner`.
    fn default() -> Self {
        let role = |(name, actors): (&str, &[&str])| {
            let actors = actors.iter().map(|actor| ActorPattern((*actor).to_owned())).collect();
            (Name(name.to_owned()), OneOrMore(actors))
        };
        let roles: [(&str, &[&str]); 3] = [
            ("custodian", &["agent:knowledge", "agent:knowledge_agent"]),
            ("tech_lead", &["human:*"]),
            ("product_owner", &["human:*"]),
        ];
        Self(roles.into_iter().map(role).collect())
    }
}

impl FromStr for ActorPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        match text.split_once(':') {
            Some(("human" | "agent" | "tool", name)) if !name.trim().is_empty() => Ok(Self(text.to_owned())),
            _ => Err(format!(
                "`{text}` is no actor: write KIND:NAME with the kind human, agent or tool, and `*` for any name"
            )),
        }
    }
}

deserialize_as_scalar!(ActorPattern);
schema_of_scalar!(ActorPattern, {"type": "string", "pattern": r"^\s*(human|agent|tool):\s*\S"});

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RootKeys(BTreeMap<String, RootKey>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct RootKey {
    /// `None` for null, lists and mappings.
    text: Option<String>,
    is_filled: bool,
}

impl RootKeys {
    /// Empty for unreadable frontmatter. The first of two equal keys counts.
    pub fn of(yaml: &Yaml<'_>) -> Self {
        let mut keys = BTreeMap::new();
        for entry in yaml.root().map(Node::entries).unwrap_or_default() {
            let Some(key) = entry.key.as_key() else { continue };
            let value = yaml.target(&entry.value).unwrap_or(&entry.value);
            keys.entry(key.to_owned()).or_insert_with(|| RootKey::read(value));
        }
        Self(keys)
    }

    /// True also for a key without a value.
    pub fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    pub fn is_filled(&self, key: &str) -> bool {
        self.0.get(key).is_some_and(|value| value.is_filled)
    }

    pub fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.text.as_deref().filter(|text| !text.is_empty())
    }
}

impl RootKey {
    fn read(node: &Node<'_>) -> Self {
        let is_filled = match &node.kind {
            NodeKind::Mapping { entries, .. } => !entries.is_empty(),
            NodeKind::Sequence { items, .. } => !items.is_empty(),
            NodeKind::Scalar { .. } | NodeKind::Alias { .. } => !node.is_null(),
        };
        let text = node.text().filter(|_| !node.is_null()).map(str::to_owned);
        Self { is_filled: is_filled && text.as_deref() != Some(""), text }
    }
}

impl CounterLimit {
    pub fn value<'k>(&'k self, keys: &'k RootKeys) -> Result<Option<u64>, (&'k str, &'k str)> {
        match self {
            Self::Number(number) => Ok(Some(*number)),
            Self::Key(key) => {
                let number = |text: &'k str| text.trim().parse().map_err(|_| (key.as_str(), text));
                keys.text(key).map(number).transpose()
            }
        }
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for RootKeys {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let key = |(key, text): (K, V)| {
            let text = text.into();
            (key.into(), RootKey { is_filled: !text.is_empty(), text: Some(text) })
        };
        Self(entries.into_iter().map(key).collect())
    }
}

impl From<&Json> for RootKeys {
    fn from(state: &Json) -> Self {
        let key = |(key, value): (&String, &Json)| {
            let text = match value {
                Json::String(text) => Some(text.clone()),
                Json::Number(_) | Json::Bool(_) => Some(value.to_string()),
                Json::Null | Json::Array(_) | Json::Object(_) => None,
            };
            let is_filled = match value {
                Json::Array(items) => !items.is_empty(),
                Json::Object(entries) => !entries.is_empty(),
                _ => text.as_deref().is_some_and(|text| !text.is_empty()),
            };
            (key.clone(), RootKey { text, is_filled })
        };
        Self(state.as_object().into_iter().flatten().map(key).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::Roles;

    #[test]
    fn an_actor_has_the_roles_that_name_it() {
        let own = "{reviewer: ['human:Ada', 'agent:review-*'], tech_lead: 'human:Lin'}";
        let roles = Roles::default().overlaid(serde_yaml::from_str(own).unwrap());
        for (role, actor, expected) in [
            ("custodian", "agent:knowledge", true),
            ("custodian", "agent:knowledge2", false),
            ("product_owner", "human:Bea", true),
            ("product_owner", "agent:human", false),
            ("reviewer", "human:Ada", true),
            ("reviewer", "human:Adam", false),
            ("reviewer", "agent:review-2", true),
            ("tech_lead", "human:Lin", true),
            ("tech_lead", "human:Ada", false),
            ("nobody", "human:Ada", false),
        ] {
            assert_eq!(roles.has(role, actor), expected, "{role} {actor}");
        }
        assert_eq!(roles.of("reviewer"), ["human:Ada", "agent:review-*"]);
    }

    #[test]
    fn what_names_no_actor_is_neither_read_nor_valid() {
        let schema = schemars::schema_for!(Roles);
        let validator = jsonschema::validator_for(schema.as_value()).unwrap();
        for (text, expected) in [
            ("{a: 'human:*'}", true),
            ("{a: ['tool:ci', 'agent:x']}", true),
            ("{a: []}", false),
            ("{a: Ada}", false),
            ("{a: 'robot:x'}", false),
            ("{a: 'agent:'}", false),
        ] {
            let value: serde_json::Value = serde_yaml::from_str(text).unwrap();
            assert_eq!(serde_yaml::from_str::<Roles>(text).is_ok(), expected, "{text}");
            assert_eq!(validator.is_valid(&value), expected, "{text}");
        }
    }
}

#[cfg(test)]
mod root_keys_tests {
    use super::*;

    #[test]
    fn tells_what_is_there_and_what_says_something() {
        let file = "a: x\nb: ''\nc:\nd: []\ne: [1]\nf: 0\ng: null\n";
        let keys = RootKeys::of(
            &Yaml::parse(file.as_bytes(), stepmark_frontmatter::Span::from(0..file.len())).unwrap(),
        );
        let told = |key| (keys.has(key), keys.is_filled(key), keys.text(key));
        assert_eq!(told("a"), (true, true, Some("x")));
        assert_eq!(told("e"), (true, true, None));
        assert_eq!(told("f"), (true, true, Some("0")));
        for key in ["b", "c", "d", "g"] {
            assert_eq!(told(key), (true, false, None), "{key}");
        }
        assert_eq!(told("h"), (false, false, None));
    }
}
