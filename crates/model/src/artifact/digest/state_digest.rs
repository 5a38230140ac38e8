//! The SHA-256 of what an artifact says, apart from how and when it says it.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::artifact::{FileHash, FileHashError, is_time_key};

/// SHA-256 of the canonical JSON (RFC 8785) of a state without its time keys (docs/design.md, "Digests"). Two
/// files with the same digest are in the same state whatever their line ends, comments, key order, quoting
/// and times. Shown as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StateDigest(FileHash);

/// The largest integer that an IEEE 754 double, and so RFC 8785, holds exactly (RFC 7493, §2.2).
const LARGEST_EXACT: u64 = (1 << 53) - 1;

impl StateDigest {
    /// The digest of `state`. Keys of [`TIME_KEYS`](crate::artifact::TIME_KEYS) are left out at any depth; an
    /// integer that no double holds exactly enters as its decimal text, so that two such integers are never
    /// taken for one.
    ///
    /// ```
    /// use serde_json::json;
    /// use stepmark_model::artifact::StateDigest;
    ///
    /// let before = StateDigest::of(&json!({"status": "draft", "updated": "2026-11-21"}));
    /// assert_eq!(before, StateDigest::of(&json!({"updated": "2026-11-22", "status": "draft"})));
    /// assert_ne!(before, StateDigest::of(&json!({"status": "done"})));
    /// ```
    pub fn of(state: &Json) -> Self {
        Self(FileHash::of(canonical(state).as_bytes()))
    }

    pub const fn from_digest(digest: [u8; 32]) -> Self {
        Self(FileHash::from_digest(digest))
    }

    pub const fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }
}

fn canonical(state: &Json) -> String {
    #[expect(
        clippy::expect_used,
        reason = "fails for numbers that are not finite, keys that are no text and keys that stand twice: a JSON value holds none"
    )]
    serde_json_canonicalizer::to_string(&without_times(state)).expect("a JSON value has a canonical form")
}

fn without_times(value: &Json) -> Json {
    match value {
        Json::Object(entries) => {
            let kept = entries.iter().filter(|(key, _)| !is_time_key(key));
            kept.map(|(key, value)| (key.clone(), without_times(value))).collect()
        }
        Json::Array(items) => items.iter().map(without_times).collect(),
        Json::Number(number) => {
            let magnitude = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs));
            let is_exact = magnitude.is_none_or(|magnitude| magnitude <= LARGEST_EXACT);
            if is_exact { value.clone() } else { Json::from(number.to_string()) }
        }
        Json::Null | Json::Bool(_) | Json::String(_) => value.clone(),
    }
}

impl fmt::Display for StateDigest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl fmt::Debug for StateDigest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl FromStr for StateDigest {
    type Err = FileHashError;

    fn from_str(text: &str) -> Result<Self, FileHashError> {
        text.parse().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn canonical_of(text: &str) -> String {
        canonical(&serde_json::from_str(text).unwrap())
    }

    /// The examples of RFC 8785, §3.2.2 and §3.2.3.
    #[test]
    fn the_canonical_form_is_that_of_rfc_8785() {
        let numbers = r#"{
            "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
            "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
            "literals": [null, true, false]
        }"#;
        assert_eq!(
            canonical_of(numbers),
            "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\
             \"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}"
        );
        let keys =
            r#"{"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\ud83d\ude00": 5, "\u0080": 6, "\u00f6": 7}"#;
        assert_eq!(
            canonical_of(keys),
            "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"ö\":7,\"€\":1,\"\u{1F600}\":5,\"\u{FB33}\":3}"
        );
    }

    /// Numbers are IEEE 754 doubles (RFC 8785, §3.2.2.3); beyond their exact integers the text counts.
    #[test]
    fn numbers_are_what_they_say() {
        for (text, wanted) in [
            ("[1, 1.0, -0.0, 1e2]", "[1,1,0,100]"),
            ("[9007199254740991, -9007199254740991]", "[9007199254740991,-9007199254740991]"),
            ("[9007199254740992, -9007199254740993]", "[\"9007199254740992\",\"-9007199254740993\"]"),
            ("[18446744073709551615]", "[\"18446744073709551615\"]"),
            ("[9007199254740992.0]", "[9007199254740992]"),
        ] {
            assert_eq!(canonical_of(text), wanted, "{text}");
        }
    }

    #[test]
    fn times_at_any_depth_and_key_order_are_no_state() {
        let state = json!({"a": {"x": 1, "y": [{"step": 2}]}, "status": "done"});
        let same = json!({
            "status": "done",
            "date": "2026-11-21",
            "a": {"updated_at": null, "y": [{"timestamp": {"deep": true}, "step": 2}], "x": 1.0},
        });
        assert_eq!(StateDigest::of(&state), StateDigest::of(&same));
        let other = json!({"a": {"x": 1, "y": [{"step": 3}]}, "status": "done"});
        assert_ne!(StateDigest::of(&state), StateDigest::of(&other));
        let as_value = json!({"a": {"x": 1, "y": [{"step": 2}]}, "status": "done", "next": "date"});
        assert_ne!(StateDigest::of(&state), StateDigest::of(&as_value));
    }

    #[test]
    fn is_written_and_read_as_hexadecimal() {
        // `printf '{}' | sha256sum`
        let empty = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
        let digest = StateDigest::of(&json!({}));
        assert_eq!(digest.to_string(), empty);
        assert_eq!(empty.parse(), Ok(digest));
        assert_eq!(serde_json::to_value(digest).unwrap(), json!(empty));
        assert_eq!(serde_json::from_value::<StateDigest>(json!(empty)).unwrap(), digest);
        assert!(serde_json::from_value::<StateDigest>(json!("44136")).is_err());
    }

    proptest::proptest! {
        /// A state that went through a file of JSON, as the journal keeps it, has the digest that it had.
        #[test]
        fn survives_a_round_trip(number: f64, integer: i64, text: String, key: String) {
            let state = json!({"n": [number, integer], key: text});
            let read = serde_json::from_str(&state.to_string()).unwrap();
            proptest::prop_assert_eq!(StateDigest::of(&state), StateDigest::of(&read));
        }
    }
}
