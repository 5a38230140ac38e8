//! Comparing artifacts with what their tickets are known to say. Mostly nothing has changed, and to see that
//! is most of the work: what is kept of earlier plans spares reading the artifacts.

use stepmark_model::artifact::FileHash;
use stepmark_store::{checking::KeptDigests, disk::par_map};

use crate::ticket::{
    Marker, Snapshot, SnapshotEntry, Ticket, TicketDigest, TicketKeys, TicketSettings, Withheld,
};

pub(super) struct Comparison<'k, 'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) settings: &'a TicketSettings,
    pub(super) kept: &'k KeptDigests,
}

pub(super) struct Compared<'a> {
    pub(super) marker: &'a Marker,
    pub(super) entry: &'a SnapshotEntry,
    pub(super) kept: Option<(FileHash, FileHash)>,
    pub(super) outcome: Outcome,
}

pub(super) enum Outcome {
    Same,
    /// The ticket may say something else, or there is none.
    Desired(Box<Ticket>, Withheld),
    /// The artifact cannot be read any more.
    Gone,
}

impl<'a> Comparison<'_, 'a> {
    /// Compares `artifacts` with their tickets; `said` tells the digest of what a ticket is known to say.
    pub(super) fn of_all(
        &self,
        artifacts: &[(&'a Marker, &'a SnapshotEntry)],
        said: impl Fn(&Marker) -> Option<TicketDigest> + Sync,
    ) -> Vec<Compared<'a>> {
        let keys = TicketKeys::new(self.settings);
        par_map(artifacts, |(marker, entry)| {
            let key =
                entry.content.map(|content| keys.of(&content, self.snapshot.hangs(marker, self.settings)));
            self.compare((marker, entry), key, said(marker))
        })
    }

    fn compare(
        &self,
        (marker, entry): (&'a Marker, &'a SnapshotEntry),
        key: Option<FileHash>,
        said: Option<TicketDigest>,
    ) -> Compared<'a> {
        let compared = |digest: Option<TicketDigest>, outcome| {
            let kept = key.zip(digest.map(TicketDigest::hash));
            Compared { marker, entry, kept, outcome }
        };
        let known = key.and_then(|key| self.kept.get(&key)).map(TicketDigest::from);
        if known.is_some() && known == said {
            return compared(known, Outcome::Same);
        }
        let desired = Ticket::desired_and_withheld(self.snapshot, marker, self.settings);
        let Some((desired, withheld)) = desired else {
            return compared(known, Outcome::Gone);
        };
        let digest = Some(desired.digest());
        let is_same = digest == said;
        compared(digest, if is_same { Outcome::Same } else { Outcome::Desired(Box::new(desired), withheld) })
    }
}
