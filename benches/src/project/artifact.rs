//! The artifacts that are measured: 2 KiB each, the same in every run.

use super::{frontmatter::frontmatter, random::Random};

/// The size of an artifact in bytes.
pub(crate) const SIZE: usize = 2048;

/// The number of artifacts in a folder.
const PER_FOLDER: usize = 200;

const WORDS: [&str; 16] = [
    "the", "account", "must", "when", "stores", "a", "payment", "user", "within", "seconds", "list", "every",
    "change", "that", "shows", "order",
];

/// A file to write.
pub(crate) struct Artifact {
    /// Its path below the root of the project, with `/`.
    pub(crate) path: String,
    /// Its bytes.
    pub(crate) text: String,
}

/// The artifact `number`.
pub(crate) fn artifact(number: usize) -> Artifact {
    let frontmatter = frontmatter(number);
    let mut text = format!("---\n{}---\n\n# {}\n\n", frontmatter.text, frontmatter.stem);
    let mut random = Random::new(!(number as u64));
    let mut column = 0;
    while text.len() < SIZE - 1 {
        let word = random.pick(&WORDS);
        let room = SIZE - 1 - text.len();
        text.push_str(&word[..word.len().min(room)]);
        column += word.len() + 1;
        if text.len() < SIZE - 1 {
            text.push(if column > 90 { '\n' } else { ' ' });
        }
        column = if column > 90 { 0 } else { column };
    }
    text.truncate(SIZE - 1);
    text.push('\n');
    Artifact { path: format!("docs/area-{:04}/{}.md", number / PER_FOLDER, frontmatter.stem), text }
}
