//! The ledgers of sprints beside story files, wherever they are read from.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use stepmark_frontmatter::ParseError;
use stepmark_model::artifact::{ProjectPath, SprintStatus};

/// The ledgers that a check asked for, each read once.
#[derive(Debug, Default)]
pub(crate) struct Ledgers(Mutex<BTreeMap<ProjectPath, Ledger>>);

/// What stands at the place of a ledger.
#[derive(Debug)]
enum Ledger {
    Absent,
    Read(SprintStatus),
    Broken(BrokenLedger),
}

/// A ledger that is no YAML.
#[derive(Debug)]
pub(crate) struct BrokenLedger {
    pub(crate) path: ProjectPath,
    pub(crate) bytes: Vec<u8>,
    pub(crate) error: ParseError,
}

impl Ledgers {
    /// What the ledger at `path` says of the story whose file is called `story`; `read` gives its bytes when it is first asked for.
    pub(crate) fn status(
        &self,
        path: &ProjectPath,
        story: &str,
        read: impl FnOnce() -> Option<Vec<u8>>,
    ) -> Option<String> {
        let mut ledgers = self.known();
        let ledger = match ledgers.get(path) {
            Some(known) => known,
            None => ledgers.entry(path.clone()).or_insert_with(|| Ledger::of(path, read())),
        };
        match ledger {
            Ledger::Read(states) => states.status_of(story).map(str::to_owned),
            Ledger::Absent | Ledger::Broken(_) => None,
        }
    }

    /// Whether the ledger at `path` was asked and is no YAML.
    pub(crate) fn is_broken(&self, path: &ProjectPath) -> bool {
        matches!(self.known().get(path), Some(Ledger::Broken(_)))
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<ProjectPath, Ledger>> {
        // Each ledger is put in whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those that are no YAML, in the order of their paths.
    pub(crate) fn into_broken(self) -> impl Iterator<Item = BrokenLedger> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().filter_map(|ledger| {
            match ledger {
                Ledger::Broken(broken) => Some(broken),
                Ledger::Absent | Ledger::Read(_) => None,
            }
        })
    }
}

impl Ledger {
    fn of(path: &ProjectPath, bytes: Option<Vec<u8>>) -> Self {
        let Some(bytes) = bytes else { return Self::Absent };
        match SprintStatus::read(&bytes) {
            Ok(states) => Self::Read(states),
            Err(error) => Self::Broken(BrokenLedger { path: path.clone(), bytes, error }),
        }
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
        let broken: Vec<_> = ledgers.into_broken().map(|broken| broken.path).collect();
        assert_eq!(broken, [other]);
    }
}
