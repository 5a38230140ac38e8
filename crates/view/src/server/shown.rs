//! What is shown, revision by revision.

use std::{
    collections::VecDeque,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::Arc,
};

use crate::{
    observation::Observation,
    overview::Overview,
    page::{OverviewPage, Piece},
};

/// How many earlier revisions are remembered by their digests: who missed more reads the whole page again.
const REMEMBERED: usize = 64;

/// One state, drawn.
#[derive(Debug)]
pub struct Shown {
    /// Its number, from 1.
    pub revision: u64,
    /// What it was drawn from.
    pub observation: Observation,
    /// What that means.
    pub overview: Overview,
    /// The overview as a page.
    pub page: OverviewPage,
    /// The digests of the pieces, by their places.
    pub(super) digests: Digests,
    /// Those of earlier revisions, the latest last.
    pub(super) earlier: VecDeque<(u64, Digests)>,
}

/// The id of every piece with the digest of its HTML, in the order of the page.
pub(super) type Digests = Arc<[(Arc<str>, u64)]>;

/// Makes revisions.
#[derive(Debug)]
pub struct Shows;

impl Shows {
    /// The first revision.
    pub fn first(observation: Observation) -> Shown {
        drawn(observation, 1, VecDeque::new())
    }

    /// The revision after `before`; `None` where nothing looks different.
    pub fn next(before: &Shown, observation: Observation) -> Option<Shown> {
        let mut earlier = before.earlier.clone();
        earlier.push_back((before.revision, Arc::clone(&before.digests)));
        if earlier.len() > REMEMBERED {
            earlier.pop_front();
        }
        let next = drawn(observation, before.revision + 1, earlier);
        (next.digests != before.digests || next.has_other_text(before)).then_some(next)
    }
}

impl Shown {
    /// Whether the page of an artifact looks different though no row does: its text changed.
    fn has_other_text(&self, before: &Self) -> bool {
        let texts = |shown: &Self| -> Vec<_> {
            let artifacts = shown.observation.artifacts.artifacts.iter();
            artifacts.map(|one| digest(one.artifact().bytes())).collect()
        };
        texts(self) != texts(before)
    }
}

fn drawn(observation: Observation, revision: u64, earlier: VecDeque<(u64, Digests)>) -> Shown {
    let overview = Overview::of(&observation);
    let page = OverviewPage::live(&overview, revision);
    let digest_of = |piece: &Piece| (Arc::from(piece.id.as_str()), digest(piece.html.as_bytes()));
    let digests = page.pieces.iter().map(digest_of).collect();
    Shown { revision, observation, overview, page, digests, earlier }
}

/// Tells pieces of one run of the program apart; kept nowhere.
fn digest(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}
