//! `check:` of the configuration: severities of rules, and findings that are accepted.

use std::{borrow::Cow, fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

use stepmark_frontmatter::{Node, Span, Yaml};
use stepmark_model::packs::deserialize_as_scalar;
use stepmark_model::{
    artifact::{PathGlob, PathGlobs, ProjectPath},
    check::{Allowance, Level, RULES, Rule, rule_of},
};

/// `check:`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(expecting = "a mapping with `rules` and `allow`")]
pub(super) struct CheckKeys {
    /// How bad the findings of each rule are.
    pub(super) rules: Option<RuleLevels>,
    /// Findings that are accepted.
    pub(super) allow: Option<Vec<PathAllowance>>,
}

/// `check.rules:`, in which no rule stands twice under its two names.
#[derive(Clone, Debug, Default)]
pub(super) struct RuleLevels(pub(super) Vec<(&'static Rule, Level)>);

impl RuleLevels {
    pub(super) fn overlaid(mut self, nearer: Self) -> Self {
        self.0.retain(|(rule, _)| nearer.0.iter().all(|(near, _)| near != rule));
        self.0.extend(nearer.0);
        self
    }
}

impl JsonSchema for RuleLevels {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "RuleLevels".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "propertyNames": RuleName::json_schema(generator),
            "additionalProperties": {"enum": ["off", "note", "warning", "error"]},
        })
    }
}

impl<'de> Deserialize<'de> for RuleLevels {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl<'de> de::Visitor<'de> for Visitor {
            type Value = RuleLevels;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a mapping of rules to `off`, `note`, `warning` or `error`")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut entries: A) -> Result<RuleLevels, A::Error> {
                let mut levels: Vec<(&'static Rule, Level)> = Vec::new();
                while let Some((RuleName(rule), RuleLevel(level))) = entries.next_entry()? {
                    if levels.iter().any(|(other, _)| *other == rule) {
                        let (id, name) = (rule.id, rule.name);
                        return Err(de::Error::custom(format!("`{id}` (`{name}`) stands here twice")));
                    }
                    levels.push((rule, level));
                }
                Ok(RuleLevels(levels))
            }
        }

        from.deserialize_map(Visitor)
    }
}

#[derive(Debug)]
struct RuleName(&'static Rule);

impl FromStr for RuleName {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        rule_of(name)
            .map(Self)
            .ok_or_else(|| format!("there is no rule `{name}`; `stepmark explain` lists them"))
    }
}

impl JsonSchema for RuleName {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "RuleName".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        let names: Vec<_> = RULES.iter().flat_map(|rule| [rule.id, rule.name]).collect();
        json_schema!({"enum": names})
    }
}

#[derive(Debug)]
struct RuleLevel(Level);

impl FromStr for RuleLevel {
    type Err = <Level as FromStr>::Err;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

deserialize_as_scalar!(RuleName, RuleLevel);

/// An entry of `check.allow:`: findings that are accepted in some artifacts.
#[derive(Clone, Debug)]
pub struct PathAllowance {
    allowance: Allowance,
    paths: PathGlobs,
    span: Option<Span>,
}

impl PathAllowance {
    /// The allowance: what is accepted, and why.
    pub const fn allowance(&self) -> &Allowance {
        &self.allowance
    }

    /// The place of the entry in the file that it was read from; `None` for one that no file holds.
    pub const fn span(&self) -> Option<Span> {
        self.span
    }

    /// Returns whether it is accepted in the file at `path`.
    pub fn concerns(&self, path: &ProjectPath) -> bool {
        self.paths.matches(path)
    }
}

/// Tells `allowances` where they stand in the file whose tree is `tree`.
pub(super) fn place(allowances: &mut [PathAllowance], tree: &Yaml<'_>) {
    let followed = |node| tree.target(node).unwrap_or(node);
    let entries = tree.root().and_then(|root| root.get("check")).map(followed);
    let entries = entries.and_then(|check| check.get("allow")).map(followed);
    for (allowance, item) in allowances.iter_mut().zip(entries.map(Node::items).unwrap_or_default()) {
        allowance.span = Some(item.span);
    }
}

/// The keys of an entry, as written.
#[derive(Deserialize, JsonSchema)]
#[serde(expecting = "a mapping with `rules`, `paths` and `reason`")]
struct Entry {
    /// The rules that may be broken.
    rules: Vec<RuleName>,
    /// The files in which they may be.
    paths: Vec<PathGlob>,
    /// Why.
    reason: String,
}

impl JsonSchema for PathAllowance {
    fn schema_name() -> Cow<'static, str> {
        "Allowance".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Entry::json_schema(generator)
    }
}

impl<'de> Deserialize<'de> for PathAllowance {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let Entry { rules, paths, reason } = Entry::deserialize(from)?;
        if rules.is_empty() || paths.is_empty() {
            return Err(de::Error::custom("`rules` and `paths` name at least one rule and one pattern"));
        }
        if reason.trim().is_empty() {
            return Err(de::Error::custom("the reason is empty: say why these findings are accepted"));
        }
        let rules = rules.into_iter().map(|rule| rule.0).collect();
        Ok(Self { allowance: Allowance { rules, reason }, paths: PathGlobs::new(paths), span: None })
    }
}
