//! A note of what the rules asked about one artifact.

use std::{
    cell::{Cell, RefCell},
    sync::Arc,
};

use crate::checking::{cache::Answers, cache::Facts};
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    asdd::AsddFacts,
    autodev::AutodevFacts,
    check::{ManifestRow, RuleEnvironment},
    coordination::CoordinationFacts,
    flows::FlowFacts,
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

    /// Returns the questions and answers; `None` where an answer may change without a trace, or something is
    /// wrong beside the artifact.
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
        // Commits come and go without a trace here.
        self.is_unsettled.set(true);
        self.answers.is_commit(name)
    }

    fn manifest_row(&self, path: &ProjectPath) -> ManifestRow {
        let row = self.answers.manifest_row(path);
        if path == self.path {
            self.noted.borrow_mut().row = Some(row);
        } else {
            // Rows of others are not kept.
            self.is_unsettled.set(true);
        }
        row
    }

    fn autodev(&self, artifact: &Artifact) -> Option<AutodevFacts> {
        // It is one file, held against files all over the project: it is judged anew each time.
        self.is_unsettled.set(true);
        self.answers.autodev(artifact)
    }

    fn asdd(&self) -> Option<Arc<AsddFacts>> {
        let facts = self.answers.asdd();
        // Slices are held against files and against the clock: they are judged anew each time.
        if facts.is_some() {
            self.is_unsettled.set(true);
        }
        facts
    }

    fn coordination(&self) -> Option<Arc<CoordinationFacts>> {
        let facts = self.answers.coordination();
        // Records are held against each other and against the clock: they are judged anew each time.
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
