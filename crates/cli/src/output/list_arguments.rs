//! Limits of lists.

use std::{borrow::Cow, collections::BTreeSet, marker::PhantomData};

use clap::Args;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value;

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

    /// Answers with a list: as JSON made by `answer`, or as `show` prints it; as much of it as is wanted, and
    /// how many more there are.
    pub(crate) fn answer<'t, T, R: Serialize, A: Serialize>(
        &self,
        output: &Output,
        items: &'t mut Vec<T>,
        row: impl Fn(&'t T) -> R,
        answer: impl FnOnce(Vec<Row<R>>, usize) -> A,
        show: impl FnOnce(&'t [T]),
    ) -> Result<(), Failure> {
        let more = self.cut(items);
        if output.json {
            let rows = self.keep_fields(items.iter().map(row))?;
            output.answer(|| answer(rows, more));
            return Ok(());
        }
        show(items);
        self.remark_more(more, output);
        Ok(())
    }

    pub(crate) fn remark_more(&self, more: usize, output: &Output) {
        if more > 0 {
            output.remark(format_args!("and {more} more"));
        }
    }

    pub(crate) fn keep_fields<T: Serialize>(
        &self,
        items: impl IntoIterator<Item = T>,
    ) -> Result<Vec<Row<T>>, Failure> {
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
            *items = kept.into_iter().map(|row| row.0).collect();
        }
        Ok(format!("{answer}\n"))
    }
}

/// An item of a list as JSON, with the fields of it that are wanted.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Row<T>(Value, PhantomData<T>);

impl<T: JsonSchema> JsonSchema for Row<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = T::json_schema(generator);
        schema.remove("required");
        let variants = schema.get_mut("anyOf").and_then(Value::as_array_mut);
        for variant in variants.into_iter().flatten().filter_map(Value::as_object_mut) {
            variant.remove("required");
        }
        schema
    }
}

pub(crate) fn keep_fields<T: Serialize>(
    wanted: &[String],
    items: impl IntoIterator<Item = T>,
) -> Result<Vec<Row<T>>, Failure> {
    let items: Result<Vec<Value>, _> = items.into_iter().map(serde_json::to_value).collect();
    let items = items.map_err(|error| Failure::from_error(Exit::Io, &error))?;
    let fields = || items.iter().filter_map(Value::as_object).flat_map(|item| item.keys());
    let known: BTreeSet<&str> = fields().map(String::as_str).collect();
    if let Some(unknown) = wanted.iter().find(|name| !items.is_empty() && !known.contains(name.as_str())) {
        let names: Vec<&str> = known.into_iter().collect();
        let failure = Failure::new(Exit::Usage, format!("there is no field `{unknown}`"));
        return Err(failure.with_help(format!("fields are {}", names.join(", "))));
    }
    let kept = |item: Value| -> Row<T> {
        if wanted.is_empty() {
            return Row(item, PhantomData);
        }
        let fields = wanted.iter().filter_map(|name| Some((name.clone(), item.get(name)?.clone())));
        Row(Value::Object(fields.collect()), PhantomData)
    };
    Ok(items.into_iter().map(kept).collect())
}
