//! Sets of tools, and results of calls.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use thiserror::Error;

use crate::Tool;

pub type Arguments = Map<String, Value>;

pub trait ToolSet: Send + Sync {
    /// For the model: order of use and roles.
    fn instructions(&self) -> &str;

    /// Always the same, in the same order.
    fn tools(&self) -> Vec<Tool>;

    fn call(&self, tool: &str, arguments: Arguments) -> Result<Answer, Refusal>;
}

/// The result twice: structured and as text.
///
/// Clients give the model only one of the two, so each is complete. The text is not a copy of the JSON: those
/// who are billed for both would pay twice.
#[derive(Clone, Debug)]
pub struct Answer {
    pub structured: Map<String, Value>,
    pub text: String,
}

#[derive(Clone, Debug, Error)]
#[error("{reason}")]
pub struct Refusal {
    pub reason: String,
    pub remedy: Option<String>,
}

impl Refusal {
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), remedy: None }
    }

    #[must_use]
    pub fn with_remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }
}

/// A `null` argument counts as missing: models write that for arguments they leave out. Errors give no
/// remedy: see the schema.
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
