//! Segment files: a header line, then one event per line, each chained to the line before.

use super::{Actor, ActorKind, Event, EventDraft, EventId, Kind};
use crate::artifact::FileHash;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

const FORMAT: &str = "journal/1";

/// Without extension: letters, digits, `-`, `_` and `.`, no leading dot.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct SegmentName(String);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// `journal/1`
    pub stepmark: String,
    pub segment: String,
    /// `None`: commands outside of sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Hash of the line before, without line feed.
    pub prev: FileHash,
    pub event: Event,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashChain {
    last: FileHash,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineProblem {
    #[error("the first line is no header of a segment that this version reads")]
    Header,
    #[error("the line is no event: {reason}")]
    NotAnEvent {
        /// Of the JSON reader.
        reason: String,
    },
    #[error(
        "the line before is not the one that this line was chained to: a line was changed, added or removed"
    )]
    BrokenChain,
    #[error("the event is not what it was when it got its id")]
    NotGenuine,
    #[error("the last line is torn: it was never acknowledged")]
    Torn,
    #[error("the first line is that of the segment {segment}: the file was renamed or copied")]
    Misnamed {
        /// As in the first line.
        segment: String,
    },
    #[error("it is no regular file, and is not read")]
    NotAFile,
    /// Another file of the segment has other lines and counts: one sealed by, or local to, this clone.
    #[error(
        "it is not the segment that this clone sealed, or that has a file of its own: it was replaced or changed; the other counts"
    )]
    Replaced,
    #[error(
        "the event follows {parent}, which no segment holds: a segment is missing, or did not reach this clone"
    )]
    MissingParent { parent: EventId },
    #[error(
        "the segment is missing, and the segment {by} names it: it was removed, or did not reach this clone"
    )]
    MissingSegment { by: SegmentName },
    #[error(
        "the segment does not end with the line that the segment {by} names: it was written anew, or cut"
    )]
    Rewritten { by: SegmentName },
}

impl SegmentName {
    pub fn new(text: &str) -> Option<Self> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        let is_name =
            !text.is_empty() && text.len() <= 120 && !text.starts_with('.') && text.bytes().all(is_plain);
        is_name.then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SegmentName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl Header {
    pub fn new(name: &SegmentName, session: Option<&str>) -> Self {
        Self { stepmark: FORMAT.to_owned(), segment: name.to_string(), session: session.map(str::to_owned) }
    }

    pub fn line(&self) -> (Vec<u8>, HashChain) {
        let mut line = serde_json::to_vec(self).unwrap_or_default();
        let chain = HashChain { last: FileHash::of(&line) };
        line.push(b'\n');
        (line, chain)
    }

    /// Without line feed.
    pub fn read(line: &[u8]) -> Result<(Self, HashChain), LineProblem> {
        let header: Self = serde_json::from_slice(line).map_err(|_| LineProblem::Header)?;
        if header.stepmark != FORMAT {
            return Err(LineProblem::Header);
        }
        Ok((header, HashChain { last: FileHash::of(line) }))
    }
}

impl HashChain {
    pub const fn behind(last: FileHash) -> Self {
        Self { last }
    }

    pub const fn last(&self) -> FileHash {
        self.last
    }

    pub fn add(&mut self, event: &Event) -> Vec<u8> {
        let line = Line { prev: self.last, event: event.clone() };
        let mut bytes = serde_json::to_vec(&line).unwrap_or_default();
        self.last = FileHash::of(&bytes);
        bytes.push(b'\n');
        bytes
    }

    /// Without line feed. The chain continues after a bad line, so it is reported once.
    pub fn read(&mut self, line: &[u8]) -> Result<Event, LineProblem> {
        let expected = std::mem::replace(&mut self.last, FileHash::of(line));
        let read: Line = serde_json::from_slice(line)
            .map_err(|error| LineProblem::NotAnEvent { reason: error.to_string() })?;
        if read.prev == expected { Ok(read.event) } else { Err(LineProblem::BrokenChain) }
    }
}

/// Segments beyond it are named by the next seals.
pub const MOST_HEADS: usize = 64;

const FIELD: &str = "heads";

/// The hash of the last line covers all lines before it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SegmentHead {
    pub segment: SegmentName,
    /// Without line end.
    pub last: FileHash,
}

/// Follows segments with these heads. Shaped as an event, so that older programs skip it as an unknown kind.
pub fn seal(heads: &[SegmentHead], at: Timestamp) -> Event {
    let named = heads.iter().map(|head| (head.segment.to_string(), head.last.to_string().into()));
    let draft = EventDraft::new(Kind::SEAL).with(FIELD, named.collect::<serde_json::Map<_, _>>());
    let actor = Actor { kind: ActorKind::Tool, name: "stepmark".to_owned() };
    Event::new(draft, actor, at).sealed()
}

/// `None`: not a seal. Invalid names and hashes are skipped.
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
    use crate::journal::{Actor, EventDraft, Kind};

    fn event(reason: &str) -> Event {
        let draft = EventDraft::new(Kind::CHANGE).with_reason(Some(reason.to_owned()));
        Event::new(draft, Actor::human("Ada"), "2026-11-22T10:00:00Z".parse().unwrap()).sealed()
    }

    fn segment() -> Vec<Vec<u8>> {
        let name = SegmentName::new("main-x").unwrap();
        let (header, mut chain) = Header::new(&name, None).line();
        let lines = ["a", "b", "c"].map(|reason| chain.add(&event(reason)));
        [header].into_iter().chain(lines).map(|line| line.strip_suffix(b"\n").unwrap().to_vec()).collect()
    }

    fn problems(lines: &[Vec<u8>]) -> Vec<(usize, LineProblem)> {
        let (_, mut chain) = Header::read(&lines[0]).unwrap();
        let read = lines[1..].iter().enumerate();
        let genuine = |event: Event| if event.is_genuine() { Ok(()) } else { Err(LineProblem::NotGenuine) };
        read.filter_map(|(place, line)| Some((place, chain.read(line).and_then(genuine).err()?))).collect()
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(problems(&segment()), []);
    }

    #[test]
    fn every_change_shows() {
        let whole = segment();
        let mut without = whole.clone();
        without.remove(2);
        assert_eq!(problems(&without), [(1, LineProblem::BrokenChain)]);
        let mut swapped = whole.clone();
        swapped.swap(1, 2);
        assert_eq!(problems(&swapped).len(), 3);
        let mut reworded = whole.clone();
        let text = String::from_utf8(reworded[2].clone()).unwrap().replace("\"b\"", "\"B\"");
        reworded[2] = text.into_bytes();
        assert_eq!(problems(&reworded), [(1, LineProblem::NotGenuine), (2, LineProblem::BrokenChain)]);
        let mut torn = whole;
        torn[3].truncate(40);
        assert!(matches!(problems(&torn)[..], [(2, LineProblem::NotAnEvent { .. })]));
        assert_eq!(Header::read(b"{}"), Err(LineProblem::Header));
        assert_eq!(Header::read(br#"{"stepmark":"journal/9","segment":"x"}"#), Err(LineProblem::Header));
    }

    #[test]
    fn names_are_safe_as_file_names() {
        assert!(SegmentName::new("2026-s_1.a-Xy9").is_some());
        for text in ["", ".x", "a/b", "a\\b", "a b", "ä", &"x".repeat(121)] {
            assert!(SegmentName::new(text).is_none(), "{text}");
        }
    }

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
