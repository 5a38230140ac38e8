//! Limits of lists.

use std::collections::BTreeSet;

use clap::Args;
use serde_json::{Value, json};

use super::Output;
use crate::exit::{Exit, Failure};

/// How much of a list is wanted.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ListArguments {
    /// Show at most this many
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// With --json, only these fields of each, with commas between them
    #[arg(long, value_name = "FIELDS", requires = "json", value_delimiter = ',')]
    fields: Vec<String>,
}

impl ListArguments {
    pub(crate) fn limit(&self) -> Option<usize> {
        self.limit.map(|limit| limit as usize)
    }

    pub(crate) fn cut<T>(&self, items: &mut Vec<T>) -> usize {
        let left = self.limit().map_or(0, |limit| items.len().saturating_sub(limit));
        items.truncate(items.len() - left);
        left
    }

    /// As JSON under `name`, or with `show`; limited, with the number of items left out.
    pub(crate) fn answer<T>(
        &self,
        (output, schema, name): (&Output, &str, &str),
        mut items: Vec<T>,
        wire: impl Fn(&T) -> Value,
        show: impl FnOnce(&[T]),
    ) -> Result<(), Failure> {
        let more = self.cut(&mut items);
        if output.json {
            let kept = self.keep_fields(items.iter().map(wire).collect())?;
            output.json(schema, json!({name: kept, "more": more}));
            return Ok(());
        }
        show(&items);
        if more > 0 {
            output.remark(format_args!("and {more} more"));
        }
        Ok(())
    }

    pub(crate) fn keep_fields(&self, items: Vec<Value>) -> Result<Vec<Value>, Failure> {
        keep_fields(&self.fields, items)
    }

    pub(crate) fn keep_fields_of(&self, answer: &str, name: &str) -> Result<String, Failure> {
        if self.fields.is_empty() {
            return Ok(answer.to_owned());
        }
        let failed = |error| Failure::from_error(Exit::Io, &error);
        let mut answer: Value = serde_json::from_str(answer).map_err(failed)?;
        if let Some(Value::Array(items)) = answer.get_mut(name) {
            let kept = self.keep_fields(std::mem::take(items))?;
            *items = kept;
        }
        Ok(format!("{answer}\n"))
    }
}

pub(crate) fn keep_fields(wanted: &[String], items: Vec<Value>) -> Result<Vec<Value>, Failure> {
    if wanted.is_empty() || items.is_empty() {
        return Ok(items);
    }
    let known: BTreeSet<&str> =
        items.iter().filter_map(Value::as_object).flat_map(|item| item.keys()).map(String::as_str).collect();
    if let Some(unknown) = wanted.iter().find(|name| !known.contains(name.as_str())) {
        let names: Vec<&str> = known.into_iter().collect();
        let failure = Failure::new(Exit::Usage, format!("there is no field `{unknown}`"));
        return Err(failure.with_help(format!("fields are {}", names.join(", "))));
    }
    let kept = |item: &Value| -> Value {
        let fields = wanted.iter().filter_map(|name| Some((name.clone(), item.get(name)?.clone())));
        Value::Object(fields.collect())
    };
    Ok(items.iter().map(kept).collect())
}
