//! Roles, and who has them.

use std::{collections::BTreeMap, str::FromStr};

use schemars::JsonSchema;
use serde::Deserialize;

use crate::scalar::{Name, OneOrMore};
use crate::{deserialize_as_scalar, schema_of_scalar};

/// Who has which role. That is for working together, and no protection: an actor is whoever the environment
/// says.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Roles(BTreeMap<Name, OneOrMore<ActorPattern>>);

/// An actor, `agent:writer`; with `*` at the end every one whose text begins so, as with `human:*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ActorPattern(String);

impl Roles {
    /// Returns whether `actor`, as it is written (`human:Ada`), has the role.
    pub fn has(&self, role: &str, actor: &str) -> bool {
        self.patterns(role).iter().any(|pattern| match pattern.0.strip_suffix('*') {
            Some(beginning) => actor.starts_with(beginning),
            None => actor == pattern.0,
        })
    }

    /// The actors that have the role, as they are written.
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
    /// Those that the built-in systems know: `custodian`, `tech_lead` and `product_owner`.
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
