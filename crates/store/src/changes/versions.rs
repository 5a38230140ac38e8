//! A file before and after a change, each parsed once.

use stepmark_frontmatter::{Document, Yaml, diff};
use stepmark_model::{
    artifact::{Artifact, ProjectPath, state_region},
    journal::Spelling,
};

/// The artifact that a change leads from, and the one that it leads to; `None` where there is no file.
#[derive(Debug)]
pub(crate) struct Versions {
    pub(crate) old: Option<Artifact>,
    pub(crate) new: Option<Artifact>,
    /// The spelling of the frontmatter that the change makes another of.
    pub(crate) spelling: Option<Spelling>,
}

impl Versions {
    /// Reads both.
    pub(crate) fn read(path: &ProjectPath, [old, new]: [Option<&[u8]>; 2]) -> Self {
        let tree = old.and_then(|old| state_of(path, old));
        let read = |bytes, tree| Artifact::read_with_value(path.clone(), bytes, tree);
        let (old, new) = (old.map(|old| read(old, tree.as_ref())), new.map(|new| read(new, None)));
        Self::of(old, tree.as_ref(), new)
    }

    /// Puts together what was read; `tree` is the frontmatter of `old`.
    pub(crate) fn of(old: Option<Artifact>, tree: Option<&Yaml<'_>>, new: Option<Artifact>) -> Self {
        // Where there is no state to compare, the texts alone lead back.
        let changes = |old: &Artifact, new: &Artifact| {
            old.state_value().ok().zip(new.state_value().ok()).map(|(old, new)| diff(&old, &new))
        };
        let spelling = old.as_ref().zip(new.as_ref()).and_then(|(old, new)| {
            let changes = changes(old, new).unwrap_or_default();
            Spelling::of(&old.region(), (old.bytes(), tree), new.bytes(), &changes)
        });
        Self { old, new, spelling }
    }
}

/// The YAML that holds the state of the file at `path`, if it can be read.
pub(crate) fn state_of<'b>(path: &ProjectPath, bytes: &'b [u8]) -> Option<Yaml<'b>> {
    Yaml::parse(bytes, state_region(path).find(&Document::scan(bytes)).ok()?).ok()
}
