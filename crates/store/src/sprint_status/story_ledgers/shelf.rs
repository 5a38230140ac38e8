//! The ledgers that stories are looked up in, each read once.

use std::collections::BTreeMap;

use crate::workspace::{ArtifactError, Workspace};
use stepmark_frontmatter::ParseError;
use stepmark_model::artifact::{ProjectPath, SprintStatus};

/// What stands at the place of a ledger.
#[derive(Debug)]
pub(super) enum Ledger {
    Absent,
    Read(SprintStatus),
    Broken { bytes: Vec<u8>, error: ParseError },
    Unreadable(ArtifactError),
}

/// Where the entry of a story stands.
#[derive(Debug)]
pub(super) enum Listing {
    /// In this ledger, the nearest that has one.
    Listed(ProjectPath),
    /// In none; this one is the nearest.
    Unlisted(ProjectPath),
    /// It may be in this one, which cannot be read.
    Unknown(ProjectPath),
    /// There is no ledger.
    Nowhere,
}

/// The ledgers that were asked for.
#[derive(Debug, Default)]
pub(super) struct Shelf(pub(super) BTreeMap<ProjectPath, Ledger>);

impl Shelf {
    /// Where the entry of the story at `path` stands.
    pub(super) fn listing_of(&mut self, workspace: &Workspace, path: &ProjectPath) -> Listing {
        let mut nearest = None;
        for place in SprintStatus::places(path) {
            match self.ledger(workspace, &place) {
                Ledger::Absent => {}
                Ledger::Read(ledger) if ledger.entry_of(path.file_stem()).is_some() => {
                    return Listing::Listed(place);
                }
                Ledger::Read(_) => nearest = nearest.or(Some(place)),
                Ledger::Broken { .. } | Ledger::Unreadable(_) => return Listing::Unknown(place),
            }
        }
        nearest.map_or(Listing::Nowhere, Listing::Unlisted)
    }

    /// The word of the ledger at `ledger` for the story at `path`.
    pub(super) fn word(
        &mut self,
        workspace: &Workspace,
        ledger: &ProjectPath,
        path: &ProjectPath,
    ) -> Option<&str> {
        match self.ledger(workspace, ledger) {
            Ledger::Read(states) => states.status_of(path.file_stem()),
            Ledger::Absent | Ledger::Broken { .. } | Ledger::Unreadable(_) => None,
        }
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
