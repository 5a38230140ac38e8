//! The ledgers of sprints that were asked for, each read once, wherever from.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::workspace::{ArtifactError, Workspace};
use stepmark_frontmatter::ParseError;
use stepmark_model::{
    artifact::ProjectPath,
    bmad::sprint::SprintStatus,
    check::{Finding, rules::status::sprint_status_not_yaml},
};

/// The ledgers that were asked for, each read once.
#[derive(Debug, Default)]
pub(crate) struct Ledgers(Mutex<BTreeMap<ProjectPath, Ledger>>);

/// What stands at the place of a ledger.
#[derive(Debug)]
pub(super) enum Ledger {
    Absent,
    Read(SprintStatus),
    Broken { bytes: Vec<u8>, error: ParseError },
    Unreadable(ArtifactError),
}

/// A ledger that is no YAML. It is left alone.
#[derive(Debug)]
pub struct BrokenSprintStatus {
    /// Its bytes, to show the place.
    pub bytes: Vec<u8>,
    /// What is wrong, and where.
    pub finding: Finding,
}

impl Ledger {
    /// Reads the ledger at `path` from the disk.
    pub(super) fn on_disk(workspace: &Workspace, path: &ProjectPath) -> Self {
        match workspace.read_file(path) {
            Ok(bytes) => Self::of(bytes),
            Err(ArtifactError::Missing { .. }) => Self::Absent,
            Err(error) => Self::Unreadable(error),
        }
    }

    fn of(bytes: Vec<u8>) -> Self {
        match SprintStatus::read(&bytes) {
            Ok(states) => Self::Read(states),
            Err(error) => Self::Broken { bytes, error },
        }
    }
}

impl Ledgers {
    /// The word of the ledger at `path` for the story whose file is called `story`; `read` gives its bytes when it is first asked for.
    pub(crate) fn status(
        &self,
        path: &ProjectPath,
        story: &str,
        read: impl FnOnce() -> Option<Vec<u8>>,
    ) -> Option<String> {
        let mut ledgers = self.known();
        let ledger = match ledgers.entry(path.clone()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unread) => unread.insert(read().map_or(Ledger::Absent, Ledger::of)),
        };
        match ledger {
            Ledger::Read(states) => states.status_of(story).map(str::to_owned),
            Ledger::Absent | Ledger::Broken { .. } | Ledger::Unreadable(_) => None,
        }
    }

    /// Returns whether the ledger at `path` was asked and is no YAML.
    pub(crate) fn is_broken(&self, path: &ProjectPath) -> bool {
        matches!(self.known().get(path), Some(Ledger::Broken { .. }))
    }

    pub(super) fn known(&self) -> MutexGuard<'_, BTreeMap<ProjectPath, Ledger>> {
        // Each ledger is put in whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those that are no YAML, and why others cannot be read, both in the order of their paths.
    pub(crate) fn into_unusable(self) -> (Vec<BrokenSprintStatus>, Vec<ArtifactError>) {
        let (mut broken, mut unreadable) = (Vec::new(), Vec::new());
        for (path, ledger) in self.0.into_inner().unwrap_or_else(PoisonError::into_inner) {
            match ledger {
                Ledger::Broken { bytes, error } => {
                    broken.push(BrokenSprintStatus {
                        bytes,
                        finding: sprint_status_not_yaml::finding(&path, &error),
                    });
                }
                Ledger::Unreadable(error) => unreadable.push(error),
                Ledger::Absent | Ledger::Read(_) => {}
            }
        }
        (broken, unreadable)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_ledger_is_read_once() {
        let (ledgers, reads) = (Ledgers::default(), Cell::new(0));
        let path = ProjectPath::new("sprint-status.yaml").unwrap();
        let ask = |story: &str| {
            ledgers.status(&path, story, || {
                reads.set(reads.get() + 1);
                Some(b"development_status: {1-1-a: done}\n".to_vec())
            })
        };
        assert_eq!((ask("1-1-a").as_deref(), ask("1-2-b"), reads.get()), (Some("done"), None, 1));
        let other = ProjectPath::new("docs/sprint-status.yaml").unwrap();
        assert_eq!(ledgers.status(&other, "1-1-a", || Some(b"a: b: c".to_vec())), None);
        let (broken, unreadable) = ledgers.into_unusable();
        let broken: Vec<_> = broken.into_iter().map(|broken| broken.finding.path).collect();
        assert_eq!((broken, unreadable.len()), (vec![other], 0));
    }
}
