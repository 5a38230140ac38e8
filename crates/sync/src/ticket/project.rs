//! From an artifact to the ticket that it should have.

use std::collections::BTreeSet;

use super::{
    Block, CHANGED, CloseReason, Hangs, Inline, Marker, Placeholder, Snapshot, Stamp, TITLE_LIMIT, Ticket,
    TicketFacts, TicketSettings, TicketState, Withheld,
    body::{body, file},
};

impl Ticket {
    /// The ticket that the artifact of `marker` should have; `None` where `snapshot` has no such artifact,
    /// or it cannot be read.
    pub fn desired(snapshot: &Snapshot, marker: &Marker, settings: &TicketSettings) -> Option<Self> {
        Self::desired_and_withheld(snapshot, marker, settings).map(|(desired, _)| desired)
    }

    pub(crate) fn desired_and_withheld(
        snapshot: &Snapshot,
        marker: &Marker,
        settings: &TicketSettings,
    ) -> Option<(Self, Withheld)> {
        let read = snapshot.facts(marker)?;
        let (facts, withheld) = read.told();
        let facts = &*facts;
        let fact = |place| facts.fact(place, marker);
        let title = settings.title.fill(fact).filter(|title| !title.trim().is_empty());
        let mut body = body(facts, marker, settings);
        let parent = match snapshot.hangs(marker, settings) {
            Hangs::Below(parent) => Some(parent.clone()),
            Hangs::Alone => None,
            Hangs::Beside(_, path) => {
                body.push(Block::Paragraph(vec![Inline::Text("Part of ".to_owned()), file(path, settings)]));
                None
            }
        };
        let stored = snapshot.get(marker).and_then(|entry| entry.stored.as_ref());
        let closed = stored.and_then(|stored| stored.closed);
        let fields = settings.fields.iter();
        let commit = snapshot.checkout().commit();
        let is_committed = commit.is_some_and(|commit| (commit.holds)(&facts.path));
        let changed = if is_committed { "" } else { CHANGED };
        let stamp = Stamp {
            commit: commit.map(|commit| format!("{}{changed}", commit.id)),
            checkout: snapshot.checkout().clone(),
            ..Stamp::default()
        };
        let desired = Self {
            marker: marker.clone(),
            title: one_line(&title.unwrap_or_else(|| facts.title.clone()), TITLE_LIMIT),
            body,
            file: file(&facts.path, settings),
            file_at_commit: commit
                .filter(|_| is_committed)
                .and_then(|commit| settings.web.as_deref().and_then(|web| commit.address(web, &facts.path))),
            stamp,
            labels: facts.labels(marker, settings),
            state: closed.map_or_else(|| state(facts, settings), TicketState::Closed),
            status: facts.status.clone(),
            kind: Snapshot::kind(facts),
            parent,
            fields: fields.filter_map(|(name, value)| Some((name.clone(), value.fill(fact)?))).collect(),
        };
        let withheld = withheld.in_ticket(&desired);
        Some((desired, withheld))
    }
}

/// The most characters of a label, as on GitHub (docs/formats.md, "Trackers").
const LABEL_LIMIT: usize = 50;

/// `text` in one line of at most `limit` characters, cut with `…`.
fn one_line(text: &str, limit: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= limit {
        return line;
    }
    let kept: String = line.chars().take(limit - 1).collect();
    format!("{}…", kept.trim_end())
}

impl TicketFacts {
    /// The ticket `before` of work that is gone by now, as it ended; `None` where it had not.
    pub(crate) fn ended(&self, before: &Ticket, settings: &TicketSettings) -> Option<Ticket> {
        let (facts, _) = self.told();
        let (state, status) = (state(&facts, settings), facts.status.clone());
        let labels = facts.labels(&before.marker, settings);
        (!state.is_open()).then(|| Ticket { state, status, labels, ..before.clone() })
    }

    fn labels(&self, marker: &Marker, settings: &TicketSettings) -> BTreeSet<String> {
        let own = settings.labels.iter().filter_map(|label| label.fill(|place| self.fact(place, marker)));
        let mut labels: BTreeSet<String> = own.map(|label| one_line(&label, LABEL_LIMIT)).collect();
        labels.remove("");
        labels.insert(marker.label());
        labels
    }

    /// Returns what stands for a place of a template; `None` where it is not known.
    pub(super) fn fact(&self, place: Placeholder, marker: &Marker) -> Option<String> {
        match place {
            Placeholder::Title => Some(self.title.clone()),
            Placeholder::Workflow => self.workflow.clone(),
            Placeholder::Status => self.status.clone(),
            Placeholder::Scope => self.scope.clone(),
            Placeholder::Path => Some(Withheld::default().cleaned(self.path.as_str())),
            Placeholder::Id => {
                let id = marker.artifact().as_str().strip_prefix("id:");
                id.map(|id| Withheld::default().cleaned(id))
            }
            Placeholder::Done => Some(self.done.to_string()),
            Placeholder::Total => self.total.map(|total| total.to_string()),
            Placeholder::Percent => self.percent().map(|percent| percent.to_string()),
            Placeholder::Next => (!self.next.is_empty()).then(|| self.next.join(" | ")),
        }
    }
}

fn state(facts: &TicketFacts, settings: &TicketSettings) -> TicketState {
    let word = facts.status.as_deref().unwrap_or_default();
    let is_dropped = settings.not_planned.iter().any(|dropped| dropped.eq_ignore_ascii_case(word));
    // What failed and may be tried again is still to be done.
    if facts.is_finished && (is_dropped || !facts.may_go_on) {
        return TicketState::Closed(if is_dropped || facts.is_given_up {
            CloseReason::NotPlanned
        } else {
            CloseReason::Completed
        });
    }
    let is_among = |words: &[&str]| {
        facts.status.as_deref().map(|word| words.iter().any(|own| own.eq_ignore_ascii_case(word)))
    };
    let is_initial = facts.is_initial.unwrap_or_else(|| is_among(&BEGINNING_WORDS).unwrap_or(true));
    let is_planned = is_among(&PLANNED_WORDS).unwrap_or(false);
    if (is_initial || is_planned) && facts.done == 0 { TicketState::ToDo } else { TicketState::InProgress }
}

/// Status words of artifacts without a lifecycle before which nothing was done (docs/formats.md, "Statuses").
const BEGINNING_WORDS: [&str; 10] =
    ["draft", "backlog", "todo", "to-do", "ready", "ready-for-dev", "new", "open", "pending", "not-started"];

/// Status words that say of any lifecycle that the work itself has not begun, although its first state is
/// behind it.
const PLANNED_WORDS: [&str; 2] = ["backlog", "ready-for-dev"];
