//! Our part of a ticket's body.

use std::{collections::BTreeSet, ops::Range};

use crate::{
    Error, ErrorKind, Result,
    ticket::{
        Block, Inline, Marker, Stamp, Ticket, markdown,
        title::{percent_decoded, percent_encoded},
    },
};

/// Between two hidden marks; people's text outside of it is kept.
#[derive(Clone, Copy, Debug)]
pub struct ManagedSection<'t> {
    ticket: &'t Ticket,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    pub body: String,
    /// Whole sections of this marker in the body before: 1, unless somebody edited the marks.
    pub sections: usize,
    pub omitted_lines: usize,
}

const BEGIN: (&str, &str) = ("<!-- stepmark:begin v1 ", " -->");
const LABELS: (&str, &str) = ("<!-- stepmark:labels ", " -->");
const NOTICE: &str = "stepmark keeps what stands above in step with";
const END: &str = "<!-- stepmark:end -->";

/// Bytes: GitHub takes 65,536 characters, and people want to add some.
const SECTION_LIMIT: usize = 60_000;

/// A smaller section could not even link to the file.
const LEAST_ROOM: usize = 400;

impl<'t> ManagedSection<'t> {
    pub const fn of(ticket: &'t Ticket) -> Self {
        Self { ticket }
    }

    pub fn alone(&self, limit: usize) -> Result<Merged> {
        self.merged_into("", limit)
    }

    /// A new section stands first; duplicates become one. A mark whose counterpart is missing is removed, and
    /// the text beside it kept: it may be a person's.
    pub fn merged_into(&self, existing: &str, limit: usize) -> Result<Merged> {
        let marker = &self.ticket.marker;
        let parts = parts(existing);
        let is_own = |part: &&Part| matches!(&part.kind, PartKind::Section(own) if own == marker);
        let sections = parts.iter().filter(is_own).count();
        let mut before = String::new();
        let mut after = String::new();
        let mut has_passed = false;
        for part in &parts {
            let text = &existing[part.range.clone()];
            let side = if has_passed { &mut after } else { &mut before };
            match &part.kind {
                PartKind::Section(own) | PartKind::Begin(own) if own == marker => has_passed = true,
                PartKind::End => {}
                PartKind::Section(_) | PartKind::Begin(_) | PartKind::Notice | PartKind::Text => {
                    side.push_str(text);
                }
            }
        }
        if !has_passed {
            (before, after) = (String::new(), before);
        }
        let begin = format!("{}{marker}{}", BEGIN.0, BEGIN.1);
        let before = trimmed_before(&before);
        let after = trimmed_after(&after);
        let foreign = before.chars().count() + after.chars().count();
        let notice = self.notice();
        let stamp = self.ticket.stamp.over(&marker.stamp_in(existing));
        let labels = format!("{}{}", self.labels(), stamp.line());
        let marks = begin.len() + labels.len() + notice.len() + END.len() + 2;
        let Some(room) = limit.checked_sub(foreign + marks).filter(|room| *room >= LEAST_ROOM) else {
            return Err(no_room(foreign, limit));
        };
        let room = room.min(SECTION_LIMIT.saturating_sub(foreign + marks)).max(LEAST_ROOM);
        let content = markdown(&self.ticket.body, &self.ticket.file, room);
        let text = self.ticket.linked_at_commit(&format!("{}{notice}", content.text));
        let body = format!("{before}{begin}\n{labels}{text}\n{END}{after}");
        Ok(Merged { body, sections, omitted_lines: content.omitted_lines })
    }

    /// Lists the labels that stepmark gave: without our ledger it shows which are people's.
    fn labels(&self) -> String {
        let own = self.ticket.labels.iter().filter(|label| **label != self.ticket.marker.label());
        // A double hyphen has a meaning in comments.
        let own = own.map(|label| percent_encoded(label).replace('-', "%2D")).collect::<Vec<_>>().join(" ");
        if own.is_empty() { own } else { format!("{}{own}{}\n", LABELS.0, LABELS.1) }
    }

    fn notice(&self) -> String {
        let notice = [
            Inline::Text(format!("{NOTICE} ")),
            self.ticket.file.clone(),
            Inline::Text(" and overwrites changes to it; what is written below stays.".to_owned()),
        ];
        let line = markdown(&[Block::Paragraph(notice.to_vec())], &self.ticket.file, usize::MAX).text;
        format!("\n\n---\n{line}")
    }

