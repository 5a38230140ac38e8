//! The marker as an entity property of an issue: it is made in the same request as the issue, people do not see it, and a copy of the
//! issue does not get it.

use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use crate::ticket::Marker;

/// The key of the property.
pub(super) const PROPERTY: &str = "stepmark";

#[derive(Deserialize)]
struct Value {
    version: u32,
    marker: Marker,
}

/// The property of an issue of `marker`, as a request gives it (OpenAPI, schema `EntityProperty`).
pub(super) fn property(marker: &Marker) -> Json {
    json!({ "key": PROPERTY, "value": { "version": 1, "marker": marker } })
}

/// The marker among the properties of an issue. One that stepmark would not have written is none.
pub(super) fn marker_in(properties: &Map<String, Json>) -> Option<Marker> {
    let value = Value::deserialize(properties.get(PROPERTY)?).ok()?;
    (value.version == 1).then_some(value.marker)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ticket::sample::marker;

    #[test]
    fn is_read_as_it_is_written() {
        let written = property(&marker("a b"))["value"].clone();
        let of = |value: Json| marker_in(&Map::from_iter([(PROPERTY.to_owned(), value)]));
        assert_eq!(of(written), Some(marker("a b")));
        for strange in [
            json!(null),
            json!("p/id:a"),
            json!({ "version": 2, "marker": "p/id:a" }),
            json!({ "version": 1, "marker": "p/id:a b" }),
            json!({ "version": 1 }),
        ] {
            assert_eq!(of(strange.clone()), None, "{strange}");
        }
        assert_eq!(marker_in(&Map::new()), None);
    }
}
