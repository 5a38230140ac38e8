//! The last lines of sealed segments, as a later segment or a commit names them.

use jiff::Timestamp;

use super::{Actor, ActorKind, Event, EventDraft, Kind, SegmentName};
use crate::artifact::FileHash;

/// The largest number of segments that a seal names. Those beyond it are named by the next seals: each takes
/// as many that nobody named before.
pub const MOST_HEADS: usize = 64;

/// The field of a seal that holds the heads: names and hashes.
const FIELD: &str = "heads";

/// A sealed segment, and the hash of its last line, which follows from all lines before it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SegmentHead {
    /// The segment.
    pub segment: SegmentName,
    /// The hash of its last line, without its line end.
    pub last: FileHash,
}

/// The last line of a segment that is sealed at `at` and follows segments with these heads. It has the shape
/// of an event, so that programs that do not know it pass over a kind that they do not know.
pub fn seal(heads: &[SegmentHead], at: Timestamp) -> Event {
    let named = heads.iter().map(|head| (head.segment.to_string(), head.last.to_string().into()));
    let draft = EventDraft::new(Kind::SEAL).with(FIELD, named.collect::<serde_json::Map<_, _>>());
    let actor = Actor { kind: ActorKind::Tool, name: "stepmark".to_owned() };
    Event::new(draft, actor, at).sealed()
}

/// The heads that a line names, if it is a seal. What is no name or no hash among them names nothing.
pub fn heads_in(event: &Event) -> Option<Vec<SegmentHead>> {
    if event.kind != Kind::SEAL || event.artifact.is_some() {
        return None;
    }
    let named = event.data.get(FIELD)?.as_object()?;
    let head = |(name, hash): (&String, &serde_json::Value)| {
        Some(SegmentHead { segment: SegmentName::new(name)?, last: hash.as_str()?.parse().ok()? })
    };
    Some(named.iter().filter_map(head).take(MOST_HEADS).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(name: &str) -> SegmentHead {
        SegmentHead { segment: SegmentName::new(name).unwrap(), last: FileHash::of(name.as_bytes()) }
    }

    #[test]
    fn a_seal_names_heads_and_nothing_else_does() {
        let heads = [head("main-a"), head("s-1-b")];
        let seal = seal(&heads, "2026-11-22T10:00:00Z".parse().unwrap());
        assert!(seal.is_genuine());
        let read: Event = serde_json::from_slice(&serde_json::to_vec(&seal).unwrap()).unwrap();
        assert_eq!(heads_in(&read).unwrap(), heads);
        let mut spoilt = seal.clone();
        spoilt.data[FIELD]["../x"] = "0".into();
        assert_eq!(heads_in(&spoilt).unwrap(), heads);
        spoilt.kind = Kind::CHANGE;
        assert_eq!(heads_in(&spoilt), None);
        spoilt = seal;
        spoilt.data.clear();
        assert_eq!(heads_in(&spoilt), None, "an event of that name by somebody else");
    }
}
