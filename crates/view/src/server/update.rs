//! The differences between two revisions.

use std::collections::{HashMap, HashSet};

use serde_json::{Value as Json, json};

use super::shown::Shown;
use crate::page;

impl Shown {
    /// The changes that a page that shows the revision `from` has to make to show this one: pieces to take
    /// away, and pieces to put in or in the place of what is there, in an order in which each finds the one
    /// before it. A page that is too old, or of another run of the program, is told to read itself again.
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