    /// Ignores line ends, which trackers change, and the commit that the link to the file leads to.
    pub fn is_in(&self, existing: &str, limit: usize) -> Result<bool> {
        let existing = existing.replace("\r\n", "\n");
        let wanted = Stamp::removed_from(&self.merged_into(&existing, limit)?.body);
        let existing = Stamp::removed_from(&existing);
        Ok(wanted == existing || self.ticket.without_commit(&wanted) == self.ticket.without_commit(&existing))
    }
}

pub(crate) fn no_room(foreign: usize, limit: usize) -> Error {
    let message = format!(
        "the ticket cannot be updated: its other text has {foreign} characters, and {limit} is the limit of the \
         tracker; shorten that text"
    );
    Error::new(ErrorKind::Refused, message)
}

impl Marker {
    pub fn stamp_in(&self, body: &str) -> Stamp {
        let parts = parts(body);
        let own = parts.iter().find(|part| matches!(&part.kind, PartKind::Section(own) if own == self));
        own.map(|part| Stamp::in_section(&body[part.range.clone()])).unwrap_or_default()
    }

    pub fn labels_named_in(&self, body: &str) -> BTreeSet<String> {
        let parts = parts(body);
        let own = parts.iter().filter(|part| matches!(&part.kind, PartKind::Section(own) if own == self));
        let lines = own.flat_map(|part| body[part.range.clone()].lines());
        let named = lines.filter_map(|line| line.trim().strip_prefix(LABELS.0)?.strip_suffix(LABELS.1));
        named.flat_map(|labels| labels.split(' ')).filter_map(percent_decoded).collect()
    }

    pub fn is_alone_in(&self, body: &str) -> bool {
        parts(body).iter().all(|part| match &part.kind {
            PartKind::Section(own) => own == self,
            PartKind::Text => body[part.range.clone()].trim().is_empty(),
            PartKind::Begin(_) | PartKind::Notice | PartKind::End => false,
        })
    }

    /// In their order: somebody may have copied the section of another ticket. Only whole lines count.
    pub fn all_in(body: &str) -> impl Iterator<Item = Self> {
        parts(body).into_iter().filter_map(|part| match part.kind {
            PartKind::Section(marker) | PartKind::Begin(marker) => Some(marker),
            PartKind::Text | PartKind::Notice | PartKind::End => None,
        })
    }

    pub fn in_body(body: &str) -> Option<Self> {
        Self::all_in(body).next()
    }
}

fn trimmed_before(text: &str) -> String {
    match text.trim_end() {
        "" => String::new(),
        text => format!("{text}\n\n"),
    }
}

fn trimmed_after(text: &str) -> String {
    match text.trim_start_matches(['\r', '\n']) {
        "" => String::new(),
        text => format!("\n\n{text}"),
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Part {
    kind: PartKind,
    range: Range<usize>,
}

#[derive(Debug, PartialEq, Eq)]
enum PartKind {
    Text,
    Section(Marker),
    Begin(Marker),
    Notice,
    End,
}

fn parts(body: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    // The place in `parts` of the section that is open.
    let mut open: Option<usize> = None;
    let mut start = 0;
    for line in body.split_inclusive('\n') {
        let range = start..start + line.len();
        start = range.end;
        let bare = line.trim();
        let begun = bare.strip_prefix(BEGIN.0).and_then(|rest| rest.strip_suffix(BEGIN.1));
        if let Some(marker) = begun.and_then(|text| text.parse::<Marker>().ok()) {
            end_at_notice(&mut parts, open);
            open = Some(parts.len());
            parts.push(Part { kind: PartKind::Begin(marker), range });
        } else if open.is_some() && bare.starts_with(NOTICE) {
            parts.push(Part { kind: PartKind::Notice, range });
        } else if bare == END {
            match open.take() {
                Some(at) => {
                    parts.truncate(at + 1);
                    close(&mut parts[at], range.end);
                }
                None => parts.push(Part { kind: PartKind::End, range }),
            }
        } else {
            match parts.last_mut() {
                Some(Part { kind: PartKind::Text, range: text }) => text.end = range.end,
                _ => parts.push(Part { kind: PartKind::Text, range }),
            }
        }
    }
    end_at_notice(&mut parts, open);
    parts
}

fn close(begun: &mut Part, end: usize) {
    begun.range.end = end;
    if let PartKind::Begin(marker) = &begun.kind {
        begun.kind = PartKind::Section(marker.clone());
    }
}

/// Somebody removed the end mark: the last line that is ours ends the section.
fn end_at_notice(parts: &mut Vec<Part>, open: Option<usize>) {
    let Some(open) = open else { return };
    if let Some(notice) = parts.iter().skip(open).position(|part| part.kind == PartKind::Notice) {
        let end = parts[open + notice].range.end;
        parts.drain(open + 1..=open + notice);
        close(&mut parts[open], end);
    }
}
