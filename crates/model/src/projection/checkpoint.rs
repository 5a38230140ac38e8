//! Checkpoints: an artifact's frontmatter at one moment, in an immutable file tracked by git.

use std::collections::HashSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::{
    artifact::{
        Artifact, FileHash, ProjectPath, ProjectPathError, StateDigest, StateUnreadable, file_with_state,
    },
    journal::{ArtifactKey, EventId},
};

pub const CHECKPOINTS: &str = ".stepmark/checkpoints";

const SCHEMA: &str = "stepmark.checkpoint/1";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    schema: String,
    pub key: ArtifactKey,
    pub path: ProjectPath,
    pub event: EventId,
    /// `None` outside of git, or before the first commit.
    pub git_commit: Option<String>,
    pub at: Timestamp,
    pub message: Option<String>,
    pub file_hash: FileHash,
    pub state_digest: StateDigest,
    /// Of `frontmatter`, comments included.
    pub frontmatter_hash: FileHash,
    /// Bytes between the fences, or of the state block.
    pub frontmatter: String,
    #[serde(flatten)]
    pub more: Map<String, Json>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointProblem {
    #[error("it is no checkpoint: {reason}")]
    NotACheckpoint {
        /// Of the JSON reader.
        reason: String,
    },
    #[error("its format is `{found}`, and this version reads `{SCHEMA}`")]
    Schema { found: String },
    #[error("it was changed since it was written: its frontmatter does not have the hash beside it")]
    Changed,
    #[error("its frontmatter is not the state that it names")]
    WrongState,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoCheckpoint {
    #[error("it has no frontmatter")]
    NoFrontmatter,
    #[error(transparent)]
    Unreadable(#[from] StateUnreadable),
    #[error("its frontmatter is no UTF-8")]
    NotUtf8,
}

#[derive(Clone, Debug)]
pub struct CheckpointContext {
    pub event: EventId,
    pub git_commit: Option<String>,
    pub at: Timestamp,
    pub message: Option<String>,
}

impl Checkpoint {
    pub fn of(artifact: &Artifact, context: CheckpointContext) -> Result<Self, NoCheckpoint> {
        let (frontmatter, state_digest) = Self::state_of(artifact)?;
        let CheckpointContext { event, git_commit, at, message } = context;
        Ok(Self {
            schema: SCHEMA.to_owned(),
            key: ArtifactKey::of(artifact),
            path: artifact.path().clone(),
            event,
            git_commit,
            at,
            message,
            file_hash: artifact.file_hash(),
            state_digest,
            frontmatter_hash: FileHash::of(frontmatter.as_bytes()),
            frontmatter: frontmatter.to_owned(),
            more: Map::new(),
        })
    }

    pub fn state_of(artifact: &Artifact) -> Result<(&str, StateDigest), NoCheckpoint> {
        let state = artifact.state_value()?;
        let span = artifact.state_span().ok_or(NoCheckpoint::NoFrontmatter)?;
        let text = std::str::from_utf8(&artifact.bytes()[span.range()]).map_err(|_| NoCheckpoint::NotUtf8)?;
        Ok((text, StateDigest::of(&state)))
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        // JSON of texts and numbers cannot fail.
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    pub fn parse(bytes: &[u8]) -> Result<Self, CheckpointProblem> {
        let checkpoint: Self = serde_json::from_slice(bytes)
            .map_err(|error| CheckpointProblem::NotACheckpoint { reason: error.to_string() })?;
        if checkpoint.schema != SCHEMA {
            return Err(CheckpointProblem::Schema { found: checkpoint.schema });
        }
        if FileHash::of(checkpoint.frontmatter.as_bytes()) != checkpoint.frontmatter_hash {
            return Err(CheckpointProblem::Changed);
        }
        let artifact = Artifact::read(checkpoint.path.clone(), checkpoint.with_body(b""));
        match artifact.state_value() {
            Ok(state) if StateDigest::of(&state) == checkpoint.state_digest => Ok(checkpoint),
            _ => Err(CheckpointProblem::WrongState),
        }
    }

    /// Above `body`, or alone for a state block.
    pub fn with_body(&self, body: &[u8]) -> Vec<u8> {
        file_with_state(&self.path, &self.frontmatter, body)
    }
}

const SHOWN: usize = 60;

/// Readable part of the key, and of its hash: keys may look alike.
pub fn checkpoint_folder(key: &ArtifactKey) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    let shown = key.as_str().split_once(':').map_or(key.as_str(), |(_, name)| name);
    let shown: String = shown.chars().take(SHOWN).map(|c| if is_plain(c) { c } else { '-' }).collect();
    let hash = FileHash::of(key.as_str().as_bytes()).to_string();
    // Names with a leading dot are hidden.
    format!("{CHECKPOINTS}/{}-{}", shown.trim_start_matches('.'), &hash[..8])
}

/// Names sort by time.
pub fn checkpoint_path(
    key: &ArtifactKey,
    at: Timestamp,
    hash: FileHash,
) -> Result<ProjectPath, ProjectPathError> {
    ProjectPath::new(format!("{}/{}.json", checkpoint_folder(key), stem(at, hash)))
}

/// Kept beside the checkpoint that is restored.
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

/// Lines read of a damaged file: frontmatter is at its start.
const LINES: usize = 200;

/// Keys that the artifact may have had, likeliest first: from frontmatter, else from lines with an id, then
/// the path.
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

    fn checkpoint(file: &str) -> Result<Checkpoint, NoCheckpoint> {
        let artifact = Artifact::read(ProjectPath::new("docs/prd.md").unwrap(), file.as_bytes().to_vec());
        let context = CheckpointContext {
            event: EventId::from_bytes([7; 16]),
            git_commit: Some("0123".to_owned()),
            at: "2026-11-22T10:00:00Z".parse().unwrap(),
            message: None,
        };
        Checkpoint::of(&artifact, context)
    }

    #[test]
    fn holds_the_frontmatter_to_the_byte() {
        for text in ["a: 1 # c\r\nb: 'x'\r\n", "", "stepsCompleted: [1]\n", "é: 🦀\n"] {
            let made = checkpoint(&format!("---\n{text}---\n# Body\n")).unwrap();
            assert_eq!(made.frontmatter, text);
            let read = Checkpoint::parse(&made.to_bytes()).unwrap();
            assert_eq!(read, made);
            let file = format!("---\n{text}---\n# Body\n");
            assert_eq!(read.with_body(b"# Body\n"), file.as_bytes());
        }
    }

    #[test]
    fn holds_the_block_of_a_state_file_of_autodev() {
        for text in ["flow: a # c\r\nstep: 1\r\n", "flow: a\nstep: 1"] {
            let path = ProjectPath::new("_docs/_autodev_state.md").unwrap();
            let artifact = Artifact::read(path, format!("# State\n\n## Current Step\n{text}").into_bytes());
            let (event, at) = (EventId::from_bytes([7; 16]), "2026-11-22T10:00:00Z".parse().unwrap());
            let context = CheckpointContext { event, git_commit: None, at, message: None };
            let made = Checkpoint::of(&artifact, context).unwrap();
            assert_eq!(
                (Checkpoint::parse(&made.to_bytes()).as_ref(), made.frontmatter.as_str()),
                (Ok(&made), text)
            );
        }
    }

    #[test]
    fn what_was_changed_is_not_believed() {
        let made = checkpoint("---\na: 1 # one\nupdated: 2026-11-22\n---\n").unwrap();
        let text = String::from_utf8(made.to_bytes()).unwrap();
        for (from, to, problem) in [
            ("# one", "# two", CheckpointProblem::Changed),
            ("11-22\\n", "11-23\\n", CheckpointProblem::Changed),
            (
                "checkpoint/1",
                "checkpoint/2",
                CheckpointProblem::Schema { found: "stepmark.checkpoint/2".into() },
            ),
        ] {
            assert!(text.contains(from), "{from}");
            assert_eq!(Checkpoint::parse(text.replacen(from, to, 1).as_bytes()), Err(problem));
        }
        let digest = made.state_digest.to_string();
        let other = text.replace(&digest, &StateDigest::of(&Json::Null).to_string());
        assert_eq!(Checkpoint::parse(other.as_bytes()), Err(CheckpointProblem::WrongState));
        let torn = Checkpoint::parse(&text.as_bytes()[..80]);
        assert!(matches!(torn, Err(CheckpointProblem::NotACheckpoint { .. })));
    }

    #[test]
    fn what_cannot_be_read_gets_none() {
        assert_eq!(checkpoint("# Only a body\n"), Err(NoCheckpoint::NoFrontmatter));
        for file in ["---\na: [1\n---\n", "---\na: 1\n", "---\na: 1\na: 2\n---\n"] {
            assert!(matches!(checkpoint(file), Err(NoCheckpoint::Unreadable(_))), "{file}");
        }
    }

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
