//! The facts that rules used for one artifact.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    io,
    sync::Arc,
};

use crate::checking::{
    cache::{Answers, key::FactsKey},
    check_report::AllowedRule,
    kept_chains::ChainPart,
};
use serde::{Deserialize, Serialize};
use stepmark_model::{
    artifact::{Artifact, FileHash, ProjectPath},
    asdd::AsddFacts,
    autodev::AutodevFacts,
    check::{ManifestRow, RuleEnvironment},
    coordination::CoordinationFacts,
    flows::FlowFacts,
    workflow::Track,
};

#[derive(Debug)]
pub(crate) struct Asked<'a> {
    path: &'a ProjectPath,
    answers: &'a Answers<'a>,
    noted: RefCell<Noted>,
    is_unsettled: Cell<bool>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Noted {
    pub(crate) facts: Facts,
    pub(super) row: Option<ManifestRow>,
}

impl<'a> Asked<'a> {
    pub(crate) fn new(path: &'a ProjectPath, answers: &'a Answers<'a>) -> Self {
        Self { path, answers, noted: RefCell::default(), is_unsettled: Cell::default() }
    }

    pub(crate) fn note_gates(&self) {
        match self.answers.gates(self.path) {
            Some(gates) => self.noted.borrow_mut().facts.gates = Some((self.path.clone(), gates)),
            None => self.is_unsettled.set(true),
        }
    }

    /// `None` if a fact may change without a trace, or a file beside is faulty.
    pub(crate) fn into_noted(self) -> Option<Noted> {
        (!self.is_unsettled.get()).then(|| self.noted.into_inner())
    }
}

impl RuleEnvironment for Asked<'_> {
    fn exists(&self, path: &ProjectPath) -> bool {
        let answer = self.answers.exists(path);
        self.noted.borrow_mut().facts.exists.insert(path.clone(), answer);
        answer
    }

    fn sprint_status(&self, ledger: &ProjectPath, story: &str) -> Option<String> {
        let answer = self.answers.sprint_status(ledger, story);
        if self.answers.is_broken(ledger) {
            self.is_unsettled.set(true);
        }
        let fact = (ledger.clone(), story.to_owned(), answer.clone());
        self.noted.borrow_mut().facts.sprint_status.insert(fact);
        answer
    }

    #[cfg(feature = "write")]
    fn is_commit(&self, name: &str) -> bool {
        // In such a clone commits come and go without a trace.
        self.is_unsettled.set(true);
        self.answers.is_commit(name)
    }

    fn manifest_row(&self, path: &ProjectPath) -> ManifestRow {
        let row = self.answers.manifest_row(path);
        if path == self.path {
            self.noted.borrow_mut().row = Some(row);
        } else {
            // Other manifests' rows are not cached.
            self.is_unsettled.set(true);
        }
        row
    }

    fn autodev(&self, artifact: &Artifact) -> Option<AutodevFacts> {
        // It depends on files all over the project, so it is judged again each time.
        self.is_unsettled.set(true);
        self.answers.autodev(artifact)
    }

    fn asdd(&self) -> Option<Arc<AsddFacts>> {
        let facts = self.answers.asdd();
        // Slices depend on files and on the clock, so they are judged again each time.
        if facts.is_some() {
            self.is_unsettled.set(true);
        }
        facts
    }

    fn coordination(&self) -> Option<Arc<CoordinationFacts>> {
        let facts = self.answers.coordination();
        // Records depend on each other and on the clock, so they are judged again each time.
        if facts.is_some() {
            self.is_unsettled.set(true);
        }
        facts
    }

    fn flows(&self) -> Option<Arc<FlowFacts>> {
        let facts = self.answers.flows();
        if facts.is_some() {
            self.is_unsettled.set(true);
        }
        facts
    }
}

/// The facts that rules used: with the same facts, findings are the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Facts {
    pub(super) exists: BTreeMap<ProjectPath, bool>,
    /// Queried stories: sprint status, story, word.
    pub(super) sprint_status: BTreeSet<(ProjectPath, String, Option<String>)>,
    pub(super) gates: Option<(ProjectPath, String)>,
    /// The index of its workflow, whose step files are checked once for all artifacts.
    pub(crate) workflow: Option<(usize, Track)>,
    /// Rules of allowances that accepted a finding here, or may have.
    pub(crate) allowances: Vec<AllowedRule>,
    /// The baseline's digest, if anything was found: it decides on what is counted.
    pub(crate) baseline: Option<String>,
    pub(crate) part: ChainPart,
}

impl Facts {
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

    pub(super) fn key(&self, context: &FileHash) -> FactsKey {
        let mut text = format!("{context}\n");
        // Writing to a string never fails. Paths may hold any character: as literals they stay on one line.
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
        let _infallible = writeln!(text, "found {:?} {:?}", self.baseline, self.part);
        FactsKey::of(text.as_bytes())
    }
}

/// The length of the facts' JSON (u32), and the JSON.
pub(super) fn to_bytes(facts: &[&Facts]) -> io::Result<Vec<u8>> {
    let json = serde_json::to_vec(facts)?;
    let length = u32::try_from(json.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    Ok([&length.to_le_bytes()[..], &json].concat())
}

/// Reads what [`to_bytes`] wrote, and returns the rest; `None` for other bytes.
pub(super) fn read(bytes: &[u8]) -> Option<(Vec<Facts>, &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (json, rest) = rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
    Some((serde_json::from_slice(json).ok()?, rest))
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
            Facts { part: ChainPart::Named, ..Facts::default() },
            Facts { part: ChainPart::Member, ..Facts::default() },
        ];
        let mut keys: Vec<_> = all.iter().map(|facts| facts.key(&context)).collect();
        keys.push(Facts::default().key(&FileHash::of(b"another")));
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), count);
    }

    #[test]
    fn facts_survive_the_cache_and_torn_ones_are_none() {
        let facts = Facts {
            exists: [(path("docs/über \"alles\".md"), false)].into(),
            sprint_status: [(path("l"), "1-1-a".to_owned(), None)].into(),
            gates: Some((path("a.md"), "ü\n".to_owned())),
            workflow: Some((3, Track::Validate)),
            allowances: vec![(0, "SM212".to_owned()), (2, "SM305".to_owned())],
            baseline: Some("digest".to_owned()),
            part: ChainPart::Member,
        };
        let bytes = to_bytes(&[&facts]).unwrap();
        assert_eq!(read(&[&bytes[..], b"more"].concat()), Some((vec![facts], &b"more"[..])));
        for end in 0..bytes.len() {
            assert_eq!(read(&bytes[..end]), None, "cut at {end}");
        }
    }
}
