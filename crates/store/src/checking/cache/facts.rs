//! The facts about other files that a check of an artifact asked for.
#![expect(clippy::disallowed_methods, reason = "an edge module: the list of facts is read and written here")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
    process,
};

use serde::{Deserialize, Serialize};

use crate::checking::beside::AllowedRule;
use crate::checking::{cache::Answers, cache::key::FactsKey};
use crate::disk::own_file;
use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    workflow::Track,
};

/// How many bytes the facts of a project may have.
const LIMIT: u64 = 256 * 1024 * 1024;

/// What rules asked for and were told: the same questions with the same answers lead to the same findings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Facts {
    /// Whether files are there.
    pub(super) exists: BTreeMap<ProjectPath, bool>,
    /// What ledgers say of stories: ledger, story, word.
    pub(super) sprint_status: BTreeSet<(ProjectPath, String, Option<String>)>,
    /// Of the gates of the artifact: its path, and what [`Answers::gates`] says; `None` in a project without gates.
    pub(super) gates: Option<(ProjectPath, String)>,
    /// The workflow of the artifact, by its place: its step files are checked once for all its artifacts.
    pub(crate) workflow: Option<(usize, Track)>,
    /// The rules of allowances that accepted something in the artifact, or of which nobody can say whether it needs them.
    pub(crate) allowances: Vec<AllowedRule>,
    /// Where something was found: the digest of the baseline, which says what of that is counted.
    pub(crate) baseline: Option<String>,
}

impl Facts {
    /// Whether the same answers are given today, where the baseline has the digest `baseline`.
    pub(super) fn hold(&self, answers: &Answers<'_>, baseline: &str) -> bool {
        self.baseline.as_ref().is_none_or(|known| known == baseline)
            && self.exists.iter().all(|(path, answer)| answers.exists(path) == *answer)
            && self.sprint_status.iter().all(|(ledger, story, answer)| {
                answers.sprint_status(ledger, story) == *answer && !answers.is_broken(ledger)
            })
            && self
                .gates
                .as_ref()
                .is_none_or(|(path, answer)| answers.gates(path).is_some_and(|gates| gates == *answer))
    }

    /// The key of what is decided by these facts in `context`.
    pub(super) fn key(&self, context: &FileHash) -> FactsKey {
        let mut text = format!("{context}\n");
        // Writing to a string never fails. Of texts, which may hold any character, the literal stands there: it is one line.
        for (path, is_there) in &self.exists {
            let _infallible = writeln!(text, "exists {is_there} {:?}", path.as_str());
        }
        for (ledger, story, word) in &self.sprint_status {
            let _infallible = writeln!(text, "ledger {:?} {story:?} {word:?}", ledger.as_str());
        }
        if let Some((path, gates)) = &self.gates {
            let _infallible = writeln!(text, "gates {:?} {gates:?}", path.as_str());
        }
        let _infallible = writeln!(text, "workflow {:?} allowances {:?}", self.workflow, self.allowances);
        let _infallible = writeln!(text, "found {:?}", self.baseline);
        FactsKey::of(text.as_bytes())
    }
}

/// The facts that stand beside the cache `file`; none where they cannot be read.
pub(super) fn load(file: &Path) -> Vec<Facts> {
    let place = place(file);
    let (Some(folder), Some(name)) = (place.parent(), place.file_name()) else { return Vec::new() };
    let bytes = own_file::read(folder, name.as_ref(), LIMIT).ok();
    bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

/// Writes `facts` beside the cache `file`.
pub(super) fn write(file: &Path, facts: &[&Facts]) -> io::Result<()> {
    let place = place(file);
    let staged = place.with_extension(format!("facts.{}.tmp", process::id()));
    let bytes = serde_json::to_vec(facts)?;
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
            ..Facts::default()
        };
        let ledger = |story: &str, word: Option<&str>| Facts {
            sprint_status: [(path("ledger"), story.to_owned(), word.map(str::to_owned))].into(),
            ..Facts::default()
        };
        let all = [
            Facts::default(),
            exists(&[("a", true)]),
            exists(&[("a", false)]),
            exists(&[("a", true), ("b", true)]),
            exists(&[("a\" exists true \"b", true)]),
            gates("a", ""),
            gates("b", ""),
            gates("a", "one"),
            ledger("a", None),
            ledger("a", Some("done")),
            ledger("b", Some("done")),
            Facts { workflow: Some((0, Track::Create)), ..Facts::default() },
            Facts { workflow: Some((0, Track::Edit)), ..Facts::default() },
            Facts { workflow: Some((1, Track::Create)), ..Facts::default() },
            Facts { allowances: vec![(1, "SM212".to_owned())], ..Facts::default() },
            Facts { baseline: Some("one".to_owned()), ..Facts::default() },
            Facts { baseline: Some("other".to_owned()), ..Facts::default() },
        ];
        let mut keys: Vec<_> = all.iter().map(|facts| facts.key(&context)).collect();
        keys.push(Facts::default().key(&FileHash::of(b"another")));
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
            sprint_status: [(path("l"), "1-1-a".to_owned(), None)].into(),
            gates: Some((path("a.md"), "ü\n".to_owned())),
            workflow: Some((3, Track::Validate)),
            allowances: vec![(0, "SM212".to_owned()), (2, "SM305".to_owned())],
            baseline: Some("digest".to_owned()),
        };
        write(&file, &[&facts]).unwrap();
        assert_eq!(load(&file), [facts]);
        let text = fs::read(folder.path().join("checked.facts")).unwrap();
        for end in 0..text.len() {
            fs::write(folder.path().join("checked.facts"), &text[..end]).unwrap();
            assert_eq!(load(&file), [], "cut at {end}");
        }
    }
}
