//! A question to memory, and an answer.

use jiff::Timestamp;
use serde::Serialize;

use crate::{MemoryKind, MemoryRecord, ranking::Score};

#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Words; empty for what matters most.
    pub text: String,
    /// Only records of these kinds; all where there is none.
    pub kinds: Vec<MemoryKind>,
    /// The artifact that is worked on, by its path or its identity: what hangs on it comes first.
    pub artifact: Option<String>,
    pub session: Option<String>,
    pub since: Option<Timestamp>,
    /// Also what is superseded or has ended.
    pub all: bool,
    /// The most records; 10 where it is 0.
    pub limit: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recalled {
    #[serde(flatten)]
    pub record: MemoryRecord,
    /// The records that took its place; none where it holds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub superseded_by: Vec<String>,
    pub score: Score,
}
