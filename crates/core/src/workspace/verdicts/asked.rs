//! The files around an artifact, with a note of what was asked.
#![expect(clippy::disallowed_methods, reason = "an edge module: whether files exist is asked here")]

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    fs,
};

use super::{Facts, facts::SprintStatusFact};
use crate::{
    artifact::ProjectPath,
    check::{ManifestRow, Surroundings},
    workspace::{
        Workspace,
        ledgers::{BrokenLedger, Ledgers},
        manifest,
        manifest_rows::ManifestRows,
    },
};

/// The files on the disk. Each question is asked once a run.
#[derive(Debug)]
pub(in crate::workspace) struct Asked<'w> {
    workspace: &'w Workspace,
    answers: RefCell<HashMap<ProjectPath, bool>>,
    noted: RefCell<Facts>,
    is_unsettled: Cell<bool>,
    ledgers: Ledgers,
    manifest: ManifestRows,
}

impl<'w> Asked<'w> {
    pub(in crate::workspace) fn new(workspace: &'w Workspace) -> Self {
        Self {
            workspace,
            answers: RefCell::default(),
            noted: RefCell::default(),
            is_unsettled: Cell::default(),
            ledgers: Ledgers::default(),
            manifest: ManifestRows::default(),
        }
    }

    /// What was asked since this was last called; `None` where an answer may change without a trace.
    pub(in crate::workspace) fn take(&self) -> Option<Facts> {
        let facts = self.noted.take();
        (!self.is_unsettled.take()).then_some(facts)
    }

    /// Notes the gates of the artifact at `path`, which are about to be looked at.
    pub(in crate::workspace) fn note_gates(&self, path: &ProjectPath) {
        match self.gates_now(path) {
            Some(gates) => self.noted.borrow_mut().gates = Some((path.clone(), gates)),
            None => self.is_unsettled.set(true),
        }
    }

    pub(super) fn exists_now(&self, path: &ProjectPath) -> bool {
        if let Some(answer) = self.answers.borrow().get(path) {
            return *answer;
        }
        let answer = fs::metadata(self.workspace.root().path().join(path.as_str())).is_ok();
        self.answers.borrow_mut().insert(path.clone(), answer);
        answer
    }

    /// What the ledger at `ledger` says of `story`. One that cannot be read says nothing, like one that is not there.
    pub(super) fn sprint_status_now(&self, ledger: &ProjectPath, story: &str) -> Option<String> {
        self.ledgers.status(ledger, story, || self.workspace.read_file(ledger).ok())
    }

    /// The ledgers that were asked and are no YAML.
    pub(in crate::workspace) fn broken_ledgers(&self) -> Vec<BrokenLedger> {
        self.ledgers.take_broken()
    }

    /// The names and stats of the gates of the artifact at `path`; `None` where they cannot be read, or are too new.
    pub(super) fn gates_now(&self, path: &ProjectPath) -> Option<String> {
        self.workspace.gate_stats(path).ok().flatten()
    }
}

impl Surroundings for Asked<'_> {
    fn exists(&self, path: &ProjectPath) -> bool {
        let answer = self.exists_now(path);
        self.noted.borrow_mut().exists.insert(path.clone(), answer);
        answer
    }
    fn sprint_status(&self, ledger: &ProjectPath, story: &str) -> Option<String> {
        let answer = self.sprint_status_now(ledger, story);
        if self.ledgers.is_broken(ledger) {
            // Its finding is told as long as a story asks.
            self.is_unsettled.set(true);
        }
        let fact =
            SprintStatusFact { ledger: ledger.clone(), story: story.to_owned(), status: answer.clone() };
        self.noted.borrow_mut().sprint_status.push(fact);
        answer
    }

    fn manifest_row(&self, path: &ProjectPath) -> ManifestRow {
        // The context of the run knows the manifest.
        let read = || manifest::project_listing(self.workspace.root());
        self.manifest.row(path, self.workspace.configuration(), read)
    }
}
