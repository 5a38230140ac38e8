//! The key of a cache entry, stored in place of a hash.

use crate::checking::cache::Noted;
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use stepmark_model::{artifact::FileHash, check::ManifestRow};

/// Half a hash: enough for a cache, which nobody attacks.
pub(super) const HALF: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FactsKey([u8; HALF]);

/// The facts, and the manifest row, which is compared only if the manifest has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) facts: FactsKey,
    row: [u8; HALF],
}

impl FactsKey {
    pub(super) fn of(text: &[u8]) -> Self {
        Self(half(text))
    }

    pub(super) fn stateless(context: &FileHash) -> Self {
        Self::of(format!("stateless {context}").as_bytes())
    }
}

impl Key {
    pub(super) fn of(facts: FactsKey, noted: &Noted) -> Self {
        Self { facts, row: noted.row.map_or([0; HALF], row_key) }
    }

    pub(super) const fn stateless(key: FactsKey) -> Self {
        Self { facts: key, row: [0; HALF] }
    }

    /// True if the decision used the row `now`, or none.
    pub(super) fn holds_with(&self, now: impl FnOnce() -> ManifestRow) -> bool {
        self.row == [0; HALF] || self.row == row_key(now())
    }

    pub(super) fn stored(&self) -> FileHash {
        let mut bytes = [0; 2 * HALF];
        bytes[..HALF].copy_from_slice(&self.facts.0);
        bytes[HALF..].copy_from_slice(&self.row);
        FileHash::from_digest(bytes)
    }

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

/// Longer texts (in bytes) are stored in each note.
const LONGEST: usize = 1024;
/// The most texts that are shared: more are probably different in each artifact.
const MOST: usize = 1 << 14;

/// Texts with their numbers. Those of the earlier cache keep their numbers, since its notes are kept.
#[derive(Debug, Default)]
pub(super) struct SharedTexts(RwLock<Texts>);

#[derive(Debug, Default)]
struct Texts {
    numbers: HashMap<Box<str>, usize>,
    all: Vec<Box<str>>,
}

impl SharedTexts {
    pub(super) fn new(known: &[Box<str>]) -> Self {
        let numbers = known.iter().cloned().enumerate().map(|(number, text)| (text, number)).collect();
        Self(RwLock::new(Texts { numbers, all: known.to_vec() }))
    }

    /// `None` if it is not shared.
    pub(super) fn number(&self, text: &str) -> Option<usize> {
        // Entries are inserted whole, so a poisoned lock is valid.
        let texts = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let known = texts.numbers.get(text).copied();
        if known.is_some() || text.len() > LONGEST || texts.all.len() >= MOST {
            return known;
        }
        drop(texts);
        let mut texts = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let Texts { numbers, all } = &mut *texts;
        if let Some(number) = numbers.get(text) {
            return Some(*number);
        }
        let number = all.len();
        (number < MOST).then(|| {
            all.push(text.into());
            numbers.insert(text.into(), number);
            number
        })
    }

    /// For each text its length (u32) and its bytes.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let texts = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = Vec::new();
        for text in &texts.all {
            // Shared texts are short.
            bytes.extend_from_slice(&u32::try_from(text.len()).unwrap_or_default().to_le_bytes());
            bytes.extend_from_slice(text.as_bytes());
        }
        bytes
    }
}

/// Reads what [`SharedTexts::to_bytes`] wrote; `None` for other bytes.
pub(super) fn read(mut bytes: &[u8]) -> Option<Vec<Box<str>>> {
    let mut texts = Vec::new();
    while !bytes.is_empty() {
        let (length, rest) = bytes.split_first_chunk()?;
        let (text, rest) = rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
        bytes = rest;
        texts.push(std::str::from_utf8(text).ok()?.into());
    }
    Some(texts)
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
