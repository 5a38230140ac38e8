//! All that a ticket is made from, so that one that was made from the same need not be made again to be
//! compared.

use std::{
    fmt,
    hash::{Hash, Hasher},
    str::FromStr,
};

use stepmark_model::artifact::{FileHash, FileHashError};

use super::{Marker, TicketFacts, TicketSettings};

/// SHA-256 of the facts of an artifact, its parent, and how this program makes tickets. The same digest means
/// the same ticket; another one means nothing: another build of stepmark may give it to the same facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceDigest(FileHash);

/// Makes the digests of one tracker's tickets.
#[derive(Debug)]
pub(crate) struct SourceDigests {
    /// The bytes that are the same for all of them.
    common: Bytes,
}

impl SourceDigests {
    /// Those of tickets that are made as `settings` say.
    pub(crate) fn new(settings: &TicketSettings) -> Self {
        let mut common = Bytes(Vec::new());
        // A program of another version may make another ticket.
        (env!("CARGO_PKG_VERSION"), super::desired::CANONICAL_SCHEMA, format!("{settings:?}"))
            .hash(&mut common);
        Self { common: Bytes(FileHash::of(&common.0).to_string().into_bytes()) }
    }

    /// That of the ticket of an artifact. What decides where its ticket hangs is its parent's marker.
    pub(crate) fn of(&self, facts: &TicketFacts, parent: Option<&Marker>) -> SourceDigest {
        let mut bytes = Bytes(Vec::with_capacity(1024));
        bytes.write(&self.common.0);
        (facts, parent).hash(&mut bytes);
        SourceDigest(FileHash::of(&bytes.0))
    }
}

/// The bytes that are hashed: [`Hash`] tells values apart by their bytes alone.
#[derive(Debug)]
struct Bytes(Vec<u8>);

impl Hasher for Bytes {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Nobody asks for it.
    fn finish(&self) -> u64 {
        0
    }
}

impl fmt::Display for SourceDigest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl FromStr for SourceDigest {
    type Err = FileHashError;

    fn from_str(text: &str) -> Result<Self, FileHashError> {
        text.parse().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::sample::{facts, marker},
        *,
    };

    #[test]
    fn whatever_a_ticket_is_made_from_counts() {
        let digests = SourceDigests::new(&TicketSettings::default());
        let own = digests.of(&facts("a"), None);
        assert_eq!(own, digests.of(&facts("a"), None));
        assert_eq!(own.to_string().parse(), Ok(own));
        let changes: [fn(&mut TicketFacts); 8] = [
            |facts| facts.title.push('!'),
            |facts| facts.steps[2].is_done = true,
            |facts| facts.steps[0].names.push("b".to_owned()),
            |facts| facts.done = 3,
            |facts| facts.status = None,
            |facts| facts.is_finished = true,
            |facts| facts.inputs.clear(),
            // The same letters in another place.
            |facts| (facts.title, facts.scope) = ("Artifact ".to_owned(), Some("alarge".to_owned())),
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut changed = facts("a");
            change(&mut changed);
            assert_ne!(digests.of(&changed, None), own, "{number}");
        }
        assert_ne!(digests.of(&facts("a"), Some(&marker("b"))), own, "its parent");
        let settings = TicketSettings { not_planned: Vec::new(), ..TicketSettings::default() };
        assert_ne!(SourceDigests::new(&settings).of(&facts("a"), None), own, "the settings");
    }
}
