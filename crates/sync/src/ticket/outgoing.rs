//! The texts of an artifact as they leave this machine.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use super::{
    Differences, FieldDifference, ManagedSection, Marker, Stamp, Ticket, TicketFacts, labels_agree,
    merged_labels,
};
use crate::secret::{withheld, without_secrets};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Withheld {
    pub secrets: BTreeSet<String>,
    pub characters: BTreeSet<char>,
}

impl Withheld {
    pub fn is_empty(&self) -> bool {
        self.secrets.is_empty() && self.characters.is_empty()
    }

    pub(super) fn in_ticket(mut self, ticket: &Ticket) -> Self {
        if !self.secrets.is_empty() {
            let told = ticket.canonical();
            self.secrets.retain(|rule| told.contains(&withheld(rule)));
        }
        self
    }

    pub(super) fn cleaned(&mut self, text: &str) -> String {
        let text = match without_secrets(text) {
            Some((kept, rules)) => {
                self.secrets.extend(rules);
                Cow::Owned(kept)
            }
            None => Cow::Borrowed(text),
        };
        let mut before = None;
        let shown = text.chars().filter(|letter| {
            let is_shown = !is_hidden(before, *letter);
            match is_shown {
                true => before = Some(*letter),
                false => drop(self.characters.insert(*letter)),
            }
            is_shown
        });
        shown.collect()
    }
}

impl TicketFacts {
    pub(super) fn told(&self) -> (Cow<'_, Self>, Withheld) {
        let mut withheld = Withheld::default();
        let mut told = self.clone();
        let steps = told.steps.iter_mut().flat_map(|step| &mut step.names);
        let words = [&mut told.workflow, &mut told.scope, &mut told.status].into_iter().flatten();
        let texts = [&mut told.title, &mut told.text].into_iter().chain(words);
        for text in texts.chain(steps).chain(&mut told.next).chain(&mut told.links) {
            *text = withheld.cleaned(text);
        }
        withheld.cleaned(self.path.as_str());
        if told.title.trim().is_empty() {
            told.title = self.path.file_stem().to_owned();
        }
        (if withheld.is_empty() { Cow::Borrowed(self) } else { Cow::Owned(told) }, withheld)
    }
}

/// Invisible, or changes the direction of text. Joiners of scripts and emoji, and direction marks, are
/// allowed behind such letters.
fn is_hidden(before: Option<char>, letter: char) -> bool {
    match letter {
        '\n' | '\r' | '\t' => false,
        '\u{200C}' | '\u{200D}' => before.is_none_or(|before| before.is_ascii()),
        '\u{AD}' | '\u{180E}' | '\u{200B}' | '\u{FEFF}' => true,
        '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FFF9}'..='\u{FFFB}' => true,
        '\u{E0000}'..='\u{E007F}' => true,
        letter => letter.is_control(),
    }
}

/// A ticket as its tracker has it. None of it ever reaches an artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    pub remote: RemoteTicket,
    pub marker: Marker,
    pub created_at: Timestamp,
    pub title: String,
    pub body: String,
    pub labels: BTreeSet<String>,
    pub state: TicketState,
    pub status: Option<String>,
    pub parent_id: Option<String>,
    /// Other fields of `ticket.fields`, in the tracker's form; `None` if the answer lacks them.
    pub fields: Option<serde_json::Value>,
    pub stamp: Stamp,
    /// Certainly no comment, and no text outside the managed section.
    pub is_untouched: bool,
}

/// The one that counts comes first: the oldest that is not closed as a duplicate, so that all clones choose
/// the same. Ties are in the order of the tracker's numbers.
pub fn oldest_first(tickets: &mut [&Observed]) {
    tickets.sort_by_key(|ticket| {
        let number = ticket.remote.id.parse::<u64>().unwrap_or(u64::MAX);
        (ticket.is_closed_duplicate(), ticket.created_at, number, ticket.remote.id.clone())
    });
}

impl Observed {
    pub fn is_closed_duplicate(&self) -> bool {
        self.state == TicketState::Closed(CloseReason::Duplicate)
    }
}

