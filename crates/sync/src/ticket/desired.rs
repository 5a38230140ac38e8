//! The desired ticket of an artifact.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    str::FromStr,
};

use super::{Block, CloseReason, Inline, Marker, Observed, RemoteTicket, Stamp, TicketState, markdown};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use stepmark_model::artifact::{FileHash, FileHashError};

/// Only fields that stepmark manages. The same artifact gives the same ticket: it has no times and commits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticket {
    pub marker: Marker,
    pub title: String,
    pub body: Vec<Block>,
    /// For a body that has no room for all.
    pub file: Inline,
    /// The address of the file at the commit that held it. Not digested: another commit alone changes no
    /// ticket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_at_commit: Option<String>,
    /// Not digested.
    #[serde(default, skip_serializing_if = "Stamp::is_empty")]
    pub stamp: Stamp,
    /// Ours, with the project's label ([`Marker::label`]).
    pub labels: BTreeSet<String>,
    /// Older ledgers and files of tickets call it `standing`.
    #[serde(alias = "standing")]
    pub state: TicketState,
    /// A tracker with statuses of its own may map it.
    pub status: Option<String>,
    #[serde(default, skip_serializing_if = "TicketKind::is_other")]
    pub kind: TicketKind,
    /// The artifact above it, if that has a ticket too.
    pub parent: Option<Marker>,
    pub fields: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TicketKind {
    Epic,
    /// A story that nobody delegated: its parent is an epic.
    Story,
    #[default]
    Other,
}

impl TicketKind {
    fn is_other(&self) -> bool {
        *self == Self::Other
    }
}

/// Jira's limit for `summary` (docs/formats.md, "Trackers"); GitHub allows one more.
pub const TITLE_LIMIT: usize = 255;

/// A new version sends every ticket again.
pub(super) const CANONICAL_SCHEMA: &str = "stepmark.ticket/2";

#[derive(Serialize)]
struct Canonical<'t> {
    schema: &'static str,
    ticket: Stored<'t>,
}

/// Names and order are a stored format (digested without `file_at_commit` and `stamp`): older programs read
/// it, and markers and ledgers hold the digest, so a change here sends every ticket again.
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
    /// Compact JSON: fields in the order of their declaration, maps and sets sorted, no numbers, so that one
    /// ticket has one spelling. (RFC 8785 would say the same, eleven times as slowly.)
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

/// SHA-256 of [`Ticket::canonical`](super::Ticket::canonical), shown as 64 lower-case hexadecimal digits. A
/// ticket that has this digest already is not sent.
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

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldDifference {
    /// `title`, `body`, `labels`, `state`, `status`, `parent`, or `fields.NAME`.
    pub field: String,
    /// Null if it has none, or that is not known.
    pub before: Json,
    /// Null if it should have none.
    pub after: Json,
}

pub type Differences = crate::Result<Vec<FieldDifference>>;

impl FieldDifference {
    pub fn between(field: &str, before: Json, after: Json) -> Option<Self> {
        (before != after).then(|| Self { field: field.to_owned(), before, after })
    }
}

impl Ticket {
    pub fn differences(&self, before: Option<&Self>) -> Vec<FieldDifference> {
        let (own, other) = (self.shown(), before.map(Self::shown).unwrap_or_default());
        let names = own.iter().chain(&other).map(|(name, _)| name);
        let mut differences: Vec<FieldDifference> = Vec::new();
        for name in names {
            let value = |fields: &[(String, Json)]| {
                let field = fields.iter().find(|(own, _)| own == name);
                field.map_or(Json::Null, |(_, value)| value.clone())
            };
            if differences.iter().all(|difference| difference.field != *name) {
                differences.extend(FieldDifference::between(name, value(&other), value(&own)));
            }
        }
        differences
    }

    fn shown(&self) -> Vec<(String, Json)> {
        let text = |text: &Option<String>| text.clone().map_or(Json::Null, Json::String);
        let body = markdown(&self.body, &self.file, usize::MAX).text;
        let mut fields = vec![
            ("title".to_owned(), Json::from(self.title.as_str())),
            ("body".to_owned(), Json::from(body)),
            ("labels".to_owned(), self.labels.iter().cloned().collect()),
            ("state".to_owned(), serde_json::to_value(self.state).unwrap_or_default()),
            ("status".to_owned(), text(&self.status)),
            ("parent".to_owned(), text(&self.parent.as_ref().map(ToString::to_string))),
        ];
        let own =
            self.fields.iter().map(|(name, value)| (format!("fields.{name}"), Json::from(value.as_str())));
        fields.extend(own);
        fields
    }
}

