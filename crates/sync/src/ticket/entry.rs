//! An artifact in a snapshot.

use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    bmad::tickets::Ticket as BmadTicket,
    journal::ArtifactKey,
};
use stepmark_store::checking::SummaryRow;

use super::{CloseReason, TicketFacts};

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
    pub(crate) stored: Option<StoredTicket>,
}

/// The ticket of a plan of BMAD 7 in the store of the project.
#[derive(Clone, Debug)]
pub(crate) struct StoredTicket {
    pub(crate) store: String,
    /// The file that names it.
    pub(crate) leaf: ProjectPath,
    pub(crate) tracker_id: String,
    pub(crate) remote: String,
    /// Set where its tracker has closed it: then it is over, whatever its plan says.
    pub(super) closed: Option<CloseReason>,
}

impl StoredTicket {
    fn of((store, ticket): (&str, &BmadTicket)) -> Self {
        Self {
            store: store.to_owned(),
            leaf: ticket.file.clone().unwrap_or_else(|| ticket.record.clone()),
            tracker_id: ticket.tracker_id.trim_start_matches('#').to_owned(),
            remote: ticket.remote.clone(),
            closed: match &*ticket.tracker_status {
                "done" => Some(CloseReason::Completed),
                "dropped" => Some(CloseReason::NotPlanned),
                _ => None,
            },
        }
    }

    /// The store, where it is none that tickets are sent to.
    pub(super) fn other_store(&self) -> Option<&str> {
        Some(&*self.store).filter(|store| !matches!(*store, "repo" | "github" | "jira"))
    }
}

impl SnapshotEntry {
    /// The artifact of `row`; its facts are taken where it was read. `None` where it is no work: a record
    /// of a system may be none, as an agent is.
    pub(super) fn of_row(row: &SummaryRow<'_>) -> Option<Self> {
        let summary = row.summary();
        if summary.kind.is_some_and(|kind| !kind.is_work) {
            return None;
        }
        let stored = row.stored_ticket();
        // Before its first move a ticket has no file that could have an id.
        if stored.is_some_and(|(_, ticket)| !ticket.has_plan) {
            return None;
        }
        let stored = stored.map(StoredTicket::of);
        let mut content = row.content_key();
        if let Some(closed) = stored.as_ref().and_then(|stored| stored.closed) {
            content = content.map(|key| FileHash::of(format!("{key} {closed:?}").as_bytes()));
        }
        if let Some(tracked) = row.read() {
            return Some(Self { content, stored, ..Self::from(TicketFacts::of(tracked)) });
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
            stored,
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
            stored: None,
        }
    }
}
