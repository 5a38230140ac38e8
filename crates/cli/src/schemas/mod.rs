//! The shapes of answers in JSON: one JSON Schema for each name and version. The tests of the program hold
//! every answer against its schema.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use crate::{
    commands::{
        asdd, autodev, changing, checking, coordination, flow, memory, packs, sessions, setup, sharing,
        viewing,
    },
    output,
};

/// Declares the answers of a command: words, name and version, keys of each; then the parts of which they are.
macro_rules! answers {
    ($answer:ident $(<$of:lifetime>)?
        $($(#[$about:meta])+ $name:literal $variant:ident $keys:tt)+
        $(struct $part:ident $(<$own:lifetime>)? { $($fields:tt)* })*
        $(enum $choice:ident $(<$its:lifetime>)? { $($choices:tt)* })*
    ) => {
        #[derive(Debug, serde::Serialize, schemars::JsonSchema)]
        #[serde(tag = "schema")]
        pub(crate) enum $answer $(<$of>)? {
            $($(#[$about])+ #[serde(rename = $name)] $variant $keys,)+
        }
        $(#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
        pub(crate) struct $part $(<$own>)? { $($fields)* })*
        $(#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
        #[serde(untagged)]
        pub(crate) enum $choice $(<$its>)? { $($choices)* })*
    };
}

/// By name and version, of commands whose answers are no types yet; each says what it describes, which keys there always are, and of which types.
const ANSWERS: &str = include_str!("answers.json");

pub(crate) fn published() -> Result<Map<String, Value>, serde_json::Error> {
    let mut schemas: Map<String, Value> = serde_json::from_str(ANSWERS)?;
    let typed = [
        of::<checking::check::Answer>(),
        of::<checking::doctor::Answer<'_>>(),
        of::<checking::gate::Answer<'_>>(),
        of::<checking::hook::Answer>(),
        of::<checking::lease::Answer<'_>>(),
        of::<checking::lifecycle::Answer<'_>>(),
        of::<checking::manifest::Answer<'_>>(),
        of::<checking::project::projection::Answer<'_>>(),
        of::<changing::change::Answer<'_>>(),
        of::<changing::import::Answer<'_>>(),
        of::<changing::import::bmad_7::Answer<'_>>(),
        of::<changing::import::pack::Answer<'_>>(),
        of::<changing::import::records::Answer<'_>>(),
        of::<changing::import::stories::Answer<'_>>(),
        of::<changing::memlog::Answer>(),
        of::<flow::report::Answer<'_>>(),
        of::<coordination::report::Answer<'_>>(),
        of::<asdd::overview::Answer<'_>>(),
        of::<autodev::report::Answer<'_>>(),
        of::<changing::delegate::Answer<'_>>(),
        of::<changing::transition::Answer<'_>>(),
        of::<memory::graph::Answer<'_>>(),
        of::<memory::hook::Answer<'_>>(),
        of::<memory::recalling::Answer<'_>>(),
        of::<memory::storing::Answer<'_>>(),
        of::<memory::syncing::Answer<'_>>(),
        of::<output::Answer<'_>>(),
        of::<output::findings::json::Answer<'_>>(),
        of::<output::replay::Answer<'_>>(),
        of::<sessions::checkpoint::Answer<'_>>(),
        of::<sessions::restore::Answer<'_>>(),
        of::<sessions::session::Answer<'_>>(),
        of::<setup::config::Answer<'_>>(),
        of::<setup::reference::Answer>(),
        of::<sharing::instructions::Answer<'_>>(),
        of::<sharing::sync::allow::Answer<'_>>(),
        of::<sharing::sync::report::Answer<'_>>(),
        of::<sharing::sync::retry::Answer<'_>>(),
        of::<sharing::sync::status::Answer<'_>>(),
        of::<viewing::context::Answer<'_>>(),
        of::<viewing::diff::Answer<'_>>(),
        of::<viewing::journal::Answer<'_>>(),
        of::<viewing::list::Answer>(),
        of::<viewing::next::Answer<'_>>(),
        of::<viewing::query::QueryAnswer<'_>>(),
        of::<viewing::replay::Answer>(),
        of::<viewing::resume::Answer<'_>>(),
        of::<viewing::serve::Answer<'_>>(),
        of::<viewing::show::Answer<'_>>(),
        of::<viewing::status::Answer<'_>>(),
        of::<viewing::tickets::Answer>(),
        of::<viewing::tree::Answer<'_>>(),
        of::<packs::Answer<'_>>(),
    ];
    schemas.extend(typed.into_iter().flatten());
    Ok(schemas)
}

/// The schemas of the answers of a command, which are the variants of `A`.
fn of<A: JsonSchema>() -> Vec<(String, Value)> {
    let settings = SchemaSettings::draft2020_12().for_serialize().with(|own| own.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<A>().to_value();
    let variants = schema["oneOf"].as_array_mut().map(std::mem::take).unwrap_or_default();
    let named = variants.into_iter().filter_map(|mut variant| {
        let name = variant["properties"]["schema"]["const"].as_str()?.to_owned();
        variant.as_object_mut()?.shift_remove("type");
        Some((name, variant))
    });
    named.collect()
}

/// The schema of answers called `name`: `stepmark.next/3`, or `next` for its latest version.
pub(crate) fn find<'s>(schemas: &'s Map<String, Value>, name: &str) -> Option<(&'s String, &'s Value)> {
    let is_named = |full: &str| {
        full == name || full.strip_prefix("stepmark.").and_then(|full| full.split('/').next()) == Some(name)
    };
    schemas.iter().rfind(|(full, _)| is_named(full))
}

pub(crate) fn document(name: &str, schema: &Value) -> Value {
    let head = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": name,
        "type": "object",
    });
    let parts = [&head, schema].into_iter().filter_map(Value::as_object);
    Value::Object(parts.flatten().map(|(key, value)| (key.clone(), value.clone())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_found_by_name_and_say_what_they_are_of() {
        let schemas = published().unwrap();
        for (name, schema) in &schemas {
            assert_eq!(find(&schemas, name), Some((name, schema)));
            assert!(schema["description"].as_str().is_some_and(|words| words.len() > 10), "{name}");
            assert_eq!(schema["properties"]["schema"]["const"], name.as_str());
            assert_eq!(document(name, schema)["title"], name.as_str());
        }
        assert_eq!(find(&schemas, "next").map(|(name, _)| name.as_str()), Some("stepmark.next/3"));
        assert_eq!(find(&schemas, "nex"), None);
    }
}
