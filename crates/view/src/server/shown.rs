//! Shown states by revision.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::Arc,
};

use axum::body::Bytes;
use serde_json::{Value as Json, json};

use crate::{
    observation::Observation,
    overview::Overview,
    page::{self, OverviewPage, Piece, Revision, Stale},
};

/// Older clients reload the whole page.
const REMEMBERED: usize = 64;

#[derive(Debug)]
pub struct Shown {
    pub revision: u64,
    pub observation: Arc<Observation>,
    pub overview: Overview,
    /// `None`: current.
    pub stale: Option<Stale>,
    pub(super) html: Bytes,
    pub(super) pieces: Vec<Piece>,
    pub(super) digests: Digests,
    /// Latest last.
    pub(super) earlier: VecDeque<(u64, Digests)>,
}

/// Id and digest of each piece, in page order.
pub(super) type Digests = Arc<[(Arc<str>, u64)]>;

#[derive(Debug)]
pub struct Shows;

impl Shows {
    pub fn first(observation: Observation) -> Shown {
        drawn(Arc::new(observation), None, 1, VecDeque::new())
    }

    /// `None`: it looks the same.
    pub fn next(before: &Shown, observation: Observation) -> Option<Shown> {
        let next = drawn(Arc::new(observation), None, before.revision + 1, before.remembered());
        (next.digests != before.digests || next.has_other_text(before)).then_some(next)
    }

    /// Keeps the time of the first failure; `None` if it already has this reason.
    pub fn stale(before: &Shown, stale: Stale) -> Option<Shown> {
        let since = before.stale.as_ref().map_or(stale.since, |known| known.since);
        let stale = Some(Stale { since, ..stale });
        if before.stale == stale {
            return None;
        }
        Some(drawn(Arc::clone(&before.observation), stale, before.revision + 1, before.remembered()))
    }
}

impl Shown {
    pub(super) const fn revision(&self) -> Revision<'_> {
        Revision { number: self.revision, stale: self.stale.as_ref() }
    }

    fn remembered(&self) -> VecDeque<(u64, Digests)> {
        let mut earlier = self.earlier.clone();
        earlier.push_back((self.revision, Arc::clone(&self.digests)));
        if earlier.len() > REMEMBERED {
            earlier.pop_front();
        }
        earlier
    }

    /// The page of an artifact changes with its text, even if no row does.
    fn has_other_text(&self, before: &Self) -> bool {
        !self.observation.artifacts.have_texts_of(&before.observation.artifacts)
    }
}

fn drawn(
    observation: Arc<Observation>,
    stale: Option<Stale>,
    revision: u64,
    earlier: VecDeque<(u64, Digests)>,
) -> Shown {
    let overview = Overview::of(&observation);
    let page = OverviewPage::live(&overview, Revision { number: revision, stale: stale.as_ref() });
    let pieces: Vec<Piece> = stale.iter().map(Stale::piece).chain(page.pieces).collect();
    let digest_of = |piece: &Piece| (Arc::from(piece.id.as_str()), digest(piece.html.as_bytes()));
    let digests = pieces.iter().map(digest_of).collect();
    let html = Bytes::from(page.html);
    Shown { revision, observation, overview, stale, html, pieces, digests, earlier }
}

/// Valid within one run of the program only; never stored.
fn digest(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

impl Shown {
    /// The changes from revision `from` to this one: pieces to remove, then to insert or replace, in an order
    /// in which each follows the one before it. Pages that are too old, or of another run, are told to
    /// reload.
    pub(super) fn update(&self, from: u64) -> Json {
        let at = page::moment(self.overview.at);
        if from == self.revision {
            return json!({"revision": self.revision, "at": at, "removed": [], "changed": []});
        }
        let Some((_, before)) = self.earlier.iter().find(|(revision, _)| *revision == from) else {
            return json!({"revision": self.revision, "reload": true});
        };
        let known: HashMap<&str, u64> = before.iter().map(|(id, digest)| (&**id, *digest)).collect();
        let kept: HashSet<&str> = self.digests.iter().map(|(id, _)| &**id).collect();
        let removed: Vec<&str> = before.iter().map(|(id, _)| &**id).filter(|id| !kept.contains(id)).collect();
        let mut changed = Vec::new();
        let mut previous: Option<(&str, &str)> = None;
        for (piece, (id, digest)) in self.pieces.iter().zip(self.digests.iter()) {
            if known.get(&**id) != Some(digest) {
                let after = previous.filter(|(place, _)| *place == piece.place).map(|(_, id)| id);
                changed
                    .push(json!({"id": piece.id, "place": piece.place, "after": after, "html": piece.html}));
            }
            previous = Some((piece.place, &piece.id));
        }
        json!({"revision": self.revision, "at": at, "removed": removed, "changed": changed})
    }
}