impl Observed {
    /// For trackers with Markdown bodies. `before` is what it was last made to say. All open states are
    /// alike: such a tracker knows open and closed alone.
    pub fn markdown_differences(
        &self,
        desired: &Ticket,
        before: Option<&Ticket>,
        body_limit: usize,
    ) -> Differences {
        let mut differences: Vec<FieldDifference> = Vec::new();
        let title = (self.title.as_str().into(), desired.title.as_str().into());
        differences.extend(FieldDifference::between("title", title.0, title.1));
        let section = ManagedSection::of(desired);
        if !section.is_in(&self.body, body_limit)? {
            let body = section.merged_into(&self.body, body_limit)?.body;
            differences.extend(FieldDifference::between("body", self.body.as_str().into(), body.into()));
        }
        // The ledger may be a new one: what the ticket itself says counts, too.
        let mut own = desired.marker.labels_named_in(&self.body);
        own.extend(before.iter().flat_map(|before| before.labels.iter().cloned()));
        if !labels_agree(&self.labels, &own, &desired.labels) {
            let after = merged_labels(&self.labels, &own, &desired.labels);
            let list = |labels: &BTreeSet<String>| labels.iter().cloned().collect();
            differences.extend(FieldDifference::between("labels", list(&self.labels), list(&after)));
        }
        let is_same = self.state == desired.state || self.state.is_open() && desired.state.is_open();
        if !is_same {
            let [before, after] =
                [self.state, desired.state].map(|state| serde_json::to_value(state).unwrap_or_default());
            differences.extend(FieldDifference::between("state", before, after));
        }
        Ok(differences)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteTicket {
    /// GitHub's number, Jira's id.
    pub id: String,
    /// As people know it: `#12`, `ABC-3`.
    pub key: String,
    pub url: String,
    /// By the tracker's names for them (`node_id`, `database_id`); some requests want them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub other_ids: BTreeMap<String, String>,
}

/// Jira's three status categories, and GitHub's reasons to close an issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TicketState {
    ToDo,
    InProgress,
    Closed(CloseReason),
}

/// The values of `state_reason` in GitHub's REST description.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CloseReason {
    Completed,
    NotPlanned,
    Duplicate,
}

impl TicketState {
    pub const fn is_open(self) -> bool {
        matches!(self, Self::ToDo | Self::InProgress)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ticket::{
        CloseReason,
        sample::{observed, ticket},
    };

    fn fields(observed: &Observed, desired: &Ticket) -> Vec<String> {
        let differences = observed.markdown_differences(desired, None, 65_536).unwrap();
        differences.into_iter().map(|difference| difference.field).collect()
    }

    #[test]
    fn only_managed_fields_count() {
        let desired = ticket("a", |_| {});
        let same = observed(&desired, 1);
        assert!(fields(&same, &desired).is_empty());
        let annotated = Observed {
            body: format!("Mine.\r\n\r\n{}\r\n\r\nMine, too.", same.body.replace('\n', "\r\n")),
            labels: same.labels.iter().cloned().chain(["bug".to_owned()]).collect(),
            state: TicketState::ToDo,
            ..same.clone()
        };
        assert!(fields(&annotated, &desired).is_empty(), "what people add is theirs");
        let changed = Observed {
            title: "Mine".to_owned(),
            body: same.body.replace("[ ]", "[x]"),
            labels: ["status:done".to_owned()].into(),
            state: TicketState::Closed(CloseReason::Completed),
            ..same
        };
        assert_eq!(fields(&changed, &desired), ["title", "body", "labels", "state"]);
    }

    #[test]
    fn a_ticket_tells_which_labels_were_given_to_it() {
        let draft = ticket("a", |_| {});
        let mut seen = observed(&draft, 1);
        seen.labels.insert("status:mine".to_owned());
        let done = ticket("a", |facts| facts.status = Some("done".to_owned()));
        for before in [None, Some(&draft)] {
            let differences = seen.markdown_differences(&done, before, 65_536).unwrap();
            let labels = differences.iter().find(|told| told.field == "labels").unwrap();
            let expected = ["scope:large", "status:done", "status:mine", "stepmark:p", "workflow:prd"];
            assert_eq!(labels.after, serde_json::json!(expected), "{before:?}");
        }
    }

    #[test]
    fn the_oldest_counts() {
        let desired = ticket("a", |_| {});
        let [first, second, third] = [9, 10, 11].map(|number| observed(&desired, number));
        let late = Observed { created_at: Timestamp::MAX, ..first.clone() };
        let mut tickets = [&late, &third, &second];
        oldest_first(&mut tickets);
        assert_eq!(tickets.map(|ticket| ticket.remote.id.as_str()), ["10", "11", "9"]);
        let closed = Observed { state: TicketState::Closed(CloseReason::Duplicate), ..second.clone() };
        let mut tickets = [&closed, &late, &third];
        oldest_first(&mut tickets);
        assert_eq!(tickets.map(|ticket| ticket.remote.id.as_str()), ["11", "9", "10"]);
    }
}
