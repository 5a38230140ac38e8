//! The key of an artifact in history, gates and leases.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::artifact::{Artifact, ProjectPath};

/// The identity of an artifact within its project: `id:` and its own id, else `id:` and the `stepmark_id`
/// that `track` gave to it, else `path:` and where it stands (docs/design.md, "Identity").
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ArtifactKey(String);

impl ArtifactKey {
    pub fn of(artifact: &Artifact) -> Self {
        let state = artifact.state();
        let id = [&state.id, &state.stepmark_id].into_iter().flatten().find_map(|field| field.filled());
        id.map_or_else(|| Self::of_path(artifact.path()), Self::of_id)
    }

    pub fn of_id(id: &str) -> Self {
        Self(format!("id:{id}"))
    }

    /// The key of an artifact that has no id, or cannot be read.
    pub fn of_path(path: &ProjectPath) -> Self {
        Self(format!("path:{path}"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether it is a path only, and so is lost when the file moves.
    pub fn is_path(&self) -> bool {
        self.0.starts_with("path:")
    }
}

impl fmt::Display for ArtifactKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_own_id_comes_first() {
        let key = |frontmatter: &str| {
            let path = ProjectPath::new("docs/prd.md").unwrap();
            let file = format!("---\n{frontmatter}\n---\n");
            ArtifactKey::of(&Artifact::read(path, file.into_bytes())).to_string()
        };
        assert_eq!(key("id: A-1\nstepmark_id: x"), "id:A-1");
        assert_eq!(key("id:\nstepmark_id: x"), "id:x");
        assert_eq!(key("status: draft"), "path:docs/prd.md");
        assert!(ArtifactKey::of_path(&ProjectPath::new("a.md").unwrap()).is_path());
    }
}
