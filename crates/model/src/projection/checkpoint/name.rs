//! Paths of checkpoints, and the keys under which those of a damaged file stand.

use std::collections::HashSet;

use crate::{
    artifact::{Artifact, FileHash, ProjectPath, ProjectPathError},
    journal::ArtifactKey,
};
use jiff::Timestamp;

pub const CHECKPOINTS: &str = ".stepmark/checkpoints";

const SHOWN: usize = 60;

/// The folder of an artifact's checkpoints, seen from the root: what is readable of the key, and a part of
/// its hash, as two keys may look alike.
pub fn checkpoint_folder(key: &ArtifactKey) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    let shown = key.as_str().split_once(':').map_or(key.as_str(), |(_, name)| name);
    let shown: String = shown.chars().take(SHOWN).map(|c| if is_plain(c) { c } else { '-' }).collect();
    let hash = FileHash::of(key.as_str().as_bytes()).to_string();
    // No name may start with a dot: such files are hidden.
    format!("{CHECKPOINTS}/{}-{}", shown.trim_start_matches('.'), &hash[..8])
}

/// The file of a checkpoint that is made at `at` of a file with this hash. Names sort by time.
pub fn checkpoint_path(
    key: &ArtifactKey,
    at: Timestamp,
    hash: FileHash,
) -> Result<ProjectPath, ProjectPathError> {
    ProjectPath::new(format!("{}/{}.json", checkpoint_folder(key), stem(at, hash)))
}

/// The path at which the whole of a damaged file is kept when a checkpoint is put back into it: beside the
/// checkpoint.
pub fn damaged_copy_path(
    checkpoint: &ProjectPath,
    at: Timestamp,
    hash: FileHash,
) -> Result<ProjectPath, ProjectPathError> {
    let folder = checkpoint.as_str().rsplit_once('/').map_or(CHECKPOINTS, |(folder, _)| folder);
    ProjectPath::new(format!("{folder}/{}.damaged.md", stem(at, hash)))
}

fn stem(at: Timestamp, hash: FileHash) -> String {
    format!("{}-{}", at.strftime("%Y%m%dT%H%M%S.%3fZ"), &hash.to_string()[..8])
}

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
    use crate::artifact::Artifact;

    fn key_of_id(id: &str) -> ArtifactKey {
        let path = ProjectPath::new("a.md").unwrap();
        ArtifactKey::of(&Artifact::read(path, format!("---\nid: '{id}'\n---\n").into_bytes()))
    }

    #[test]
    fn names_are_readable_unique_and_sort_by_time() {
        let path = ArtifactKey::of_path(&ProjectPath::new("docs/prd v2.md").unwrap());
        let folder = checkpoint_folder(&path);
        assert!(folder.starts_with(".stepmark/checkpoints/docs-prd-v2.md-"), "{folder}");
        let alike = ArtifactKey::of_path(&ProjectPath::new("docs/prd-v2.md").unwrap());
        assert_ne!(checkpoint_folder(&alike), folder);
        for id in ["../../etc", ".hidden", "a/b\\c", "é", &"x".repeat(300)] {
            let folder = checkpoint_folder(&key_of_id(id));
            let name = folder.strip_prefix(".stepmark/checkpoints/").unwrap();
            assert!(name.len() < 80 && !name.contains(['/', '\\']) && !name.starts_with('.'), "{name}");
        }
        let [early, late] = ["2026-11-22T10:15:00.5Z", "2026-11-22T10:15:01Z"]
            .map(|at| checkpoint_path(&path, at.parse().unwrap(), FileHash::of(b"x")).unwrap().to_string());
        assert!(early < late && early.ends_with("/20261122T101500.500Z-2d711642.json"), "{early} {late}");
    }

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
