//! The meta file beside an instruction file, and what both together say.

use serde::{Deserialize, Serialize};

use super::instructions::changed_inputs;
use crate::artifact::{FileHash, ProjectPath};

/// The name of the meta file: that of the instruction file and this.
pub const META_SUFFIX: &str = ".meta";

/// The meta file, readable by claude-mpm (docs/formats.md). Unlike there the size counts bytes, and the hash
/// is compared with the bytes of the file on every use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionMeta {
    /// The version of the format: `1.0`.
    pub version: String,
    pub content_type: String,
    pub components: Vec<String>,
    /// SHA-256 of the instruction file, as 64 hexadecimal digits.
    pub content_hash: String,
    pub content_size_bytes: u64,
    /// The time at which these bytes were assembled first (RFC 3339). No part of any hash.
    pub cached_at: String,
}

impl InstructionMeta {
    pub fn of(text: &str, components: &[ProjectPath], cached_at: String) -> Self {
        Self {
            version: "1.0".to_owned(),
            content_type: "assembled_instruction".to_owned(),
            components: components.iter().map(ToString::to_string).collect(),
            content_hash: FileHash::of(text.as_bytes()).to_string(),
            content_size_bytes: text.len() as u64,
            cached_at,
        }
    }

    /// Reads a meta file; `None` where it is none of this format.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let fields = serde_json::json!(self);
        format!("{fields:#}\n").into_bytes()
    }

    pub fn says_the_same(&self, other: &Self) -> bool {
        Self { cached_at: other.cached_at.clone(), ..self.clone() } == *other
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CacheState {
    Current,
    Absent,
    InputsChanged {
        changed: Vec<String>,
    },
    /// The meta file is missing, unreadable or behind: a build was interrupted between the two.
    MetaBehind,
    /// The bytes of the file are not those that the meta file vouches for.
    Tampered {
        /// The digest in the meta file.
        expected: String,
        found: FileHash,
    },
}

impl CacheState {
    /// Judges the cached `file` and the bytes of its `meta` file; `wanted` and `text` are what the inputs
    /// give now. The file is hashed here, on every use.
    pub fn judge(file: Option<&[u8]>, meta: Option<&[u8]>, text: &str, wanted: &InstructionMeta) -> Self {
        let Some(file) = file else { return Self::Absent };
        let found = FileHash::of(file);
        let Some(meta) = meta.and_then(InstructionMeta::read) else { return Self::MetaBehind };
        let is_vouched_for = meta.content_hash.parse() == Ok(found);
        match (is_vouched_for, file == text.as_bytes()) {
            (true, true) if meta.says_the_same(wanted) => Self::Current,
            (_, true) => Self::MetaBehind,
            (true, false) => {
                let changed = changed_inputs(&String::from_utf8_lossy(file), text);
                Self::InputsChanged { changed }
            }
            (false, false) => Self::Tampered { expected: meta.content_hash, found },
        }
    }

    pub const fn word(&self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Absent => "absent",
            Self::InputsChanged { .. } | Self::MetaBehind => "stale",
            Self::Tampered { .. } => "tampered",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "now é\n";

    fn meta(text: &str) -> InstructionMeta {
        let components = [ProjectPath::new("docs/agent.md").unwrap()];
        InstructionMeta::of(text, &components, "2026-11-22T00:00:00Z".to_owned())
    }

    fn verdict(file: Option<&str>, meta_bytes: Option<&[u8]>) -> &'static str {
        CacheState::judge(file.map(str::as_bytes), meta_bytes, TEXT, &meta(TEXT)).word()
    }

    #[test]
    fn nothing_but_what_the_meta_vouches_for_and_the_inputs_give_is_current() {
        let (now, before) = (meta(TEXT).to_bytes(), meta("before\n").to_bytes());
        let later = InstructionMeta { cached_at: "later".to_owned(), ..meta(TEXT) }.to_bytes();
        let other_names = InstructionMeta { components: Vec::new(), ..meta(TEXT) }.to_bytes();
        for (file, meta_bytes, wanted) in [
            (Some(TEXT), Some(&now[..]), "current"),
            (Some(TEXT), Some(&later), "current"),
            (Some(TEXT), Some(&other_names), "stale"),
            (Some("before\n"), Some(&before), "stale"),
            // Crashes between file and meta file.
            (Some(TEXT), Some(&before), "stale"),
            (Some(TEXT), None, "stale"),
            (Some("before\n"), None, "stale"),
            (Some(TEXT), Some(b"{"), "stale"),
            // Edits of the file, with inputs as they were and with others.
            (Some("now e\n"), Some(&now), "tampered"),
            (Some("before!\n"), Some(&before), "tampered"),
            (Some(""), Some(&now), "tampered"),
            (None, Some(&now), "absent"),
            (None, None, "absent"),
        ] {
            assert_eq!(verdict(file, meta_bytes), wanted, "{file:?} {}", meta_bytes.is_some());
        }
    }

    #[test]
    fn the_file_has_the_fields_that_claude_mpm_reads() {
        insta::assert_snapshot!(String::from_utf8(meta(TEXT).to_bytes()).unwrap(), @r#"
        {
          "version": "1.0",
          "content_type": "assembled_instruction",
          "components": [
            "docs/agent.md"
          ],
          "content_hash": "424bd795cc96657323b8d8d5eb16b9bdf8eb66f9fb6047e5b8fa861a66aa917d",
          "content_size_bytes": 7,
          "cached_at": "2026-11-22T00:00:00Z"
        }
        "#);
        assert_eq!(InstructionMeta::read(&meta(TEXT).to_bytes()), Some(meta(TEXT)));
    }
}
