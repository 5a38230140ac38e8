//! A set of tools, and how a call of one ends.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use thiserror::Error;

use crate::Tool;

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
