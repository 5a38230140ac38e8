//! JSON Schemas in the subset that every client reads: no combinators, lists of types, `$schema` or `format`.

use serde_json::{Map, Value, json};

#[derive(Clone, Debug)]
pub struct Schema(Map<String, Value>);

impl Schema {
    fn of(kind: &str, description: &str) -> Self {
        let mut keys = Map::from_iter([("type".to_owned(), json!(kind))]);
        if !description.is_empty() {
            keys.insert("description".to_owned(), json!(description));
        }
        Self(keys)
    }

    #[must_use]
    pub fn text(description: &str) -> Self {
        Self::of("string", description)
    }

    #[must_use]
    pub fn choice(description: &str, of: &[&str]) -> Self {
        Self::of("string", description).with("enum", json!(of))
    }

    #[must_use]
    pub fn count(description: &str) -> Self {
        Self::of("integer", description).with("minimum", json!(0))
    }

    #[must_use]
    pub fn number(description: &str) -> Self {
        Self::of("number", description)
    }

    #[must_use]
    pub fn between(description: &str, least: i64, most: i64) -> Self {
        Self::of("integer", description).with("minimum", json!(least)).with("maximum", json!(most))
    }

    #[must_use]
    pub fn flag(description: &str) -> Self {
        Self::of("boolean", description)
    }

    #[must_use]
    pub fn list(description: &str, of: Self) -> Self {
        Self::of("array", description).with("items", of.into())
    }

    #[must_use]
    pub fn object<'a>(keys: impl IntoIterator<Item = (&'a str, Presence, Self)>) -> Self {
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for (name, presence, schema) in keys {
            if presence == Presence::Required {
                required.push(json!(name));
            }
            properties.insert(name.to_owned(), schema.into());
        }
        let object = Self::of("object", "").with("properties", Value::Object(properties));
        if required.is_empty() { object } else { object.with("required", Value::Array(required)) }
    }

    #[must_use]
    pub fn closed(self) -> Self {
        self.with("additionalProperties", json!(false))
    }

    #[must_use]
    pub fn or(self, default: Value) -> Self {
        self.with("default", default)
    }

    fn with(mut self, key: &str, value: Value) -> Self {
        self.0.insert(key.to_owned(), value);
        self
    }

    pub(crate) fn into_map(self) -> Map<String, Value> {
        self.0
    }
}

impl From<Schema> for Value {
    fn from(schema: Schema) -> Self {
        Self::Object(schema.0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    Required,
    Optional,
}
