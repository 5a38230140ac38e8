//! Lossless JSON (RFC 8259): duplicate keys, and numbers that a double cannot hold, are errors.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value as Json};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason} in line {line}, column {column}")]
pub struct JsonError {
    pub reason: String,
    pub line: usize,
    /// In bytes, from 1.
    pub column: usize,
}

pub fn read_json(bytes: &[u8]) -> Result<Json, JsonError> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Strict.deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    let value = value.map_err(|error| JsonError {
        line: error.line(),
        column: error.column(),
        reason: reason(&error),
    })?;
    match inexact_number(bytes) {
        None => Ok(value),
        Some(number) => {
            let before = &bytes[..number.start];
            let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let number_text = String::from_utf8_lossy(&bytes[number.clone()]);
            Err(JsonError {
                reason: format!("the number {number_text} has more digits than a double holds"),
                line: memchr::memchr_iter(b'\n', before).count() + 1,
                column: number.start - line_start + 1,
            })
        }
    }
}

fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).map_or_else(|| text.clone(), str::to_owned)
}

fn inexact_number(json: &[u8]) -> Option<std::ops::Range<usize>> {
    let mut at = 0;
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => {
                at += 1;
                while let Some(byte) = json.get(at).filter(|byte| **byte != b'"') {
                    at += if *byte == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'0'..=b'9' | b'-' => {
                let is_number = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
                let end = at + json[at..].iter().take_while(is_number).count();
                if !is_exact(&json[at..end]) {
                    return Some(at..end);
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    None
}

fn is_exact(number: &[u8]) -> bool {
    let is_integer = !number.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
    // Integers of 15 digits are exact.
    if !is_integer || number.len() < 16 {
        return true;
    }
    let text = String::from_utf8_lossy(number);
    text.parse::<f64>().is_ok_and(|double| format!("{double:.0}") == text)
}

struct Strict;

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Json, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Json;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Json, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = from.next_element_seed(Self)? {
            items.push(item);
        }
        Ok(items.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Json, A::Error> {
        let mut entries = Map::new();
        while let Some(key) = from.next_key::<String>()? {
            if entries.contains_key(&key) {
                return Err(A::Error::custom(format!("the key `{key}` stands twice")));
            }
            let value = from.next_value_seed(Self)?;
            entries.insert(key, value);
        }
        Ok(entries.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_lost_is_refused_with_its_place() {
        for (text, wanted) in [
            ("{\"a\": 1,\n \"a\": 2}", "the key `a` stands twice in line 2, column 4"),
            ("[{\"x\": {\"b\": [], \"b\": 1}}]", "the key `b` stands twice in line 1, column 20"),
            (
                "[1,\n 9007199254740993]",
                "the number 9007199254740993 has more digits than a double holds in line 2, column 2",
            ),
            ("[1e400]", "number out of range in line 1, column 6"),
            ("{\"a\": }", "expected value in line 1, column 7"),
            ("", "EOF while parsing a value in line 1, column 0"),
            ("{} x", "trailing characters in line 1, column 4"),
            ("[NaN]", "expected value in line 1, column 2"),
        ] {
            assert_eq!(read_json(text.as_bytes()).unwrap_err().to_string(), wanted, "{text}");
        }
    }

    #[test]
    fn all_else_is_kept() {
        for text in [
            r#"{"b":null,"a":[1.0,-0.5,"9007199254740993",100000000000000000000]}"#,
            "\"\\u0000\\\"\"",
            "18446744073709549568",
        ] {
            let value = read_json(text.as_bytes()).unwrap();
            let wanted: Json = serde_json::from_str(text).unwrap();
            assert_eq!(value, wanted, "{text}");
        }
    }
}
