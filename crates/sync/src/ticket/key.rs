//! The keys under which digests of tickets are kept, so that a ticket that would be made from the same need
//! not be made again to be compared.

use stepmark_model::artifact::FileHash;

use super::{Hangs, TicketSettings};

/// Makes the keys of one tracker's tickets. A key is the SHA-256 of everything that a ticket is made from:
/// the same key means the same ticket.
#[derive(Debug)]
pub(crate) struct TicketKeys {
    common: FileHash,
}

impl TicketKeys {
    pub(crate) fn new(settings: &TicketSettings) -> Self {
        Self {
            common: FileHash::of(
                format!("{} told {settings:?}", super::desired::CANONICAL_SCHEMA).as_bytes(),
            ),
        }
    }

    /// That of the ticket of an artifact with the key `content`
    /// ([`content_key`](stepmark_store::checking::SummaryRow::content_key)). What decides where its ticket
    /// hangs is its parent.
    pub(crate) fn of(&self, content: &FileHash, hangs: Hangs<'_>) -> FileHash {
        let parent = match hangs {
            Hangs::Alone => String::new(),
            Hangs::Below(parent) => parent.to_string(),
            Hangs::Beside(parent, path) => format!("{parent} {path}"),
        };
        FileHash::of(&[self.common.as_bytes(), &content.as_bytes()[..], parent.as_bytes()].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::{super::sample::marker, *};

    #[test]
    fn whatever_a_ticket_is_made_from_counts() {
        let content = FileHash::of(b"content");
        let keys = TicketKeys::new(&TicketSettings::default());
        let (alone, b) = (Hangs::Alone, marker("b"));
        let own = keys.of(&content, alone);
        assert_eq!(own, keys.of(&content, alone));
        assert_ne!(own, keys.of(&FileHash::of(b"other"), alone));
        assert_ne!(own, keys.of(&content, Hangs::Below(&b)), "its parent");
        let settings = TicketSettings { not_planned: Vec::new(), ..TicketSettings::default() };
        assert_ne!(own, TicketKeys::new(&settings).of(&content, alone), "the settings");
    }
}
