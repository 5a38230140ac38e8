//! Segments of history written anew, with all of their hashes.

use std::collections::HashMap;

use stepmark_model::journal::{
    Event, EventId, HashChain, Header, Line, SegmentHead, SegmentName, heads_in, seal,
};

/// Writes segments anew: every hash in them is right, and the events say something else.
#[derive(Default)]
pub(crate) struct Forger {
    ids: HashMap<EventId, EventId>,
    heads: Vec<SegmentHead>,
}

impl Forger {
    /// The segment in which `change` was made to each event. What follows events, or segments, that were
    /// forged before, follows them now.
    pub(crate) fn forge(&mut self, segment: &[u8], change: impl Fn(&mut Event)) -> Vec<u8> {
        let (header, events) = read(segment);
        let (mut forged, mut chain) = header.line();
        for mut event in events {
            let id = event.id;
            match heads_in(&event) {
                Some(heads) => {
                    let heads: Vec<SegmentHead> = heads.into_iter().map(|head| self.forged(head)).collect();
                    event = seal(&heads, event.at);
                }
                None => {
                    change(&mut event);
                    for parent in &mut event.parents {
                        *parent = self.ids.get(parent).copied().unwrap_or(*parent);
                    }
                    event = event.sealed();
                }
            }
            self.ids.insert(id, event.id);
            forged.extend(chain.add(&event));
        }
        self.heads.push(SegmentHead { segment: name(&header), last: chain.last() });
        forged
    }

    fn forged(&self, head: SegmentHead) -> SegmentHead {
        self.heads.iter().find(|forged| forged.segment == head.segment).cloned().unwrap_or(head)
    }
}

/// The names of the segments that the last line of a segment names.
pub(crate) fn named_by(segment: &[u8]) -> Vec<String> {
    let heads = read(segment).1.last().and_then(heads_in).unwrap_or_default();
    heads.into_iter().map(|head| head.segment.to_string()).collect()
}

fn read(segment: &[u8]) -> (Header, Vec<Event>) {
    let mut lines = segment.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let (header, _): (Header, HashChain) = Header::read(lines.next().unwrap()).unwrap();
    (header, lines.map(|line| serde_json::from_slice::<Line>(line).unwrap().event).collect())
}

fn name(header: &Header) -> SegmentName {
    SegmentName::new(&header.segment).unwrap()
}
