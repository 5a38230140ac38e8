//! Paths of checkpoints.

use jiff::Timestamp;

use crate::{
    artifact::{FileHash, ProjectPath, ProjectPathError},
    journal::ArtifactKey,
};

/// The folder of all checkpoints, seen from the root.
pub const CHECKPOINTS: &str = ".stepmark/checkpoints";

/// The number of characters of a key that its folder shows.
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
///
/// # Errors
/// Never for keys that a path or an id gave.
pub fn checkpoint_path(
    key: &ArtifactKey,
    at: Timestamp,
    hash: FileHash,
) -> Result<ProjectPath, ProjectPathError> {
    ProjectPath::new(format!("{}/{}.json", checkpoint_folder(key), stem(at, hash)))
}

/// The path at which the whole of a damaged file is kept when a checkpoint is put back into it: beside the
/// checkpoint.
///
/// # Errors
/// When the checkpoint's path is none that [`checkpoint_path`] gives.
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
}
