//! A set of tools, and how a call of one ends.

use std::sync::Arc;

use rmcp::model::{Tool as ToolOnTheWire, ToolAnnotations};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use thiserror::Error;

pub type Arguments = Map<String, Value>;

/// Tools that belong together. A server has one set or several.
pub trait ToolSet: Send + Sync {
    /// The text for a model that may use these tools: in what order, and who does what.
    fn instructions(&self) -> &str;

    /// The tools, always the same and in the same order.
    fn tools(&self) -> Vec<Tool>;

    /// Carries out a call of one of these tools.
    ///
    /// A refusal, with the reason and the remedy.
    fn call(&self, tool: &str, arguments: Arguments) -> Result<Answer, Refusal>;
}

/// The result of a call, twice: for programs and in words.
///
/// Clients hand one of the two to the model, and differ in which: some the structured one alone, others the
/// text alone. So each says all that a model needs; the text is no second copy of the JSON, which would cost
/// those who are billed for both.
#[derive(Clone, Debug)]
pub struct Answer {
    pub structured: Map<String, Value>,
    pub text: String,
}

/// The reason why a call was refused, and what would be possible.
#[derive(Clone, Debug, Error)]
#[error("{reason}")]
pub struct Refusal {
    pub reason: String,
    pub remedy: Option<String>,
}

impl Refusal {
    /// A refusal without a remedy.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), remedy: None }
    }

    #[must_use]
    pub fn with_remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }
}

/// Reads the arguments of a call. One that is `null` counts as not given: models write that of what they
/// leave open.
///
/// An argument is missing, unknown, or of another type; the remedy is the schema's to tell.
pub fn read<T: DeserializeOwned>(mut arguments: Arguments) -> Result<T, Refusal> {
    without_null(&mut arguments);
    serde_json::from_value(Value::Object(arguments)).map_err(|error| {
        Refusal::new(format!("the arguments do not fit: {error}"))
            .with_remedy("call the tool again as its input schema says")
    })
}

fn without_null(keys: &mut Arguments) {
    keys.retain(|_, value| !value.is_null());
    for value in keys.values_mut() {
        match value {
            Value::Object(inner) => without_null(inner),
            Value::Array(items) => items.iter_mut().filter_map(Value::as_object_mut).for_each(without_null),
            _ => {}
        }
    }
}

/// A tool: its name, a short text for the model, and the form of what goes in and comes out.
#[derive(Clone, Debug)]
pub struct Tool {
    /// The name, unique among all sets of a server.
    pub name: &'static str,
    /// The text by which a model chooses it.
    pub description: &'static str,
    /// The form of the arguments: an object.
    pub input: Schema,
    /// The form of the answer: an object.
    pub output: Schema,
    pub effect: Effect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Reads,
    /// It adds or moves what can be taken back.
    Changes,
    /// The same, and a second call with the same arguments changes nothing more.
    ChangesOnce,
}

impl From<Tool> for ToolOnTheWire {
    fn from(tool: Tool) -> Self {
        let hints = ToolAnnotations::new().open_world(false);
        let hints = match tool.effect {
            Effect::Reads => hints.read_only(true),
            Effect::Changes => hints.read_only(false).destructive(false),
            Effect::ChangesOnce => hints.read_only(false).destructive(false).idempotent(true),
        };
        Self::new(tool.name, tool.description, tool.input.into_map())
            .with_raw_output_schema(Arc::new(tool.output.into_map()))
            .with_annotations(hints)
    }
}

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

    /// A whole number that is not negative.
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

    /// An object with these keys, each required or not; others may stand there too.
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

    /// The same object without any other key.
    #[must_use]
    pub fn closed(self) -> Self {
        self.with("additionalProperties", json!(false))
    }

    /// The value that counts where none is given.
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
