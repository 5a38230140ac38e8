//! JSON Schemas of answers, by name and version. Tests check every answer.

use schemars::JsonSchema;
use serde_json::{Map, Value, json};
use stepmark_model::bmad::tickets::{NextTickets, TicketStatus};

use crate::commands::changing::{
    import::bmad_7::{Bmad7Imported, Bmad7Verified},
    import::pack::RowsImported,
    memlog::{FileChanged, MemlogChanged, MemlogShown},
};
use crate::commands::packs::{PackChecked, PackList, PackShown};

const ANSWERS: &str = include_str!("answers.json");

pub(crate) fn published() -> Result<Map<String, Value>, serde_json::Error> {
    let mut schemas: Map<String, Value> = serde_json::from_str(ANSWERS)?;
    let typed = [
        typed::<PackList>(
            "stepmark.packs/1",
            "`pack list`: the packs of the project, and those that are built in",
        ),
        typed::<PackShown>("stepmark.pack/1", "`pack show`: the kinds of a pack, their states and moves"),
        typed::<PackChecked>(
            "stepmark.pack-check/1",
            "`pack check`: packs that can be used, and what they make illegal",
        ),
        typed::<MemlogShown>(
            "stepmark.memlog/1",
            "`memlog show`: the fields and entries of a memlog of BMAD",
        ),
        typed::<MemlogChanged>("stepmark.memlog-change/1", "`memlog init`, `append` and `set`"),
        typed::<TicketStatus>(
            "stepmark.tickets/1",
            "`tickets`: the tickets of BMAD 7 in build order, as its `tickets.py status` has them",
        ),
        typed::<NextTickets>(
            "stepmark.next-tickets/1",
            "`next` where tickets of BMAD 7 are: by what can happen to them, as its `tickets.py next` has them",
        ),
        typed::<FileChanged>(
            "stepmark.memlog-shim/1",
            "`memlog shim`: the script that was put in place, or back",
        ),
        typed::<FileChanged>("stepmark.defer/1", "`defer`: the spec that a finding was added to"),
        typed::<Bmad7Verified>(
            "stepmark.import-bmad-7-verify/1",
            "`import bmad-7 --verify`: what the tickets lack of the sprint in the archive",
        ),
        typed::<Bmad7Imported>(
            "stepmark.import-bmad-7/1",
            "`import bmad-7`: what becomes of epics and stories, and whether it was written",
        ),
        typed::<RowsImported>(
            "stepmark.import-pack/1",
            "`import pack`: rows that say something else, and what was written",
        ),
    ];
    schemas.extend(typed);
    Ok(schemas)
}

fn typed<T: JsonSchema>(name: &str, about: &str) -> (String, Value) {
    let mut schema = schemars::schema_for!(T).to_value();
    schema["description"] = about.into();
    schema["properties"]["schema"] = Map::from_iter([("const".to_owned(), name.into())]).into();
    if let Some(required) = schema["required"].as_array_mut() {
        required.push("schema".into());
    }
    if let Some(keys) = schema.as_object_mut() {
        keys.retain(|key, _| !["$schema", "title", "type"].contains(&key.as_str()));
    }
    (name.to_owned(), schema)
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
