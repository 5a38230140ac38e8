//! Answers of BMAD's `tickets.py`: next tickets and status.

use std::collections::{HashMap, HashSet};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use super::{
    Needed, Ticket, TicketFault, TicketId, TicketProblem, TicketState, TicketTree, breakdown::list_in,
    tree::are_same,
};

/// In the format of BMAD's script.
pub type TicketRow = Map<String, Json>;

/// The tickets that are open, by what can happen to them, in build order.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NextTickets {
    /// The name of the folder that was asked for
    pub folder: String,
    /// They need their full criteria first
    pub ready_to_refine: Vec<TicketRow>,
    pub ready_to_start: Vec<TicketRow>,
    pub in_progress: Vec<TicketRow>,
    pub blocked: Vec<TicketRow>,
    #[serde(flatten)]
    pub reports: TicketReports,
}

/// Needs between epics that are not as declared, and files that cannot be used.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TicketReports {
    /// Epics that are declared to wait for another one, of whose tickets none of theirs waits for any
    pub unpinned_after: Vec<Json>,
    /// Tickets that wait for an epic for which theirs is not declared to wait
    pub undeclared_after: Vec<Json>,
    /// Epics that wait for one that is built later
    pub order_conflict: Vec<Json>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// All tickets, in build order.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TicketStatus {
    /// The name of the folder that was asked for
    pub folder: String,
    pub tickets: Vec<TicketRow>,
    /// The number of tickets in each state, and in all
    pub counts: Map<String, Json>,
    /// The longest row of open tickets of which each waits for the one before
    pub longest_remaining_chain: Vec<Json>,
    #[serde(flatten)]
    pub reports: TicketReports,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epics: Option<Vec<Json>>,
    /// The id of the next ticket in the folder
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_id: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TicketGroup {
    Refine,
    Start,
    InProgress,
    Blocked,
}

impl TicketTree {
    /// `scope` is a folder; `None`: all.
    pub fn next(&self, scope: Option<usize>) -> NextTickets {
        let scope = self.scope_of(scope);
        let mut groups: [Vec<TicketRow>; 4] = Default::default();
        for own in self.in_scope(scope) {
            let Some(group) = self.group(own) else { continue };
            let mut row = self.row(own, scope);
            let unmet = self.unmet(own);
            if group == TicketGroup::Blocked && !unmet.is_empty() {
                row.insert("waiting_on".to_owned(), self.names(&unmet, Some(own.folder)));
            }
            groups[group as usize].push(row);
        }
        let [ready_to_refine, ready_to_start, in_progress, blocked] = groups;
        let (folder, reports) = (self.folder_name(scope), self.reports(scope));
        NextTickets { folder, ready_to_refine, ready_to_start, in_progress, blocked, reports }
    }

    pub fn status(&self, scope: Option<usize>) -> TicketStatus {
        let scope = self.scope_of(scope);
        let mut blocks: HashMap<&Needed, Vec<Needed>> = HashMap::new();
        for (place, own) in self.tickets.iter().enumerate() {
            for needed in &own.after {
                blocks.entry(needed).or_default().push(Needed::Ticket(place));
            }
        }
        let blocked_by = |needed: &Needed| blocks.get(needed).map(Vec::as_slice).unwrap_or_default();
        let (mut tickets, mut counts) = (Vec::new(), Map::new());
        counts.insert("total".to_owned(), self.in_scope(scope).count().into());
        for (place, own) in self.tickets.iter().enumerate().filter(|(_, own)| is_in(own, scope)) {
            let mut row = self.row(own, scope);
            row.insert("blocks".to_owned(), self.names(blocked_by(&Needed::Ticket(place)), Some(own.folder)));
            tickets.push(row);
            let count = counts.entry(own.state.as_str()).or_insert_with(|| 0.into());
            *count = (count.as_u64().unwrap_or_default() + 1).into();
        }
        let epic = |(place, own): (usize, &super::tree::Place)| {
            let slug = own.path.file_name();
            let declared = self.listed(place).and_then(|place| self.declared.get(place));
            let after = declared.map(|epic| epic.after.as_slice()).unwrap_or_default().iter();
            json!({
                "slug": slug,
                "id": own.id,
                "status": own.container.status,
                "after": after.map(|(other, needs)| json!({"epic": self.declared[*other].slug, "needs": needs})).collect::<Vec<_>>(),
                "gated_by": self.keys(&own.gates),
                "blocks": self.names(blocked_by(&Needed::Epic(place)), None),
                "next_id": self.next_id(place),
            })
        };
        let epics = scope.is_none().then(|| self.epics().map(epic).collect());
        TicketStatus {
            folder: self.folder_name(scope),
            tickets,
            counts,
            longest_remaining_chain: self.longest_chain(scope),
            reports: self.reports(scope),
            epics,
            next_id: scope.map(|scope| self.next_id(scope)),
        }
    }

