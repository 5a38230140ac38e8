//! The instruction file of an agent, assembled from components, settings and state digests, with a meta file.
//! Pure; `workspace::instructions` reads and writes.
//!
//! The text has each artifact's state digest, but no progress and no time: it changes exactly if an input
//! does.

use std::{collections::BTreeMap, fmt::Write};

use crate::artifact::{FileHash, ProjectPath, StateDigest};
use serde::{Deserialize, Serialize};
use stepmark_frontmatter::Document;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionComponent {
    /// Also its name in the meta file.
    pub path: ProjectPath,
    /// Body with LF, trimmed of blank lines.
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the component `{path}` of the instructions is not UTF-8; save it as UTF-8")]
pub struct ComponentNotText {
    pub path: ProjectPath,
}

impl InstructionComponent {
    /// Drops the frontmatter: state is not an instruction.
    pub fn read(path: ProjectPath, bytes: &[u8]) -> Result<Self, ComponentNotText> {
        let body = &bytes[Document::scan(bytes).body().range()];
        match std::str::from_utf8(body) {
            Ok(text) => {
                let text = text.replace("\r\n", "\n").replace('\r', "\n");
                Ok(Self { path, text: text.trim().to_owned() })
            }
            Err(_) => Err(ComponentNotText { path }),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructedArtifact {
    pub path: ProjectPath,
    /// `None`: unreadable frontmatter.
    pub digest: Option<StateDigest>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstructionInputs {
    /// In the order of the configuration.
    pub components: Vec<InstructionComponent>,
    pub settings: BTreeMap<String, String>,
    /// By path.
    pub artifacts: Vec<InstructedArtifact>,
}

const NOTICE: &str = "<!-- Assembled by stepmark: edits here do not stay: when it is written anew, the edited file is kept beside it \
                      (`.edited`). Change the components, then run `stepmark instructions build`. -->";

/// Edited or not: by the start of its notice.
pub fn is_instruction_file(bytes: &[u8]) -> bool {
    bytes.starts_with(b"<!-- Assembled by stepmark:")
}

const STATE: &str = "## State of the work

How far the work is does not stand here: it stands in the frontmatter of the artifacts below, and changes while you work.
Never edit `status` or a list of steps by hand:

    stepmark next [ARTIFACT]            what comes next, and the file to read for it
    stepmark complete ARTIFACT STEP     a step is done
    stepmark transition ARTIFACT STATE  a new status; without STATE the legal moves
    stepmark resume --json              where you were, whenever you are unsure

A refusal (exit code 1) is an answer: do what it says.
";

pub fn assemble(inputs: &InstructionInputs) -> String {
    let mut text = format!("{NOTICE}\n");
    for component in inputs.components.iter().filter(|component| !component.text.is_empty()) {
        text += "\n";
        text += &component.text;
        text += "\n";
    }
    if !inputs.settings.is_empty() {
        text += "\n## Settings\n\n";
        for (name, value) in &inputs.settings {
            line(&mut text, name, &spelled(value));
        }
    }
    text += "\n";
    text += STATE;
    if !inputs.artifacts.is_empty() {
        text += "\n## Artifacts\n\nEach with the digest of the state in which these instructions were assembled.\n\n";
        for InstructedArtifact { path, digest } in &inputs.artifacts {
            let digest =
                digest.map_or_else(|| "unreadable".to_owned(), |digest| digest.to_string()[..12].to_owned());
            line(&mut text, path.as_str(), &digest);
        }
    }
    text
}

fn line(text: &mut String, name: &str, value: &str) {
    let _infallible = writeln!(text, "- {}: {value}", code(name));
}

fn code(name: &str) -> String {
    let is_plain = !name.contains(|letter: char| letter == '`' || letter.is_control());
    if is_plain { format!("`{name}`") } else { format!("`` {} ``", name.escape_debug()) }
}

fn spelled(value: &str) -> String {
    let is_plain = !value.is_empty() && value.trim() == value && !value.contains(char::is_control);
    if is_plain { value.to_owned() } else { serde_json::Value::from(value).to_string() }
}

/// Changed settings and artifacts by name; "a component" for other text.
pub(crate) fn changed_inputs(cached: &str, assembled: &str) -> Vec<String> {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
    let (before, after) = (lines(cached), lines(assembled));
    let mut changed = Vec::new();
    for line in before.symmetric_difference(&after) {
        let name = line.strip_prefix("- `").and_then(|rest| Some(rest.split_once("`: ")?.0.to_owned()));
        let name = name.unwrap_or_else(|| "a component".to_owned());
        if !changed.contains(&name) {
            changed.push(name);
        }
    }
    changed.sort();
    changed
}

/// Appended to the instruction file's name.
pub const META_SUFFIX: &str = ".meta";

/// Readable by claude-mpm (docs/formats.md). Unlike there, the size is in bytes, and the hash is compared
/// with the file on every use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionMeta {
    /// Of the format: `1.0`.
    pub version: String,
    pub content_type: String,
    pub components: Vec<String>,
    /// SHA-256 of the instruction file, 64 hexadecimal digits.
    pub content_hash: String,
    pub content_size_bytes: u64,
    /// First assembly of these bytes (RFC 3339); not in any hash.
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
    /// Missing, unreadable or outdated: a build was interrupted between the two files.
    MetaBehind,
    /// The file differs from its meta file.
    Tampered {
        expected: String,
        found: FileHash,
    },
}

impl CacheState {
    /// `wanted` and `text` result from current inputs. Hashes the file on every use.
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
    use serde_json::json;

    use super::*;

    fn path(text: &str) -> ProjectPath {
        ProjectPath::new(text).unwrap()
    }

    fn component(text: &str) -> InstructionComponent {
        InstructionComponent::read(path("docs/agent.md"), text.as_bytes()).unwrap()
    }

    fn inputs() -> InstructionInputs {
        InstructionInputs {
            components: vec![component("# Agent\n\nBe kind.\n"), component("\n\n")],
            settings: BTreeMap::from([
                ("user_name".to_owned(), "Ada".to_owned()),
                ("note".to_owned(), "a\nb".to_owned()),
            ]),
            artifacts: vec![
                InstructedArtifact { path: path("docs/prd.md"), digest: Some(StateDigest::of(&json!({}))) },
                InstructedArtifact { path: path("docs/odd`.md"), digest: None },
            ],
        }
    }

    #[test]
    fn the_text_holds_every_input_and_nothing_else() {
        insta::assert_snapshot!(assemble(&inputs()), @r#"
        <!-- Assembled by stepmark: edits here do not stay: when it is written anew, the edited file is kept beside it (`.edited`). Change the components, then run `stepmark instructions build`. -->

        # Agent

        Be kind.

        ## Settings

        - `note`: "a\nb"
        - `user_name`: Ada

        ## State of the work

        How far the work is does not stand here: it stands in the frontmatter of the artifacts below, and changes while you work.
        Never edit `status` or a list of steps by hand:

            stepmark next [ARTIFACT]            what comes next, and the file to read for it
            stepmark complete ARTIFACT STEP     a step is done
            stepmark transition ARTIFACT STATE  a new status; without STATE the legal moves
            stepmark resume --json              where you were, whenever you are unsure

        A refusal (exit code 1) is an answer: do what it says.

        ## Artifacts

        Each with the digest of the state in which these instructions were assembled.

        - `docs/prd.md`: 44136fa355b3
        - `` docs/odd`.md ``: unreadable
        "#);
    }

    #[test]
    fn its_own_files_are_known() {
        assert!(is_instruction_file(assemble(&inputs()).as_bytes()));
        assert!(!is_instruction_file(b"# Agent\n") && !is_instruction_file(b""));
    }

    #[test]
    fn line_ends_frontmatter_and_surrounding_blanks_of_components_do_not_matter() {
        for text in [
            "# Agent\r\n\r\nBe kind.\r\n",
            "---\nstepsCompleted: [1]\nstatus: draft\n---\n# Agent\n\nBe kind.",
            "\u{FEFF}\n# Agent\n\nBe kind.\n\n\n",
        ] {
            assert_eq!(component(text).text, "# Agent\n\nBe kind.", "{text:?}");
        }
        assert!(InstructionComponent::read(path("a.md"), b"\xff").is_err());
    }

    #[test]
    fn what_changed_is_named() {
        let before = assemble(&inputs());
        let mut after = inputs();
        assert_eq!(changed_inputs(&before, &assemble(&after)), [""; 0]);
        after.artifacts[0].digest = None;
        after.settings.insert("user_name".to_owned(), "Bob".to_owned());
        after.components[0].text.push_str("\nMore.");
        assert_eq!(changed_inputs(&before, &assemble(&after)), ["a component", "docs/prd.md", "user_name"]);
    }
}

#[cfg(test)]
mod instruction_meta_tests {
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
