//! The files around an artifact, with a note of what was asked.
#![expect(clippy::disallowed_methods, reason = "an edge module: whether files exist is asked here")]

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    fs,
};

use super::Facts;
use crate::{artifact::ProjectPath, check::Surroundings, workspace::Workspace};

/// The files on the disk. Each question is asked once a run.
#[derive(Debug)]
pub(in crate::workspace) struct Asked<'w> {
    workspace: &'w Workspace,
    answers: RefCell<HashMap<ProjectPath, bool>>,
    noted: RefCell<Facts>,
    is_unsettled: Cell<bool>,
}

impl<'w> Asked<'w> {
    pub(in crate::workspace) fn new(workspace: &'w Workspace) -> Self {
        Self {
            workspace,
            answers: RefCell::default(),
            noted: RefCell::default(),
            is_unsettled: Cell::default(),
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
}
