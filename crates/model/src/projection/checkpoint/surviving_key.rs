//! The key of an artifact, as far as a file that may be damaged tells.

use std::collections::HashSet;

use crate::{
    artifact::{Artifact, ProjectPath},
    journal::ArtifactKey,
};

/// The number of lines of a damaged file that are read: frontmatter stands at its start.
const LINES: usize = 200;

/// The keys under which an artifact may have been known, the likeliest first: the one that its frontmatter
/// gives; where that cannot be read, those of lines in it that give an id; and its path.
pub fn surviving_keys(artifact: &Artifact) -> Vec<ArtifactKey> {
    let mut keys = vec![ArtifactKey::of(artifact)];
    if artifact.state_value().is_err() {
        let text = String::from_utf8_lossy(artifact.bytes());
        let id_lines = text
            .lines()
            .take(LINES)
            .filter(|line| line.starts_with("id:") || line.starts_with("stepmark_id:"));
        keys.extend(id_lines.map(|line| key_of_line(artifact.path(), line)));
    }
    keys.push(ArtifactKey::of_path(artifact.path()));
    let mut seen = HashSet::new();
    keys.retain(|key| seen.insert(key.clone()));
    keys
}

fn key_of_line(path: &ProjectPath, line: &str) -> ArtifactKey {
    ArtifactKey::of(&Artifact::read(path.clone(), format!("---\n{line}\n---\n").into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_survive_damage() {
        let keys = |file: &str| {
            let artifact = Artifact::read(ProjectPath::new("a.md").unwrap(), file.as_bytes().to_vec());
            surviving_keys(&artifact).iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(keys("---\nid: A-1\n---\n"), ["id:A-1", "path:a.md"]);
        assert_eq!(keys("---\na: [1\nid: 'A-1' # own\n---\n"), ["path:a.md", "id:A-1"]);
        assert_eq!(keys("---\nstepmark_id: x\nno end\n"), ["path:a.md", "id:x"]);
        assert_eq!(keys("---\na: 1\n---\nid: not this\n"), ["path:a.md"]);
    }
}
