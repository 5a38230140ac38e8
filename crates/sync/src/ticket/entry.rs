//! An artifact in a snapshot.

use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    journal::ArtifactKey,
};
use stepmark_store::checking::SummaryRow;

use super::TicketFacts;

#[derive(Clone, Debug)]
pub struct SnapshotEntry {
    pub key: ArtifactKey,
    pub path: ProjectPath,
    /// The id by which its children call it: that of its delegation, else its own.
    pub(super) chain_id: Option<String>,
    pub(super) parent_id: Option<String>,
    /// True where it is a record of a system, whatever the name of its file.
    pub(super) is_record: bool,
    pub(super) is_readable: bool,
    /// The digest of everything that its facts follow from; `None` where that is not known.
    pub(crate) content: Option<FileHash>,
    pub(super) facts: Option<Box<TicketFacts>>,
}

impl SnapshotEntry {
    /// The artifact of `row`; its facts are taken where it was read. `None` where it is no work: a record
    /// of a system may be none, as an agent is.
    pub(super) fn of_row(row: &SummaryRow<'_>) -> Option<Self> {
        let summary = row.summary();
        if summary.kind.is_some_and(|kind| !kind.is_work) {
            return None;
        }
        let content = row.content_key();
        if let Some(tracked) = row.read() {
            return Some(Self { content, ..Self::from(TicketFacts::of(tracked)) });
        }
        let member = row.member();
        let chain_id = member.as_ref().map_or(summary.id, |member| member.id());
        Some(Self {
            key: summary.id.map_or_else(|| ArtifactKey::of_path(row.path()), ArtifactKey::of_id),
            path: row.path().clone(),
            chain_id: chain_id.map(str::to_owned),
            parent_id: summary.parent.map(str::to_owned),
            is_record: summary.kind.is_some(),
            is_readable: summary.is_readable,
            content,
            facts: None,
        })
    }
}

impl From<TicketFacts> for SnapshotEntry {
    fn from(facts: TicketFacts) -> Self {
        Self {
            key: facts.key.clone(),
            path: facts.path.clone(),
            chain_id: facts.chain_id.clone(),
            parent_id: facts.parent_id.clone(),
            is_record: facts.is_record,
            is_readable: facts.is_readable,
            content: None,
            facts: Some(Box::new(facts)),
        }
    }
}
