//! Markdown files of a workflow, already read.

use std::borrow::Cow;

use crate::artifact::ProjectPath;
use stepmark_frontmatter::{Document, Frontmatter, Yaml};

/// The keys under which step files name the artifact that they write.
pub(super) const OUTPUT_KEYS: [&str; 5] =
    ["outputFile", "default_output_file", "output_file", "wipFile", "progressFile"];

/// One Markdown file of a workflow: a step or an entry (`workflow.md`, `SKILL.md`).
///
/// The text is borrowed from whoever read the file; nothing here touches the file system.
#[derive(Clone, Debug)]
pub struct WorkflowFile<'text> {
    /// The path of the file.
    pub path: ProjectPath,
    /// The top-level scalar keys of its frontmatter, in the order of the file; a repeated key appears
    /// repeatedly.
    pub keys: Vec<(String, String)>,
    /// The text after the frontmatter.
    pub body: Cow<'text, str>,
    /// The reason why the frontmatter cannot be read; there are no keys then.
    pub unreadable: Option<String>,
}

impl<'text> WorkflowFile<'text> {
    /// Reads the bytes of the file at `path`. Reading never fails: a file of 6.0.4 itself has a frontmatter
    /// that is no YAML (`'don\'t'`), and its chain is still to be followed, by prose and numbers.
    pub fn read(path: ProjectPath, bytes: &'text [u8]) -> Self {
        let document = Document::scan(bytes);
        let body = &bytes[document.body().range()];
        // The check of the whole is many times as fast as the search for what is to be replaced, which is
        // next to never.
        let body = std::str::from_utf8(body).map_or_else(|_| String::from_utf8_lossy(body), Cow::Borrowed);
        let (keys, unreadable) = match document.frontmatter() {
            Frontmatter::Absent => (Vec::new(), None),
            Frontmatter::Unclosed { .. } => {
                (Vec::new(), Some("the opening fence is never closed".to_owned()))
            }
            Frontmatter::Present { content, .. } => match Yaml::parse(bytes, content) {
                Ok(yaml) => (scalars(&yaml), None),
                Err(error) => (Vec::new(), Some(error.to_string())),
            },
        };
        Self { path, keys, body, unreadable }
    }

    /// The value of the first key called `key`.
    pub(super) fn key(&self, key: &str) -> Option<&str> {
        self.keys.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }
}

fn scalars(yaml: &Yaml<'_>) -> Vec<(String, String)> {
    let entries = yaml.root().map_or(&[][..], |root| root.entries());
    let scalar = |entry: &stepmark_frontmatter::Entry<'_>| {
        Some((entry.key.as_key()?.to_owned(), entry.value.text()?.to_owned()))
    };
    entries.iter().filter_map(scalar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> WorkflowFile<'_> {
        WorkflowFile::read(ProjectPath::new("steps/step-01.md").unwrap(), text.as_bytes())
    }

    #[test]
    fn keeps_scalars_in_order() {
        let file = read("---\nname: 'a'\nlist: [1]\nnextStepFile: ./b.md # c\nname: d\n---\nbody\n");
        let keys: Vec<_> = file.keys.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(keys, [("name", "a"), ("nextStepFile", "./b.md"), ("name", "d")]);
        assert_eq!((file.key("name"), file.key("list"), &*file.body), (Some("a"), None, "body\n"));
    }

    #[test]
    fn a_broken_frontmatter_leaves_the_body() {
        let file = read("---\ndescription: 'don\\'t'\n---\nLoad ./step-02.md\n");
        assert!(file.unreadable.is_some() && file.keys.is_empty());
        assert_eq!(&*file.body, "Load ./step-02.md\n");
        assert!(read("---\nname: a\n").unreadable.is_some());
        assert!(read("# No frontmatter\n").unreadable.is_none());
    }
}
