//! The key that an entry of the cache holds in the place of a hash.

use crate::checking::cache::Noted;
use stepmark_model::{artifact::FileHash, check::ManifestRow};

/// Half of a hash: enough for a cache, which nobody attacks.
pub(super) const HALF: usize = 16;

/// The key of what was decided by the same facts in the same context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FactsKey([u8; HALF]);

/// The facts, and the row of the manifest. A row is compared with that of today only where the manifest has
/// changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) facts: FactsKey,
    row: [u8; HALF],
}

impl FactsKey {
    /// The key of what `text` says.
    pub(super) fn of(text: &[u8]) -> Self {
        Self(half(text))
    }

    /// The key of files without workflow state, which no rule looks at.
    pub(super) fn stateless(context: &FileHash) -> Self {
        Self::of(format!("stateless {context}").as_bytes())
    }
}

impl Key {
    /// The key of an artifact.
    pub(super) fn of(facts: FactsKey, noted: &Noted) -> Self {
        Self { facts, row: noted.row.map_or([0; HALF], row_key) }
    }

    /// The key of files without workflow state.
    pub(super) const fn stateless(key: FactsKey) -> Self {
        Self { facts: key, row: [0; HALF] }
    }

    /// Returns whether it was decided with the row `now`, or without any.
    pub(super) fn holds_with(&self, now: impl FnOnce() -> ManifestRow) -> bool {
        self.row == [0; HALF] || self.row == row_key(now())
    }

    /// As it stands in the cache.
    pub(super) fn stored(&self) -> FileHash {
        let mut bytes = [0; 2 * HALF];
        bytes[..HALF].copy_from_slice(&self.facts.0);
        bytes[HALF..].copy_from_slice(&self.row);
        FileHash::from_digest(bytes)
    }

    /// Reads a key as it stands in the cache.
    pub(super) fn read(stored: &FileHash) -> Self {
        let (mut facts, mut row) = ([0; HALF], [0; HALF]);
        facts.copy_from_slice(&stored.as_bytes()[..HALF]);
        row.copy_from_slice(&stored.as_bytes()[HALF..]);
        Self { facts: FactsKey(facts), row }
    }
}

fn row_key(row: ManifestRow) -> [u8; HALF] {
    half(format!("{row:?}").as_bytes())
}

pub(super) fn half(text: &[u8]) -> [u8; HALF] {
    let mut half = [0; HALF];
    half.copy_from_slice(&FileHash::of(text).as_bytes()[..HALF]);
    half
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_survives_the_cache_and_holds_with_its_own_row_alone() {
        let hash = |text: &str| ManifestRow::Hash(FileHash::of(text.as_bytes()));
        let rows =
            [ManifestRow::Uncovered, ManifestRow::Missing, ManifestRow::WithoutHash, hash("a"), hash("b")];
        for row in rows {
            let noted = Noted { row: Some(row), ..Noted::default() };
            let key = Key::of(FactsKey::of(b"facts"), &noted);
            assert_eq!(Key::read(&key.stored()), key);
            for other in rows {
                assert_eq!(key.holds_with(|| other), row == other);
            }
        }
        let unasked = Key::of(FactsKey::of(b"facts"), &Noted::default());
        assert!(rows.into_iter().all(|row| unasked.holds_with(|| row)));
    }
}
