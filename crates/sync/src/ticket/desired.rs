//! The desired ticket of an artifact.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    str::FromStr,
};

use serde::{Deserialize, Serialize};
use stepmark_model::artifact::{FileHash, FileHashError};

use super::{Block, CloseReason, Inline, Marker, Observed, RemoteTicket, Stamp, TicketState};

/// The desired ticket of an artifact: only fields that stepmark manages. It follows from the artifact alone,
/// so the same state gives the same ticket; times and commits are in none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticket {
    pub marker: Marker,
    /// One line, at most [`TITLE_LIMIT`] characters.
    pub title: String,
    pub body: Vec<Block>,
    /// The artifact's file, for a body that has no room for all.
    pub file: Inline,
    /// The address of that file at the commit that held it when this was made. No part of the canonical form:
    /// another commit alone changes no ticket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_at_commit: Option<String>,
    /// The commit that it is written from. No part of the canonical form.
    #[serde(default, skip_serializing_if = "Stamp::is_empty")]
    pub stamp: Stamp,
    /// The labels that are ours. The project's label ([`Marker::label`]) is among them.
    pub labels: BTreeSet<String>,
    /// Open or closed, and how far. Ledgers and older files of tickets call it `standing`.
    #[serde(alias = "standing")]
    pub state: TicketState,
    /// The status word of the artifact, which a tracker with statuses of its own may map.
    pub status: Option<String>,
    #[serde(default, skip_serializing_if = "TicketKind::is_other")]
    pub kind: TicketKind,
    /// The artifact above it in the chain of delegation, where that has a ticket too.
    pub parent: Option<Marker>,
    /// Other fields of the tracker, by the names that it has for them.
    pub fields: BTreeMap<String, String>,
}

/// The kind of an artifact among others, where trackers tell that apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TicketKind {
    Epic,
    /// A story that nobody delegated: what it hangs below is an epic.
    Story,
    #[default]
    Other,
}

impl TicketKind {
    fn is_other(&self) -> bool {
        *self == Self::Other
    }
}

/// The most characters of a title: Jira's limit for `summary` (docs/formats.md, "Trackers"); GitHub allows
/// one more.
pub const TITLE_LIMIT: usize = 255;

/// The version of the canonical form. It grows when the same ticket is to be shown otherwise, so that all are
/// sent again.
pub(super) const CANONICAL_SCHEMA: &str = "stepmark.ticket/2";

#[derive(Serialize)]
struct Canonical<'t> {
    schema: &'static str,
    ticket: Stored<'t>,
}

/// A ticket as ledgers keep it and, without `file_at_commit` and `stamp`, as it is digested. Names and order
/// are a stored format: older programs read it, and markers and ledgers hold the digest, so a change here
/// sends every ticket again.
#[derive(Serialize)]
pub(crate) struct Stored<'t> {
    marker: &'t Marker,
    title: &'t str,
    body: &'t [Block],
    file: &'t Inline,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_at_commit: Option<&'t str>,
    #[serde(skip_serializing_if = "Stamp::is_empty")]
    stamp: &'t Stamp,
    labels: &'t BTreeSet<String>,
    standing: TicketState,
    status: &'t Option<String>,
    #[serde(skip_serializing_if = "TicketKind::is_other")]
    kind: TicketKind,
    parent: &'t Option<Marker>,
    fields: &'t BTreeMap<String, String>,
}

impl Ticket {
    /// The canonical form: compact JSON with the version of the form. Fields stand in the order of their
    /// declaration, maps and sets in that of their keys, and there are no numbers, so that one ticket has one
    /// spelling. (RFC 8785 would say the same, eleven times as slowly.)
    pub fn canonical(&self) -> String {
        let stamp = &Stamp::default();
        let ticket = Stored { file_at_commit: None, stamp, ..self.stored() };
        let form = Canonical { schema: CANONICAL_SCHEMA, ticket };
        #[expect(clippy::expect_used, reason = "fails for keys that are no text: a ticket has none")]
        serde_json::to_string(&form).expect("a ticket has a canonical form")
    }

    pub(crate) fn stored(&self) -> Stored<'_> {
        let Self { marker, title, body, file, stamp, labels, status, parent, fields, .. } = self;
        let (file_at_commit, standing, kind) = (self.file_at_commit.as_deref(), self.state, self.kind);
        Stored {
            marker,
            title,
            body,
            file,
            file_at_commit,
            stamp,
            labels,
            standing,
            status,
            kind,
            parent,
            fields,
        }
    }

    pub fn digest(&self) -> TicketDigest {
        TicketDigest::of(&self.canonical())
    }
}

/// SHA-256 of the canonical form of a ticket ([`Ticket::canonical`](super::Ticket::canonical)). A tracker
/// that has this digest is sent nothing. Shown as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TicketDigest(FileHash);

impl TicketDigest {
    pub(super) fn of(canonical: &str) -> Self {
        Self(FileHash::of(canonical.as_bytes()))
    }

    pub(crate) const fn hash(self) -> FileHash {
        self.0
    }
}

impl From<FileHash> for TicketDigest {
    fn from(hash: FileHash) -> Self {
        Self(hash)
    }
}

impl fmt::Display for TicketDigest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl fmt::Debug for TicketDigest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl FromStr for TicketDigest {
    type Err = FileHashError;

    fn from_str(text: &str) -> Result<Self, FileHashError> {
        text.parse().map(Self)
    }
}

impl Ticket {
    pub(crate) fn of_gone(observed: &Observed) -> Self {
        let text = "The artifact of this ticket is gone.".to_owned();
        closed(observed, vec![Inline::Text(text)], CloseReason::NotPlanned)
    }

    pub(crate) fn duplicate_of(observed: &Observed, kept: &RemoteTicket) -> Self {
        let text = "This ticket was made twice. The one that counts is ".to_owned();
        let kept = match kept.url.is_empty() {
            true => Inline::Text(kept.key.clone()),
            false => Inline::Link { text: kept.key.clone(), url: kept.url.clone() },
        };
        closed(observed, vec![Inline::Text(text), kept], CloseReason::Duplicate)
    }
}

fn closed(observed: &Observed, text: Vec<Inline>, reason: CloseReason) -> Ticket {
    Ticket {
        marker: observed.marker.clone(),
        title: observed.title.clone(),
        file: Inline::Text(String::new()),
        file_at_commit: None,
        stamp: Stamp::default(),
        body: vec![Block::Paragraph(text)],
        labels: [observed.marker.label()].into(),
        state: TicketState::Closed(reason),
        status: None,
        kind: TicketKind::Other,
        parent: None,
        fields: BTreeMap::new(),
    }
}
