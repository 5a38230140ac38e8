//! JSON Schemas of answers, by name and version. Tests check every answer.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use crate::{
    commands::{
        asdd, autodev, changing, checking, coordination, flow, memory, packs, sessions, setup, sharing,
        viewing,
    },
    output,
};

/// Declares the answers of a command: words, name and keys of each; then the parts that they are made of.
macro_rules! answers {
    ($answer:ident $(<$of:lifetime>)?
        $($(#[$about:meta])+ $name:literal $variant:ident $keys:tt)+
        $(struct $part:ident $(<$own:lifetime>)? { $($fields:tt)* })*
        $(enum $choice:ident $(<$its:lifetime>)? { $($choices:tt)* })*
    ) => {
        #[derive(Debug, serde::Serialize, schemars::JsonSchema)]
        #[serde(tag = "schema")]
        #[allow(clippy::large_enum_variant, reason = "one is made, and printed")]
        pub(crate) enum $answer $(<$of>)? {
            $($(#[$about])+ #[serde(rename = $name)] $variant $keys,)+
        }
        $(#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
        pub(crate) struct $part $(<$own>)? { $($fields)* })*
        $(#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
        #[serde(untagged)]
        #[allow(clippy::large_enum_variant, reason = "one is made, and printed")]
        pub(crate) enum $choice $(<$its>)? { $($choices)* })*
    };
}

macro_rules! answers_of {
    ($($($module:ident)::+),+) => { [$(of::<$($module::)+Answer>()),+] };
}

/// By name and version, of answers that are no types of the program.
const ANSWERS: &str = include_str!("answers.json");

pub(crate) fn published() -> Result<Map<String, Value>, serde_json::Error> {
    let typed = answers_of! {
        output, viewing::status, viewing::list, viewing::show, viewing::next, changing::change,
        changing::transition, viewing::context, viewing::resume, viewing::journal, output::replay,
        sessions::session, sessions::checkpoint, checking::doctor, changing::delegate, viewing::tree,
        checking::gate, autodev::report, coordination::report, flow::report, asdd::overview,
        checking::project::projection, checking::manifest, changing::import, changing::import::stories,
        changing::import::records, changing::import::bmad_7, changing::import::pack, changing::memlog,
        viewing::query, viewing::tickets, checking::hook, output::findings::json, checking::check,
        checking::lifecycle, viewing::replay, viewing::serve, setup::config, setup::reference,
        sharing::instructions, sharing::sync::report, sharing::sync::status, sharing::sync::retry,
        sharing::sync::allow, memory::hook, memory::recalling, memory::storing, packs
    };
    let written: Map<String, Value> = serde_json::from_str(ANSWERS)?;
    Ok(typed.into_iter().flatten().chain(written).collect())
}

/// The schemas of the answers of a command, which are the variants of `A`.
fn of<A: JsonSchema>() -> Vec<(String, Value)> {
    let settings = SchemaSettings::draft2020_12().for_serialize().with(|own| own.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<A>().to_value();
    let variants = schema["oneOf"].as_array_mut().map(std::mem::take).unwrap_or_default();
    let named = variants.into_iter().filter_map(|mut variant| {
        let name = variant["properties"]["schema"]["const"].as_str()?.to_owned();
        variant["description"] = variant["description"].as_str()?.replace('\n', " ").into();
        variant.as_object_mut()?.shift_remove("type");
        Some((name, variant))
    });
    named.collect()
}

/// `stepmark.next/3`, or `next` for the latest version.
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
