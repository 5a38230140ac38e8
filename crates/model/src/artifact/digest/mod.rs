//! Digests of files and of frontmatter state.

mod file_hash;

use std::{collections::HashSet, fmt, str::FromStr};

use crate::artifact::{is_time_key, view::Parsed};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use stepmark_frontmatter::{Entry, Node, ParseError, RegionError, Value, ValueError, Yaml};

pub use file_hash::{FileHash, FileHashError, LineEndHasher, LineEndHashes};

/// SHA-256 of the canonical JSON (RFC 8785) of a state without its time keys (docs/design.md, "Digests").
/// Independent of line ends, comments, key order, quoting and times. Displayed as 64 lower-case hexadecimal
/// digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StateDigest(FileHash);

/// The largest integer exact in a double, and so in RFC 8785 (RFC 7493, §2.2).
const LARGEST_EXACT: u64 = (1 << 53) - 1;

impl StateDigest {
    /// Skips [`TIME_KEYS`](crate::artifact::TIME_KEYS) at any depth. Integers beyond the exact range of a
    /// double count as decimal text, so that different ones never collide.
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

/// An artifact without state value: readers would disagree on its content, so it has no digest
/// (docs/design.md, "Digests"). Offsets count bytes of the whole file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StateUnreadable {
    #[error("the frontmatter that opens in line 1 is never closed; close it with a line `---`")]
    FenceUnclosed { offset: usize },
    #[error(transparent)]
    NoBlock { source: RegionError },
    #[error("the frontmatter is no YAML that can be read")]
    NotYaml { source: ParseError },
    #[error("the frontmatter holds no keys: write it as `key: value` lines")]
    NotAMapping { offset: usize },
    #[error("the frontmatter holds several YAML documents: keep one")]
    SeveralDocuments { offset: usize },
    #[error("the key `{key}` stands twice, and readers disagree on which one counts: remove one")]
    KeyTwice {
        /// In JSON spelling.
        key: String,
        /// Of its second occurrence.
        offset: usize,
    },
    #[error("the frontmatter refers to an anchor that cannot be followed")]
    Alias { source: ValueError },
}

impl StateUnreadable {
    pub const fn offset(&self) -> usize {
        match self {
            Self::FenceUnclosed { offset }
            | Self::NotAMapping { offset }
            | Self::SeveralDocuments { offset }
            | Self::KeyTwice { offset, .. } => *offset,
            Self::NoBlock { .. } => 0,
            Self::Alias { source } => source.offset(),
            Self::NotYaml { source } => source.offset(),
        }
    }
}

pub(super) fn state_value(parsed: &Parsed<'_, '_>) -> Result<Json, StateUnreadable> {
    let yaml = match parsed {
        Parsed::Absent => return Ok(empty()),
        Parsed::Unclosed(opening) => return Err(StateUnreadable::FenceUnclosed { offset: opening.start }),
        Parsed::NoBlock(source) => return Err(StateUnreadable::NoBlock { source: source.clone() }),
        Parsed::NotYaml(source) => return Err(StateUnreadable::NotYaml { source: source.clone() }),
        Parsed::Own(yaml) => yaml,
        Parsed::Given(yaml) => yaml,
    };
    if yaml.documents() > 1 {
        return Err(StateUnreadable::SeveralDocuments { offset: yaml.span().start });
    }
    let Some(root) = yaml.root().filter(|root| !root.is_null()) else { return Ok(empty()) };
    let value = Value::of(yaml, root).map_err(|source| StateUnreadable::Alias { source })?;
    if !matches!(value, Value::Mapping(_)) {
        return Err(StateUnreadable::NotAMapping { offset: root.span.start });
    }
    match key_twice(yaml, root)? {
        Some((key, offset)) => Err(StateUnreadable::KeyTwice { key, offset }),
        None => Ok(value.to_json()),
    }
}

fn empty() -> Json {
    Json::Object(serde_json::Map::new())
}