    pub fn group(&self, own: &Ticket) -> Option<TicketGroup> {
        Some(match own.state {
            TicketState::Done | TicketState::Dropped => return None,
            _ if own.status == "blocked" || !own.blocked_at.is_empty() => TicketGroup::Blocked,
            TicketState::InProgress | TicketState::Review => TicketGroup::InProgress,
            _ if !self.unmet(own).is_empty() => TicketGroup::Blocked,
            _ if own.is_refine() && !own.is_refined => TicketGroup::Refine,
            _ if !own.entry.unknown.is_empty() => TicketGroup::Blocked,
            TicketState::Planned | TicketState::Backlog => TicketGroup::Start,
        })
    }

    pub fn hindrance(&self, own: &Ticket) -> String {
        let reason = Some(own.blocked_reason.clone()).filter(|reason| !reason.is_empty());
        let unmet = self.unmet(own);
        let waits = || (!unmet.is_empty()).then(|| format!("waits for {}", self.labels(&unmet).join(", ")));
        let asks = || Some(own.entry.unknown.clone()).filter(|unknown| !unknown.is_empty());
        reason.or_else(waits).or_else(asks).unwrap_or_default()
    }

    fn labels(&self, needed: &[Needed]) -> Vec<String> {
        let label = |needed: &Needed| match needed {
            Needed::Ticket(place) => self.reference(&self.tickets[*place]),
            other => self.key(other),
        };
        needed.iter().map(label).collect()
    }

    fn epics(&self) -> impl Iterator<Item = (usize, &super::tree::Place)> {
        self.places.iter().enumerate().take(self.places.len() - 1)
    }

    /// A single folder is its own scope.
    fn scope_of(&self, scope: Option<usize>) -> Option<usize> {
        scope.or_else(|| (!self.is_initiative()).then_some(0))
    }

    fn folder_name(&self, scope: Option<usize>) -> String {
        self.places[scope.unwrap_or(self.places.len() - 1)].path.file_name().to_owned()
    }

    fn in_scope(&self, scope: Option<usize>) -> impl Iterator<Item = &Ticket> {
        self.tickets.iter().filter(move |own| is_in(own, scope))
    }

    fn row_reference(&self, own: &Ticket, scope: Option<usize>) -> Option<String> {
        match (&own.id, &self.places[own.folder].id) {
            (Some(id), Some(epic)) => Some(format!("{epic}.{id}")),
            (Some(id), None) if scope == Some(own.folder) => Some(id.to_string()),
            _ => own.file.as_ref().map(|file| file.file_name().to_owned()),
        }
    }

    fn row(&self, own: &Ticket, scope: Option<usize>) -> TicketRow {
        let file = own.file.as_ref().map(|file| file.file_name());
        let row = json!({
            "epic": self.folder(own).file_name(),
            "id": own.id,
            "file": file,
            "type": own.kind,
            "tracker_id": own.tracker_id,
            "title": own.title,
            "status": own.status,
            "tracker_status": own.tracker_status,
            "state": own.state,
            "assignee": own.assignee,
            "hitl": own.is_hitl,
            "risk": own.entry.risk,
            "covers": own.entry.covers,
            "estimate": own.entry.estimate,
            "refine": own.is_refine(),
            "refined": own.is_refined,
            "blocked_at": own.blocked_at,
            "blocked_reason": own.blocked_reason,
            "ref": self.row_reference(own, scope),
            "after": self.names(&own.after, Some(own.folder)),
        });
        let Json::Object(mut row) = row else { return Map::new() };
        if !self.gates(own).is_empty() {
            row.insert("gated_by".to_owned(), self.keys(self.gates(own)));
        }
        if let Some((after, hitl)) = &own.drift {
            let mut drift = Map::new();
            let names = |needed: &[Needed]| self.names(needed, Some(own.folder));
            if !are_same(after, &own.after) {
                drift.insert("after".to_owned(), json!({"file": names(&own.after), "entry": names(after)}));
            }
            if *hitl != own.is_hitl {
                drift.insert("hitl".to_owned(), json!({"file": own.is_hitl, "entry": hitl}));
            }
            row.insert("drift".to_owned(), drift.into());
        }
        if !own.entry.unknown.is_empty() {
            row.insert("unknown".to_owned(), own.entry.unknown.clone().into());
        }
        let checkpoints = ["plan_checkpoint", "done_checkpoint"].into_iter().zip(own.checkpoints());
        row.extend(checkpoints.filter(|(_, is_set)| *is_set).map(|(key, _)| (key.to_owned(), true.into())));
        row
    }

