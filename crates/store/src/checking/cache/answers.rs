//! Facts about files around the artifacts; each is looked up once a run.
#![expect(clippy::disallowed_methods, reason = "an edge module: whether files exist is asked here")]

use std::{
    collections::HashMap,
    fs,
    sync::{Arc, OnceLock, PoisonError, RwLock},
};

#[cfg(feature = "write")]
use crate::git::process::{git, is_repository, printed};
use crate::{bmad::sprint::Ledgers, checking::manifest_rows::ManifestRows, manifest, workspace::Workspace};
#[cfg(feature = "write")]
use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, Stdio},
    sync::Mutex,
};
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    asdd::AsddFacts,
    autodev::AutodevFacts,
    check::ManifestRow,
    coordination::CoordinationFacts,
    flows::FlowFacts,
};

#[cfg(feature = "write")]
#[derive(Debug)]
struct Objects(Child);

#[derive(Debug)]
pub(crate) struct Answers<'w> {
    workspace: &'w Workspace,
    exists: RwLock<HashMap<ProjectPath, bool>>,
    ledgers: Ledgers,
    manifest: ManifestRows,
    #[cfg(feature = "write")]
    has_history: OnceLock<bool>,
    #[cfg(feature = "write")]
    objects: Mutex<Option<Objects>>,
    asdd: OnceLock<Option<Arc<AsddFacts>>>,
    coordination: OnceLock<Option<Arc<CoordinationFacts>>>,
    flows: OnceLock<Option<Arc<FlowFacts>>>,
}

#[cfg(feature = "write")]
impl Drop for Objects {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        // It ends when its input closes; its exit status does not matter.
        let _ended = self.0.wait();
    }
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
            #[cfg(feature = "write")]
            objects: Mutex::default(),
            asdd: OnceLock::new(),
            coordination: OnceLock::new(),
            flows: OnceLock::new(),
        }
    }

    pub(super) fn exists(&self, path: &ProjectPath) -> bool {
        // Entries are inserted whole, so a poisoned lock is valid.
        let known = self.exists.read().unwrap_or_else(PoisonError::into_inner).get(path).copied();
        known.unwrap_or_else(|| {
            let answer = fs::metadata(self.workspace.root().path().join(path.as_str())).is_ok();
            self.exists.write().unwrap_or_else(PoisonError::into_inner).insert(path.clone(), answer);
            answer
        })
    }

    /// Assumed true without full history: outside a repository, in a shallow clone.
    #[cfg(feature = "write")]
    pub(super) fn is_commit(&self, name: &str) -> bool {
        let root = self.workspace.root();
        let is_whole = || {
            printed(root, &["rev-parse", "--is-shallow-repository"])
                .is_some_and(|text| text.trim() == "false")
        };
        let has_history = *self.has_history.get_or_init(|| is_repository(root) && is_whole());
        let is_name = name.len() >= 4 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        !has_history || is_name && self.git_knows(name).unwrap_or(true)
    }

    /// One git process for the run: one per spec would be slow. `None`: it failed.
    #[cfg(feature = "write")]
    fn git_knows(&self, name: &str) -> Option<bool> {
        let mut objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        if objects.is_none() {
            let mut command = git(self.workspace.root().path(), &["cat-file", "--batch-check"]);
            let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
            *objects = command.spawn().ok().map(Objects);
        }
        let Objects(objects) = objects.as_mut()?;
        writeln!(objects.stdin.as_mut()?, "{name}^{{commit}}").ok()?;
        let mut answer = String::new();
        // Each answer is one line, so the dropped buffer loses nothing.
        BufReader::new(objects.stdout.as_mut()?).read_line(&mut answer).ok()?;
        Some(answer.contains(" commit "))
    }

    /// `None` also if the sprint status is unreadable or missing.
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

    /// One per line; `None` if they cannot be read.
    pub(super) fn gates(&self, path: &ProjectPath) -> Option<String> {
        Some(self.workspace.gates().of(path).ok()?.join("\n"))
    }

    pub(crate) fn into_ledgers(self) -> Ledgers {
        self.ledgers
    }
}
