//! Where the entries of a mapping stand, by key: a file of many keys that is changed in many places is gone through once.

use std::{cell::RefCell, collections::HashMap};

use super::Entry;

/// How many entries a mapping has that is worth an index.
const LARGE: usize = 64;

/// The indices of the large mappings that were looked through, by the place of their first entry.
#[derive(Default)]
pub(super) struct Keys<'t>(RefCell<HashMap<usize, HashMap<&'t str, KeyPlaces>>>);

/// The entries under one key.
#[derive(Clone, Copy)]
pub(super) struct KeyPlaces {
    pub(super) first: usize,
    pub(super) last: usize,
    /// One, where the key stands once.
    pub(super) count: usize,
}

impl<'t> Keys<'t> {
    /// The entries of a mapping under `key`, if there are any.
    pub(super) fn find(&self, entries: &'t [Entry<'_>], key: &str) -> Option<KeyPlaces> {
        let keys = entries.iter().map(|entry| entry.key.as_key()).enumerate();
        if entries.len() < LARGE {
            let same = keys.filter(|(_, found)| *found == Some(key));
            return same.fold(None, |places, (place, _)| Some(KeyPlaces::with(places, place)));
        }
        let mut indices = self.0.borrow_mut();
        let index = indices.entry(entries.as_ptr().addr()).or_insert_with(|| {
            let mut index = HashMap::with_capacity(entries.len());
            for (place, key) in keys.filter_map(|(place, key)| Some((place, key?))) {
                index
                    .entry(key)
                    .and_modify(|places: &mut KeyPlaces| *places = KeyPlaces::with(Some(*places), place))
                    .or_insert_with(|| KeyPlaces::with(None, place));
            }
            index
        });
        index.get(key).copied()
    }
}

impl KeyPlaces {
    fn with(found: Option<Self>, place: usize) -> Self {
        found.map_or(Self { first: place, last: place, count: 1 }, |found| Self {
            last: place,
            count: found.count + 1,
            ..found
        })
    }
}
