//! The part of an event that its maker gives.

use serde_json::{Map, Value as Json};

use super::{EventId, Kind, Spelling};

/// The part of an event that its maker gives; the commit fills in the rest.
#[derive(Clone, Debug, PartialEq)]
pub struct EventDraft {
    pub kind: Kind,
    /// The command, as a person would type it.
    pub command: Option<String>,
    pub reason: Option<String>,
    pub data: Map<String, Json>,
    /// The reason to do it although its lifecycle or open children stand against it; an [`Kind::OVERRIDE`]
    /// event before it keeps the reason.
    pub insistence: Option<String>,
    /// True if whoever makes it has asked already who moves and what it waits for: nobody reads all artifacts
    /// to ask again.
    pub is_decided: bool,
    /// True if it makes a move, which may change what an agent does not set.
    pub is_move: bool,
    /// True if the changes of its commit are one decision, which is taken back as one.
    pub is_in_one_decision: bool,
    /// True if its maker has asked for open parts already.
    pub knows_parts: bool,
    /// True if it brings back what history tells of it: what its lifecycle keeps from changes was changed by
    /// other means.
    pub brings_back: bool,
    /// The spelling of the changed values before.
    pub spelling: Option<Json>,
}

/// The key in the data of events that were decided together: in the first of them how many artifacts
/// change, in the others the id of the first.
pub(super) const TOGETHER: &str = "together";

pub(super) const LOCAL: &str = "local";

impl EventDraft {
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            command: None,
            reason: None,
            data: Map::new(),
            insistence: None,
            is_decided: false,
            is_move: false,
            is_in_one_decision: false,
            knows_parts: false,
            brings_back: false,
            spelling: None,
        }
    }

    #[must_use]
    pub fn with_command(mut self, command: impl Into<String>) -> Self {
        self.command = Some(command.into());
        self
    }

    #[must_use]
    pub fn with_reason(mut self, reason: Option<String>) -> Self {
        self.reason = reason;
        self
    }

    /// The same, to be done for this reason although its lifecycle or open children stand against it.
    #[must_use]
    pub fn insisting(mut self, reason: Option<String>) -> Self {
        self.insistence = reason;
        self
    }

    /// The same, where its maker has asked already who moves and what it waits for.
    #[must_use]
    pub const fn decided(mut self) -> Self {
        self.is_decided = true;
        self.making_a_move()
    }

    #[must_use]
    pub const fn making_a_move(mut self) -> Self {
        self.is_move = true;
        self
    }

    /// The same, as a part of one decision on several artifacts.
    #[must_use]
    pub const fn in_one_decision(mut self) -> Self {
        self.is_in_one_decision = true;
        self
    }

    /// The same, where its maker has asked for open parts already.
    #[must_use]
    pub const fn knowing_parts(mut self) -> Self {
        self.knows_parts = true;
        self
    }

    #[must_use]
    pub const fn bringing_back(mut self) -> Self {
        self.brings_back = true;
        self
    }

    /// The same, as the first of those that are decided together on `count` artifacts, or with the `first`.
    #[must_use]
    pub fn together(self, first: Option<EventId>, count: usize) -> Self {
        match first {
            _ if !self.is_in_one_decision || count < 2 => self,
            Some(first) => self.with(TOGETHER, first.to_string()),
            None => self.with(TOGETHER, count),
        }
    }

    /// The same, which keeps how the frontmatter was written that the change makes another of.
    #[must_use]
    pub fn keeping(mut self, spelling: Option<&Spelling>) -> Self {
        self.spelling = spelling.and_then(|spelling| serde_json::to_value(spelling).ok());
        self
    }

    /// The same, which stays in this clone: its segment of the journal is never sealed.
    #[must_use]
    pub fn kept_local(self, is_local: bool) -> Self {
        if is_local { self.with(LOCAL, true) } else { self }
    }

    #[must_use]
    pub fn with(mut self, name: &str, fact: impl Into<Json>) -> Self {
        self.data.insert(name.to_owned(), fact.into());
        self
    }
}