/// Keeps people's labels. `own` are those that stepmark gave: a label that only looks like ours is a
/// person's.
pub fn merged_labels(
    current: &BTreeSet<String>,
    own: &BTreeSet<String>,
    desired: &BTreeSet<String>,
) -> BTreeSet<String> {
    let is_in = |labels: &BTreeSet<String>, label: &str| labels.iter().any(|own| same_label(own, label));
    let is_foreign = |label: &&String| !is_in(own, label) && !is_in(desired, label);
    desired.iter().chain(current.iter().filter(is_foreign)).cloned().collect()
}

/// Ignores case, as GitHub does.
pub fn labels_agree(current: &BTreeSet<String>, own: &BTreeSet<String>, desired: &BTreeSet<String>) -> bool {
    let folded = |labels: &BTreeSet<String>| -> BTreeSet<String> {
        labels.iter().map(|label| label.to_lowercase()).collect()
    };
    folded(&merged_labels(current, own, desired)) == folded(current)
}

fn same_label(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

/// The owner of the parent is not known here, so what the ticket last said decides; a parent that a person
/// gave to one that should have none stays.
#[cfg(feature = "http")]
pub(crate) fn parent_difference(
    desired: &Ticket,
    before: Option<&Ticket>,
    observed: &Observed,
) -> Option<FieldDifference> {
    let last = before.and_then(|before| before.parent.as_ref());
    let is_known = observed.parent_id.is_some();
    let agrees = match &desired.parent {
        Some(parent) => is_known && (last.is_none() || last == Some(parent)),
        None => !is_known || last.is_none(),
    };
    let current = if is_known { shown_marker(last) } else { Json::Null };
    let difference = FieldDifference::between("parent", current, shown_marker(desired.parent.as_ref()));
    difference.filter(|_| !agrees)
}

#[cfg(feature = "http")]
pub(crate) fn shown_marker(marker: Option<&Marker>) -> Json {
    marker.map_or(Json::Null, |marker| Json::from(marker.to_string()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ticket::sample::ticket;

    #[test]
    fn only_what_differs_is_told() {
        let before = Ticket { fields: [("old".to_owned(), "1".to_owned())].into(), ..ticket("a", |_| {}) };
        let after = ticket("a", |facts| (facts.title, facts.is_finished) = ("New".to_owned(), true));
        let after = Ticket { fields: [("new".to_owned(), "2".to_owned())].into(), ..after };
        let told = after.differences(Some(&before));
        let told: Vec<_> = told.iter().map(|told| (told.field.as_str(), &told.before, &told.after)).collect();
        assert_eq!(
            told,
            [
                ("title", &json!("Artifact a"), &json!("New")),
                ("state", &json!("in-progress"), &json!({"closed": "completed"})),
                ("fields.new", &Json::Null, &json!("2")),
                ("fields.old", &json!("1"), &Json::Null),
            ]
        );
        assert!(after.differences(Some(&after)).is_empty());
        assert_eq!(ticket("a", |_| {}).differences(None).len(), 5, "all but the parent, which it has not");
    }

    fn set(labels: &[&str]) -> BTreeSet<String> {
        labels.iter().map(|label| (*label).to_owned()).collect()
    }

    #[test]
    fn labels_of_people_stay() {
        let desired = set(&["stepmark:p", "status:done", "fixed"]);
        for (current, own, expected) in [
            (
                &["bug", "Status:Draft"][..],
                &["status:draft"][..],
                &["bug", "stepmark:p", "status:done", "fixed"][..],
            ),
            (&["bug", "old"], &["old"], &["bug", "stepmark:p", "status:done", "fixed"]),
            (&["status:mine"], &["status:draft"], &["status:mine", "stepmark:p", "status:done", "fixed"]),
            (&["FIXED"], &[], &["stepmark:p", "status:done", "fixed"]),
        ] {
            assert_eq!(merged_labels(&set(current), &set(own), &desired), set(expected));
            assert!(!labels_agree(&set(current), &set(own), &desired));
        }
        assert!(labels_agree(&set(&["bug", "Stepmark:p", "status:done", "Fixed"]), &set(&[]), &desired));
    }
}
