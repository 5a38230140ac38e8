//! What a chain is built from: the files of a workflow, already read.

use crate::artifact::ProjectPath;

/// The keys under which step files name the artifact that they write.
pub(super) const OUTPUT_KEYS: [&str; 5] =
    ["outputFile", "default_output_file", "output_file", "wipFile", "progressFile"];

/// One Markdown file of a workflow: a step or an entry (`workflow.md`, `SKILL.md`).
///
/// The text is borrowed from whoever read the file; nothing here touches the file system.
#[derive(Clone, Debug)]
pub struct StepSource<'text> {
    /// Where the file stands.
    pub path: ProjectPath,
    /// The top-level scalar keys of its frontmatter, in the order of the file; a repeated key appears repeatedly.
    pub keys: Vec<(String, String)>,
    /// What follows the frontmatter.
    pub body: &'text str,
}

impl StepSource<'_> {
    /// The value of the first key called `key`.
    pub(crate) fn key(&self, key: &str) -> Option<&str> {
        self.keys.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }
}
