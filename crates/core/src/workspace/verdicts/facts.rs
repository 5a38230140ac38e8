//! The facts about other files that a check of an artifact asked for.
#![expect(clippy::disallowed_methods, reason = "an edge module: the list of facts is read and written here")]

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    process,
};

use serde::{Deserialize, Serialize};

use super::Asked;
use crate::{artifact::ProjectPath, document::FileHash};

/// What rules asked for and were told: the same questions with the same answers lead to the same findings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::workspace) struct Facts {
    /// Whether files are there.
    pub(super) exists: BTreeMap<ProjectPath, bool>,
    /// Of the gates of the artifact: its path, and what [`Asked::gates`] says; `None` in a project without gates.
    pub(super) gates: Option<(ProjectPath, String)>,
    /// What ledgers of sprints say of the artifact.
    pub(super) sprint_status: Vec<SprintStatusFact>,
}

/// What a ledger of a sprint says of a story; `None`: nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SprintStatusFact {
    pub(super) ledger: ProjectPath,
    pub(super) story: String,
    pub(super) status: Option<String>,
}

impl Facts {
    /// Whether the same answers are given today.
    pub(super) fn hold(&self, asked: &Asked<'_>) -> bool {
        self.exists.iter().all(|(path, answer)| asked.exists_now(path) == *answer)
            && self
                .gates
                .as_ref()
                .is_none_or(|(path, answer)| asked.gates_now(path).is_some_and(|gates| gates == *answer))
            && self
                .sprint_status
                .iter()
                .all(|fact| asked.sprint_status_now(&fact.ledger, &fact.story) == fact.status)
    }

    /// The key of what is decided by these facts in `context`.
    pub(super) fn key(&self, context: &FileHash) -> FileHash {
        let mut text = format!("clean in {context}\n");
        for (path, is_there) in &self.exists {
            // A path may hold any character; as a Rust literal it is one line.
            text.push_str(&format!("{} {:?}\n", if *is_there { "exists" } else { "absent" }, path.as_str()));
        }
        if let Some((path, gates)) = &self.gates {
            text.push_str(&format!("gates of {:?} {gates:?}\n", path.as_str()));
        }
        for SprintStatusFact { ledger, story, status } in &self.sprint_status {
            text.push_str(&format!("ledger {:?} {story:?} {status:?}\n", ledger.as_str()));
        }
        FileHash::of(text.as_bytes())
    }

    /// The key of files without workflow state: no rule looks at them.
    pub(super) fn stateless_key(context: &FileHash) -> FileHash {
        FileHash::of(format!("stateless in {context}\n").as_bytes())
    }
}

/// The facts that stand beside the cache `file`; none where that cannot be read.
pub(super) fn load(file: &Path) -> Vec<Facts> {
    fs::read(place(file)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

/// Writes `facts` beside the cache `file`.
pub(super) fn write<'f>(file: &Path, facts: impl Iterator<Item = &'f Facts>) -> io::Result<()> {
    let place = place(file);
    let staged = place.with_extension(format!("facts.{}.tmp", process::id()));
    let bytes = serde_json::to_vec(&facts.collect::<Vec<_>>())?;
    let written = fs::write(&staged, bytes).and_then(|()| fs::rename(&staged, place));
    if written.is_err() {
        // What went wrong is told; that the remains could not be removed either adds nothing.
        fs::remove_file(&staged).ok();
    }
    written
}

fn place(file: &Path) -> PathBuf {
    file.with_extension("facts")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> ProjectPath {
        ProjectPath::new(text).unwrap()
    }

    #[test]
    fn different_facts_have_different_keys() {
        let context = FileHash::of(b"context");
        let exists = |facts: &[(&str, bool)]| Facts {
            exists: facts.iter().map(|(text, answer)| (path(text), *answer)).collect(),
            ..Facts::default()
        };
        let gates = |artifact: &str, text: &str| Facts {
            gates: Some((path(artifact), text.to_owned())),
            ..exists(&[])
        };
        let ledger = |story: &str, status: Option<&str>| Facts {
            sprint_status: vec![SprintStatusFact {
                ledger: path("sprint-status.yaml"),
                story: story.to_owned(),
                status: status.map(str::to_owned),
            }],
            ..Facts::default()
        };
        let all = [
            exists(&[]),
            exists(&[("a", true)]),
            exists(&[("a", false)]),
            exists(&[("a", true), ("b", true)]),
            exists(&[("a\" exists \"b", true)]),
            gates("a", ""),
            gates("b", ""),
            gates("a", "one"),
            ledger("a", None),
            ledger("a", Some("done")),
            ledger("b", Some("done")),
        ];
        let mut keys: Vec<_> = all.iter().map(|facts| facts.key(&context)).collect();
        keys.extend([Facts::stateless_key(&context), exists(&[]).key(&FileHash::of(b"another"))]);
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), count);
    }

    #[test]
    fn facts_survive_the_disk_and_torn_ones_are_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("checked.stat");
        assert_eq!(load(&file), []);
        let facts = Facts {
            exists: [(path("docs/über \"alles\".md"), false)].into(),
            gates: Some((path("a.md"), "ü\n".to_owned())),
            ..Facts::default()
        };
        write(&file, [&facts].into_iter()).unwrap();
        assert_eq!(load(&file), [facts]);
        let text = fs::read(folder.path().join("checked.facts")).unwrap();
        for end in 0..text.len() {
            fs::write(folder.path().join("checked.facts"), &text[..end]).unwrap();
            assert_eq!(load(&file), [], "cut at {end}");
        }
    }
}
