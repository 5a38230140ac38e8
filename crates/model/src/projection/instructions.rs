//! The instruction file of an agent: assembled from components, settings and state digests, and the meta file
//! beside it. Pure; `workspace::instructions` reads and writes.
//!
//! State stays in the artifacts: the text names each artifact with the digest of its state, never its
//! progress, and holds no time. So it changes exactly when an input does.

use std::{collections::BTreeMap, fmt::Write};

use crate::artifact::{ProjectPath, StateDigest};
use stepmark_frontmatter::Document;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionComponent {
    /// Its path; its name in the meta file.
    pub path: ProjectPath,
    /// Its body, lines ended by LF, without blank lines around it.
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the component `{path}` of the instructions is not UTF-8; save it as UTF-8")]
pub struct ComponentNotText {
    pub path: ProjectPath,
}

impl InstructionComponent {
    /// Reads the bytes of a component. Its frontmatter is left out: that is state, and state is no
    /// instruction.
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
    /// The digest of its state; `None` where its frontmatter cannot be read.
    pub digest: Option<StateDigest>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstructionInputs {
    /// The components, in the order of the configuration.
    pub components: Vec<InstructionComponent>,
    pub settings: BTreeMap<String, String>,
    /// The artifacts of the project, in the order of their paths.
    pub artifacts: Vec<InstructedArtifact>,
}

const NOTICE: &str = "<!-- Assembled by stepmark: edits here do not stay: when it is written anew, the edited file is kept beside it \
                      (`.edited`). Change the components, then run `stepmark instructions build`. -->";

/// Returns whether the bytes are those of an instruction file, edited or not: they begin as its notice does.
pub fn is_instruction_file(bytes: &[u8]) -> bool {
    bytes.starts_with(b"<!-- Assembled by stepmark:")
}

/// The paragraph that tells an agent where state is.
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
    // Writing into a `String` cannot fail.
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

/// The differences between two assembled texts, for people: the names of settings and artifacts, and "a
/// component".
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
