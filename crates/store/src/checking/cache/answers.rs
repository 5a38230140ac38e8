//! The answers of the files around artifacts. Each question is asked once a run.
#![expect(clippy::disallowed_methods, reason = "an edge module: whether files exist is asked here")]

use std::{
    collections::HashMap,
    fs,
    sync::{Arc, OnceLock, PoisonError, RwLock},
};

#[cfg(feature = "write")]
use crate::git::process::{is_repository, printed};
use crate::{bmad::sprint::Ledgers, checking::manifest_rows::ManifestRows, manifest, workspace::Workspace};
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    asdd::AsddFacts,
    autodev::AutodevFacts,
    check::ManifestRow,
    coordination::CoordinationFacts,
    flows::FlowFacts,
};

#[derive(Debug)]
pub(crate) struct Answers<'w> {
    workspace: &'w Workspace,
    exists: RwLock<HashMap<ProjectPath, bool>>,
    ledgers: Ledgers,
    manifest: ManifestRows,
    #[cfg(feature = "write")]
    has_history: OnceLock<bool>,
    asdd: OnceLock<Option<Arc<AsddFacts>>>,
    coordination: OnceLock<Option<Arc<CoordinationFacts>>>,
    flows: OnceLock<Option<Arc<FlowFacts>>>,
}

impl<'w> Answers<'w> {
    pub(crate) fn new(workspace: &'w Workspace) -> Self {
        Self {
            workspace,
            exists: RwLock::default(),
            ledgers: Ledgers::default(),
            manifest: ManifestRows::default(),
            #[cfg(feature = "write")]
            has_history: OnceLock::new(),
            asdd: OnceLock::new(),
            coordination: OnceLock::new(),
            flows: OnceLock::new(),
        }
    }

    pub(super) fn exists(&self, path: &ProjectPath) -> bool {
        // Whoever panicked left whole answers.
        let known = self.exists.read().unwrap_or_else(PoisonError::into_inner).get(path).copied();
        known.unwrap_or_else(|| {
            let answer = fs::metadata(self.workspace.root().path().join(path.as_str())).is_ok();
            self.exists.write().unwrap_or_else(PoisonError::into_inner).insert(path.clone(), answer);
            answer
        })
    }

    /// Asks git, unless it does not have the whole history here.
    #[cfg(feature = "write")]
    pub(super) fn is_commit(&self, name: &str) -> bool {
        let root = self.workspace.root();
        let is_whole = || {
            printed(root, &["rev-parse", "--is-shallow-repository"])
                .is_some_and(|text| text.trim() == "false")
        };
        let has_history = *self.has_history.get_or_init(|| is_repository(root) && is_whole());
        let is_name = name.len() >= 4 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_known = || printed(root, &["cat-file", "-e", &format!("{name}^{{commit}}")]).is_some();
        !has_history || is_name && is_known()
    }

    /// Returns the status of a story in a ledger: none where the ledger cannot be read or is not there.
    pub(super) fn sprint_status(&self, ledger: &ProjectPath, story: &str) -> Option<String> {
        self.ledgers.status(ledger, story, || self.workspace.read_file(ledger).ok())
    }

    pub(super) fn is_broken(&self, ledger: &ProjectPath) -> bool {
        self.ledgers.is_broken(ledger)
    }

    pub(super) fn manifest_row(&self, path: &ProjectPath) -> ManifestRow {
        let read = || manifest::project_listing(self.workspace.root());
        self.manifest.row(path, self.workspace.configuration(), read)
    }

    pub(super) fn autodev(&self, artifact: &Artifact) -> Option<AutodevFacts> {
        self.workspace.autodev()?.facts(artifact)
    }

    pub(crate) fn asdd(&self) -> Option<Arc<AsddFacts>> {
        let read = || Some(Arc::new(self.workspace.asdd()?.facts()?));
        self.asdd.get_or_init(read).clone()
    }

    pub(crate) fn coordination(&self) -> Option<Arc<CoordinationFacts>> {
        let read = || Some(Arc::new(self.workspace.coordination()?.facts()?));
        self.coordination.get_or_init(read).clone()
    }

    pub(super) fn flows(&self) -> Option<Arc<FlowFacts>> {
        self.flows.get_or_init(|| self.workspace.flow_facts().map(Arc::new)).clone()
    }

    /// The names of the gates of the artifact at `path`, a line each; `None` where they cannot be read.
    pub(super) fn gates(&self, path: &ProjectPath) -> Option<String> {
        Some(self.workspace.gates().of(path).ok()?.join("\n"))
    }

    pub(crate) fn into_ledgers(self) -> Ledgers {
        self.ledgers
    }
}