    fn key(&self, needed: &Needed) -> String {
        match needed {
            Needed::Epic(place) => self.places[*place].path.file_name().to_owned(),
            Needed::Unknown(name) => name.clone(),
            Needed::Ticket(place) => {
                let own = &self.tickets[*place];
                let file = own.file.as_ref().map(|file| file.file_name()).unwrap_or_default();
                let name = own.id.as_ref().map_or_else(|| file.to_owned(), TicketId::to_string);
                format!("{}/{name}", self.places[own.folder].path.file_name())
            }
        }
    }

    fn keys(&self, needed: &[Needed]) -> Json {
        needed.iter().map(|needed| self.key(needed)).collect()
    }

    /// As an entry in `folder` writes it: a neighbour's id, `EPIC.ID` elsewhere, an epic's name.
    fn name(&self, needed: &Needed, folder: Option<usize>) -> Json {
        let Needed::Ticket(place) = needed else { return self.key(needed).into() };
        let own = &self.tickets[*place];
        match (&own.id, &self.places[own.folder].id) {
            (Some(id), _) if folder == Some(own.folder) => json!(id),
            (Some(id), Some(epic)) => format!("{epic}.{id}").into(),
            _ => self.key(needed).into(),
        }
    }

    fn names(&self, needed: &[Needed], folder: Option<usize>) -> Json {
        needed.iter().map(|needed| self.name(needed, folder)).collect()
    }

    fn next_id(&self, place: usize) -> i64 {
        let used = self.in_scope(Some(place)).filter_map(|own| own.id.as_ref()?.number());
        self.places[place].next_id.max(used.max().unwrap_or_default() + 1)
    }

    fn longest_chain(&self, scope: Option<usize>) -> Vec<Json> {
        // Per ticket: length of its longest chain, and the predecessor in it.
        let mut known: Vec<Option<(usize, Option<usize>)>> = vec![None; self.tickets.len()];
        let needs = |place: usize| {
            let open = self.needs(&self.tickets[place]).filter_map(|needed| match needed {
                Needed::Ticket(other) => Some(*other).filter(|other| !self.tickets[*other].state.is_over()),
                _ => None,
            });
            open.collect::<Vec<_>>()
        };
        let mut longest: Option<(usize, usize)> = None;
        for start in (0..self.tickets.len()).filter(|place| !self.tickets[*place].state.is_over()) {
            // The stack of a depth-first search: ticket, needs, and number of visited needs.
            let (mut way, mut on_way) = (vec![(start, needs(start), 0)], HashSet::from([start]));
            while let Some((at, open, next)) = way.last_mut() {
                if let Some(other) = open.get(*next).copied() {
                    *next += 1;
                    // Cycles are reported elsewhere.
                    if known[other].is_none() && on_way.insert(other) {
                        way.push((other, needs(other), 0));
                    }
                    continue;
                }
                let mut best = (0, None);
                for other in open {
                    if let Some((length, _)) = known[*other].filter(|(length, _)| *length > best.0) {
                        best = (length, Some(*other));
                    }
                }
                known[*at] = known[*at].or(Some((best.0 + 1, best.1)));
                on_way.remove(at);
                way.pop();
            }
            let length = known[start].map_or(0, |(length, _)| length);
            if is_in(&self.tickets[start], scope) && longest.is_none_or(|(best, _)| length > best) {
                longest = Some((length, start));
            }
        }
        let mut chain = Vec::new();
        let mut at = longest.map(|(_, place)| place);
        while let Some(place) = at {
            chain.push(self.name(&Needed::Ticket(place), None));
            at = known[place].and_then(|(_, before)| before);
        }
        chain.reverse();
        chain
    }

    fn declared_place(&self, needed: &Needed) -> Option<usize> {
        let folder = match needed {
            Needed::Ticket(place) => self.tickets[*place].folder,
            Needed::Epic(place) => *place,
            Needed::Unknown(_) => return None,
        };
        self.listed(folder)
    }

    fn listed(&self, folder: usize) -> Option<usize> {
        self.listed.get(self.places[folder].path.file_name()).copied()
    }

