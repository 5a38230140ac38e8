//! The frontmatter of an artifact as one JSON value: what a state digest is taken of and what history keeps.

use std::collections::HashSet;

use serde_json::Value as Json;

use crate::artifact::view::Parsed;
use stepmark_frontmatter::{Entry, Node, ParseError, RegionError, Value, ValueError, Yaml};

/// A reason why an artifact has no state value: readers would disagree on what it says, so no digest may
/// stand for it (docs/design.md, "Digests"). Offsets count bytes of the whole file.
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
        /// The key as JSON spells it.
        key: String,
        /// The offset of its second occurrence.
        offset: usize,
    },
    #[error("the frontmatter refers to an anchor that cannot be followed")]
    Alias { source: ValueError },
}

impl StateUnreadable {
    /// The byte of the file that the error is about.
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

pub(in crate::artifact) fn state_value(parsed: &Parsed<'_, '_>) -> Result<Json, StateUnreadable> {
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

/// The first key that stands again in its mapping as JSON has it: `1` and `0x1` are one key there, and so are
/// two equal maps. [`Yaml::duplicate_keys`] compares source texts.
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