/// Compares keys as JSON: `1` and `0x1` are equal, and so are two equal maps. [`Yaml::duplicate_keys`]
/// compares source texts.
fn key_twice(yaml: &Yaml<'_>, root: &Node<'_>) -> Result<Option<(String, usize)>, StateUnreadable> {
    for node in root.descend() {
        let mut seen = HashSet::with_capacity(node.entries().len());
        for Entry { key, .. } in node.entries() {
            let text =
                Value::of(yaml, key).map_err(|source| StateUnreadable::Alias { source })?.to_json_key();
            if seen.contains(&text) {
                return Ok(Some((text, key.span.start)));
            }
            seen.insert(text);
        }
    }
    Ok(None)
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

#[cfg(test)]
mod state_value_tests {
    use serde_json::json;

    use super::*;
    use crate::artifact::{Artifact, ProjectPath, StateDigest};

    fn read(text: &str) -> Artifact {
        Artifact::read(ProjectPath::new("docs/prd.md").unwrap(), text.as_bytes().to_vec())
    }

    #[test]
    fn frontmatter_is_one_value() {
        for (text, wanted) in [
            ("", json!({})),
            ("# PRD\n", json!({})),
            ("---\n---\nbody\n", json!({})),
            ("---\n# only a comment\n---\n", json!({})),
            ("---\n~\n---\n", json!({})),
            ("# PRD\n\n---\nstatus: done\n---\n", json!({})),
            (
                "---\nstepsCompleted: [1, 'step-02', 02b]\n? [a, 1]\n: x\n2: y\ndate: 2026-11-21\n---\n",
                json!({"stepsCompleted": [1, "step-02", "02b"], "[\"a\",1]": "x", "2": "y", "date": "2026-11-21"}),
            ),
            ("---\na: &x [1]\nb: *x\n---\n", json!({"a": [1], "b": [1]})),
            ("---\na: {k: 1}\nb: {k: 1}\n---\n", json!({"a": {"k": 1}, "b": {"k": 1}})),
        ] {
            assert_eq!(read(text).state_value(), Ok(wanted), "{text:?}");
        }
    }

    #[test]
    fn what_readers_disagree_on_has_no_value() {
        for (text, wanted, offset) in [
            ("---\na: 1\n", "never closed", 0),
            ("\u{FEFF}---\na: 1\n", "never closed", 3),
            ("---\na: [1\n---\n", "no YAML", 7),
            ("---\n- a\n---\n", "holds no keys", 4),
            ("---\na: 1\na: 2\n---\n", "`a` stands twice", 9),
            ("---\na: [{b: 1, 'b': 2}]\n---\n", "`b` stands twice", 15),
            ("---\n1: a\n0x1: b\n---\n", "`1` stands twice", 9),
            ("---\n? {a: 1}\n: x\n? {a: 1}\n: y\n---\n", "stands twice", 19),
            ("---\nglob: *.md\n---\n", "cannot be followed", 10),
            ("---\na: &a [*a]\n---\n", "cannot be followed", 11),
            ("---\na: 1\n--- b\n---\n", "several YAML documents", 4),
        ] {
            let error = read(text).state_value().unwrap_err();
            assert!(error.to_string().contains(wanted), "{text:?}: {error}");
            assert_eq!(error.offset(), offset, "{text:?}: {error}");
        }
    }

    #[test]
    fn an_alias_bomb_has_no_value() {
        let mut text = "---\na0: &a0 [1, 1, 1, 1, 1, 1, 1, 1]\n".to_owned();
        for level in 1..8 {
            let inner = format!("*a{}, ", level - 1).repeat(8);
            text += &format!("a{level}: &a{level} [{inner}]\n");
        }
        let error = read(&(text + "---\n")).state_value().unwrap_err();
        assert!(
            matches!(error, StateUnreadable::Alias { source: ValueError::TooManyNodes { .. } }),
            "{error}"
        );
    }

    #[test]
    fn spelling_is_no_state() {
        let digest = |text: &str| StateDigest::of(&read(text).state_value().unwrap());
        let wanted = digest("---\nstatus: done\ntext: |\n  one\n  two\nsteps: [1, a]\n---\nbody\n");
        for same in [
            "---\r\nstatus: done\r\ntext: |\r\n  one\r\n  two\r\nsteps: [1, a]\r\n---\r\nbody\r\n",
            "\u{FEFF}---\nsteps: # comment\n  - 1\n  - 'a'\nstatus: \"done\"\ntext: \"one\\ntwo\\n\"\n---\nother body\n",
            "---\nstatus: done\nlastSaved: 2026-11-21\ntext: |\n  one\n  two\nsteps: [1.0, a]\n---\n",
        ] {
            assert_eq!(digest(same), wanted, "{same:?}");
        }
        assert_ne!(digest("---\nstatus: done\ntext: |\n  one\n  two\nsteps: ['1', a]\n---\n"), wanted);
    }
}