    fn reports(&self, scope: Option<usize>) -> TicketReports {
        let slug = |epic: usize| self.declared[epic].slug.as_str();
        let scoped = scope.map(|scope| self.listed(scope));
        let is_asked = |epic: usize| scoped.is_none_or(|scoped| scoped == Some(epic));
        let (mut unpinned, mut undeclared, mut conflicts) = (Vec::new(), Vec::new(), Vec::new());
        let mut known = HashSet::new();
        let mut conflict = |epic: usize, other: usize| {
            if other > epic && is_asked(epic) && known.insert((epic, other)) {
                conflicts.push(json!({"epic": slug(epic), "after": slug(other)}));
            }
        };
        let declared = self.declared.iter().enumerate();
        let pairs = declared.flat_map(|(epic, own)| own.after.iter().map(move |(other, _)| (epic, *other)));
        let pairs: HashSet<(usize, usize)> = pairs.collect();
        for (epic, declared) in self.declared.iter().enumerate() {
            declared.after.iter().for_each(|(other, _)| conflict(epic, *other));
        }
        for (place, own) in self.epics() {
            let Some(epic) = self.listed(place) else { continue };
            own.gates
                .iter()
                .filter_map(|gate| self.declared_place(gate))
                .for_each(|other| conflict(epic, other));
        }
        let mut pinned: HashMap<usize, HashSet<usize>> = HashMap::new();
        for own in &self.tickets {
            let Some(epic) = self.listed(own.folder) else { continue };
            let needs = self.needs(own).filter_map(|needed| self.declared_place(needed));
            pinned.entry(epic).or_default().extend(needs);
            for needed in &own.after {
                let Some(other) = self.declared_place(needed).filter(|other| *other != epic) else {
                    continue;
                };
                conflict(epic, other);
                if !pairs.contains(&(epic, other)) && is_asked(epic) {
                    let reference = self.row_reference(own, scope);
                    let names = self.name(needed, Some(own.folder));
                    undeclared.push(
                        json!({"epic": slug(epic), "after": slug(other), "ref": reference, "names": names}),
                    );
                }
            }
        }
        for (epic, declared) in self.declared.iter().enumerate() {
            let Some(needs) = pinned.get(&epic).filter(|_| is_asked(epic)) else { continue };
            for (other, why) in declared.after.iter().filter(|(other, _)| !needs.contains(other)) {
                unpinned.push(json!({"epic": slug(epic), "after": slug(*other), "needs": why}));
            }
        }
        let problems = self
            .problems
            .iter()
            .filter(|own| matches!(own.fault, TicketFault::Unusable | TicketFault::Unticketed));
        TicketReports {
            unpinned_after: unpinned,
            undeclared_after: undeclared,
            order_conflict: conflicts,
            problems: problems.map(|own| format!("{}: {}", own.path, own.message)).collect(),
        }
    }

    pub fn faults(&self) -> impl Iterator<Item = &TicketProblem> {
        self.problems.iter().filter(|own| own.fault != TicketFault::Unticketed)
    }

    pub(super) fn order_problems(&self) -> Vec<TicketProblem> {
        let reports = self.reports(None);
        let text = |own: &Json, key: &str| own[key].as_str().unwrap_or_default().to_owned();
        let unpinned = reports.unpinned_after.iter().map(|own| {
            let (epic, after, needs) = (text(own, "epic"), text(own, "after"), text(own, "needs"));
            format!("`{epic}` is declared to wait for `{after}` ({needs}), and none of its tickets does")
        });
        let undeclared = reports.undeclared_after.iter().map(|own| {
            let (epic, after, ticket) = (text(own, "epic"), text(own, "after"), text(own, "ref"));
            let names = &own["names"];
            format!(
                "the ticket {ticket} waits for {names}, and `{epic}` is not declared to wait for `{after}`"
            )
        });
        let conflicts = reports.order_conflict.iter().map(|own| {
            format!("`{}` waits for `{}`, which is built later", text(own, "epic"), text(own, "after"))
        });
        let path = list_in(self.top());
        let (span, fault) = (stepmark_frontmatter::Span::at(0), TicketFault::Order);
        let of = |message| TicketProblem { path: path.clone(), span, fault, message };
        unpinned.chain(undeclared).chain(conflicts).map(of).collect()
    }
}

fn is_in(own: &Ticket, scope: Option<usize>) -> bool {
    scope.is_none_or(|scope| scope == own.folder)
}
