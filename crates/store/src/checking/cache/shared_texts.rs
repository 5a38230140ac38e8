//! Texts that many notes of a cache have: each stands there once.

use std::{
    collections::HashMap,
    sync::{PoisonError, RwLock},
};

/// A text of more bytes stands in each note.
const LONGEST: usize = 1024;
/// More texts than this are not shared: they are most likely different in each artifact.
const MOST: usize = 1 << 14;

/// The texts with their numbers. Those of the earlier cache keep theirs, since notes of it are kept.
#[derive(Debug, Default)]
pub(super) struct SharedTexts(RwLock<Texts>);

#[derive(Debug, Default)]
struct Texts {
    numbers: HashMap<Box<str>, usize>,
    all: Vec<Box<str>>,
}

impl SharedTexts {
    /// The texts `known` from the earlier cache, to which others come.
    pub(super) fn new(known: &[Box<str>]) -> Self {
        let numbers = known.iter().cloned().enumerate().map(|(number, text)| (text, number)).collect();
        Self(RwLock::new(Texts { numbers, all: known.to_vec() }))
    }

    /// The number of `text`; `None` for one that is not shared.
    pub(super) fn number(&self, text: &str) -> Option<usize> {
        // Whoever panicked left whole texts.
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

    /// Their bytes: the length of each (u32), and the text.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let texts = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = Vec::new();
        for text in &texts.all {
            // They are short.
            bytes.extend_from_slice(&u32::try_from(text.len()).unwrap_or_default().to_le_bytes());
            bytes.extend_from_slice(text.as_bytes());
        }
        bytes
    }
}

/// Reads what [`SharedTexts::to_bytes`] wrote; `None` where these are other bytes.
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
