//! The document stage behind a pipe, for tests that compare it with programs in other languages.
//!
//! Reads one JSON request a line from stdin and answers with one JSON line each:
//! `{"yaml": TEXT}` → `{"value": …, "documents": N}`; with `"edits": [{"op": "append", "path": "a.b",
//! "value": …}, …]` (`set`, `append`, `insert` with `index`, `remove`) also `"after": TEXT` or `"refused":
//! REASON`; what cannot be read gives `{"error": REASON}`.

use std::io::{BufRead, Write};

use serde_json::{Value as Json, json};
use stepmark_core::{
    document::Edit, document::EditError, document::KeyPath, document::Region, document::Span,
    document::Value, document::Yaml, document::apply,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let request: Json = serde_json::from_str(&line?)?;
        let text = request["yaml"].as_str().ok_or("a request needs `yaml`")?;
        writeln!(out, "{}", answer(text, request["edits"].as_array())?)?;
    }
    Ok(())
}

fn answer(text: &str, edits: Option<&Vec<Json>>) -> Result<Json, Box<dyn std::error::Error>> {
    let yaml = match Yaml::parse(text.as_bytes(), Span::new(0, text.len())) {
        Ok(yaml) => yaml,
        Err(error) => return Ok(json!({"error": error.to_string()})),
    };
    let value = yaml.root().map_or(Ok(Value::Null), |root| Value::of(&yaml, root));
    let value = match value {
        Ok(value) => value.to_json(),
        Err(error) => return Ok(json!({"error": error.to_string()})),
    };
    let mut answer = json!({"value": value, "documents": yaml.documents()});
    if let Some(edits) = edits {
        let edits = edits.iter().map(edit).collect::<Result<Vec<_>, _>>()?;
        match apply(text.as_bytes(), &Region::WholeFile, &edits) {
            Ok(edited) => answer["after"] = String::from_utf8(edited.bytes)?.into(),
            Err(error @ EditError::Refused { .. }) => answer["refused"] = error.to_string().into(),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(answer)
}

fn edit(request: &Json) -> Result<Edit, Box<dyn std::error::Error>> {
    let path: KeyPath = request["path"].as_str().ok_or("an edit needs `path`")?.parse()?;
    let value = || from_json(&request["value"]);
    Ok(match request["op"].as_str() {
        Some("set") => Edit::Set { path, value: value() },
        Some("append") => Edit::Append { path, item: value() },
        Some("insert") => {
            let index = request["index"].as_u64().ok_or("an insert needs `index`")?;
            Edit::Insert { path, index: usize::try_from(index)?, item: value() }
        }
        Some("remove") => Edit::Remove { path },
        other => return Err(format!("unknown edit {other:?}").into()),
    })
}

fn from_json(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(value), _) => Value::Integer(value),
            (None, Some(value)) => Value::Float(value),
            (None, None) => Value::Number(number.to_string()),
        },
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => Value::Sequence(items.iter().map(from_json).collect()),
        Json::Object(entries) => {
            Value::mapping(entries.iter().map(|(key, value)| (key.as_str(), from_json(value))))
        }
    }
}
