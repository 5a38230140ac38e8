//! `stepmark schema`

use clap::Args;
use serde_json::{Value, json};

use crate::{
    exit::{Exit, Failure},
    output::{ListArguments, Output, table},
    schemas::{document, find, published},
};

/// Print the JSON Schema of an answer, or list all
#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// The name with or without its version: `stepmark.next/3`, `next`; without it all are listed
    name: Option<String>,
    #[command(flatten)]
    list: ListArguments,
}

impl Schema {
    pub(crate) fn run(&self, output: &Output) -> Result<Exit, Failure> {
        let schemas = published().map_err(|error| Failure::from_error(Exit::Io, &error))?;
        let words = |schema: &Value| schema["description"].as_str().unwrap_or_default().to_owned();
        let Some(name) = &self.name else {
            let one =
                |(name, schema): &(&String, &Value)| json!({"name": name, "description": words(schema)});
            let answer = (output, "stepmark.schemas/1", "schemas");
            self.list.answer(answer, schemas.iter().collect(), one, |schemas| {
                let rows = schemas.iter().map(|(name, schema)| vec![(*name).clone(), words(schema)]);
                output.line(table(&["SCHEMA", "OF"], rows));
            })?;
            return Ok(Exit::Fine);
        };
        let (name, schema) = find(&schemas, name).ok_or_else(|| {
            Failure::new(Exit::Usage, format!("there is no schema `{name}`"))
                .with_help("`stepmark schema` lists them")
        })?;
        let text = serde_json::to_string_pretty(&document(name, schema))
            .map_err(|error| Failure::from_error(Exit::Io, &error))?;
        output.bytes(format!("{text}\n").as_bytes());
        Ok(Exit::Fine)
    }
}
