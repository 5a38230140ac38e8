//! The ledgers that stories are looked up in, each read once.

use std::collections::BTreeMap;

use crate::{
    artifact::{ProjectPath, SprintStatus},
    document::ParseError,
    workspace::{ArtifactError, Workspace},
};

/// What stands at the place of a ledger.
#[derive(Debug)]
pub(super) enum Ledger {
    Absent,
    Read(SprintStatus),
    Broken { bytes: Vec<u8>, error: ParseError },
    Unreadable(ArtifactError),
}

/// The ledgers that were asked for.
#[derive(Debug, Default)]
pub(super) struct Shelf(pub(super) BTreeMap<ProjectPath, Ledger>);

impl Shelf {
    /// The ledger of the story at `path` that is called `name` in it: the nearest that lists it, else the nearest that can be
    /// read; none where one that cannot be read may be it.
    pub(super) fn ledger_of(
        &mut self,
        workspace: &Workspace,
        path: &ProjectPath,
        name: &str,
    ) -> Option<ProjectPath> {
        let (mut nearest, mut is_doubtful) = (None, false);
        for place in SprintStatus::places(path) {
            match self.ledger(workspace, &place) {
                Ledger::Absent => {}
                Ledger::Read(ledger) if ledger.lists(name) => return Some(place),
                Ledger::Read(_) => nearest = nearest.or(Some(place)),
                Ledger::Broken { .. } | Ledger::Unreadable(_) => is_doubtful = true,
            }
        }
        nearest.filter(|_| !is_doubtful)
    }

    /// What stands at `path`.
    pub(super) fn ledger(&mut self, workspace: &Workspace, path: &ProjectPath) -> &Ledger {
        self.0.entry(path.clone()).or_insert_with(|| match workspace.read_file(path) {
            Err(ArtifactError::Missing { .. }) => Ledger::Absent,
            Err(error) => Ledger::Unreadable(error),
            Ok(bytes) => match SprintStatus::read(&bytes) {
                Ok(ledger) => Ledger::Read(ledger),
                Err(error) => Ledger::Broken { bytes, error },
            },
        })
    }
}
