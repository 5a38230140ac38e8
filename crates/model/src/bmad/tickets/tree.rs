//! All folders of an initiative, with dependencies resolved.

use std::collections::{HashMap, HashSet};

use stepmark_frontmatter::Span;

use super::{
    Ticket, TicketFault, TicketFolder, TicketId, TicketProblem, TicketState,
    breakdown::{ListedEpic, Reference, list_in},
    folder::{Container, Read},
};
use crate::artifact::ProjectPath;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Needed {
    Ticket(usize),
    Epic(usize),
    Unknown(String),
}

#[derive(Debug)]
pub(super) struct Place {
    pub(super) path: ProjectPath,
    pub(super) id: Option<TicketId>,
    pub(super) container: Container,
    pub(super) gates: Vec<Needed>,
    pub(super) next_id: i64,
}

/// An epic in the initiative's list, with the list indices of epics it waits for, and what it needs of them.
#[derive(Debug)]
pub(super) struct DeclaredEpic {
    pub(super) slug: String,
    pub(super) after: Vec<(usize, String)>,
}

/// An initiative with its epics, or a backlog.
#[derive(Debug, Default)]
pub struct TicketTree {
    /// Epics in build order, then the top folder.
    pub(super) places: Vec<Place>,
    pub(super) declared: Vec<DeclaredEpic>,
    pub(super) listed: HashMap<String, usize>,
    pub(super) tickets: Vec<Ticket>,
    pub(super) problems: Vec<TicketProblem>,
}

impl TicketTree {
    pub fn of(top: &TicketFolder, epics: &[TicketFolder]) -> Self {
        let mut problems = Vec::new();
        let mut own = top.read(0, &mut problems);
        let listed = std::mem::take(&mut own.breakdown.epics);
        let slugs = listed.iter().enumerate().map(|(place, epic)| (epic.slug.clone(), place));
        let listed_by_slug: HashMap<String, usize> = slugs.collect();
        let order = |folder: &TicketFolder| listed_by_slug.get(folder.name()).copied();
        let mut epics: Vec<&TicketFolder> = epics.iter().collect();
        epics.sort_by_key(|folder| (order(folder).unwrap_or(listed.len()), folder.name().to_owned()));
        let mut tree = Self { problems, ..Self::default() };
        for (place, folder) in epics.iter().enumerate() {
            let read = folder.read(place, &mut tree.problems);
            let id = order(folder).and_then(|place| listed.get(place)).map(|epic| epic.id.clone());
            if read.container.path.is_none() {
                let message = format!("the epic has no file `{}.md`", folder.name());
                let path = list_in(&folder.path);
                tree.problem((path, Span::at(0)), TicketFault::Unusable, message);
            }
            tree.add(folder, id, read);
        }
        own.tickets.iter_mut().for_each(|ticket| ticket.folder = epics.len());
        tree.add(top, None, own);
        let names = Names::of(&tree);
        tree.resolve(&names);
        tree.listed = listed_by_slug;
        tree.declare(&listed, top);
        tree.find_circles();
        tree.problems.extend(tree.order_problems());
        tree
    }

    pub fn tickets(&self) -> &[Ticket] {
        &self.tickets
    }

    pub fn top(&self) -> &ProjectPath {
        &self.places[self.places.len() - 1].path
    }

    /// Nothing left to do; true also if its epic ended.
    pub fn is_over(&self, ticket: &Ticket) -> bool {
        ticket.state.is_over() || matches!(&*self.places[ticket.folder].container.status, "done" | "dropped")
    }

    /// The id was used by the former entry `before` with plan `plan`.
    pub fn reused(&self, own: &Ticket, before: &str, plan: &ProjectPath) -> Option<TicketProblem> {
        let (id, title) = (own.entry.id.as_ref()?, &own.title);
        let message = format!("the id {id} of `{title}` was that of `{before}`, whose plan was `{plan}`");
        let (path, span) = (list_in(self.folder(own)), own.entry.id_span);
        Some(TicketProblem { path, span, fault: TicketFault::Reused, message })
    }

    pub fn folder(&self, ticket: &Ticket) -> &ProjectPath {
        &self.places[ticket.folder].path
    }

    /// For people and commands: `EPIC.ID`, else the id, else the leaf name.
    pub fn reference(&self, ticket: &Ticket) -> String {
        let file = || ticket.file.as_ref().map(|file| file.file_stem().to_owned());
        match (&self.places[ticket.folder].id, &ticket.id) {
            (Some(epic), Some(id)) => format!("{epic}.{id}"),
            (None, Some(id)) => file().unwrap_or_else(|| id.to_string()),
            _ => file().unwrap_or_default(),
        }
    }

    /// By `EPIC.ID`, id in the folder `scope`, leaf file, or tracker id.
    pub fn find(&self, name: &str, scope: Option<usize>) -> Vec<&Ticket> {
        let name = name.trim();
        let low = name.to_lowercase();
        let id = TicketId::read(name);
        let cross = name.split_once('.').and_then(|(epic, id)| TicketId::read(epic).zip(TicketId::read(id)));
        let is_in_scope = |own: &Ticket| scope.is_none_or(|scope| scope == own.folder);
        let ways: [&dyn Fn(&Ticket) -> bool; 4] = [
            &|own| match (&cross, &id) {
                (Some((epic, id)), _) => {
                    self.places[own.folder].id.as_ref() == Some(epic) && own.id.as_ref() == Some(id)
                }
                (None, Some(TicketId::Text(_))) => own.id == id,
                (None, id) => id.is_some() && scope == Some(own.folder) && own.id == *id,
            },
            &|own| is_in_scope(own) && own.is_called(&low),
            &|own| own.is_called(&low),
            &|own| !own.tracker_id.is_empty() && own.tracker_id.to_lowercase() == low,
        ];
        let found = ways.iter().map(|way| self.tickets.iter().filter(|own| way(own)).collect::<Vec<_>>());
        found.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
    }

    pub fn titled(&self, words: &str) -> Vec<&Ticket> {
        let low = words.trim().to_lowercase();
        let is_meant =
            |own: &&Ticket| low.contains(char::is_alphabetic) && own.title.to_lowercase().contains(&low);
        self.tickets.iter().filter(is_meant).collect()
    }

    /// Else a single folder.
    pub fn is_initiative(&self) -> bool {
        self.places.len() > 1 || !self.declared.is_empty()
    }

    /// In build order: index, name, status in its own file.
    pub fn folders(&self) -> impl Iterator<Item = (usize, &str, &str)> {
        let places = self.places.iter().enumerate();
        places.map(|(place, own)| (place, own.path.file_name(), &*own.container.status))
    }

    pub fn scope(&self, folder: &str) -> Option<usize> {
        self.places.iter().position(|place| place.path.file_name() == folder)
    }

    pub(super) fn is_done(&self, needed: &Needed) -> bool {
        match needed {
            Needed::Ticket(place) => self.tickets[*place].state == TicketState::Done,
            Needed::Epic(place) => self.places[*place].container.status == "done",
            Needed::Unknown(_) => false,
        }
    }

    /// A ticket in review satisfies `after`, but not a need of the epic.
    pub(super) fn unmet(&self, ticket: &Ticket) -> Vec<Needed> {
        let in_review = |needed: &Needed| matches!(needed, Needed::Ticket(place) if self.tickets[*place].state == TicketState::Review);
        let after = ticket.after.iter().filter(|needed| !self.is_done(needed) && !in_review(needed));
        after.chain(self.gates(ticket).iter().filter(|needed| !self.is_done(needed))).cloned().collect()
    }

    pub(super) fn gates(&self, ticket: &Ticket) -> &[Needed] {
        &self.places[ticket.folder].gates
    }

    pub(super) fn needs<'t>(&'t self, ticket: &'t Ticket) -> impl Iterator<Item = &'t Needed> {
        ticket.after.iter().chain(self.gates(ticket))
    }

    fn add(&mut self, folder: &TicketFolder, id: Option<TicketId>, read: Read) {
        self.places.push(Place {
            path: folder.path.clone(),
            id,
            container: read.container,
            gates: Vec::new(),
            next_id: read.breakdown.next_id,
        });
        self.tickets.extend(read.tickets);
    }

    fn problem(&mut self, (path, span): (ProjectPath, Span), fault: TicketFault, message: String) {
        self.problems.push(TicketProblem { path, span, fault, message });
    }

    fn resolve(&mut self, names: &Names) {
        for place in 0..self.places.len() - 1 {
            let container = &self.places[place].container;
            let path = container.path.clone().unwrap_or_else(|| self.places[0].path.clone());
            let after = container.after.clone();
            self.places[place].gates = self.needed(names, None, &path, &after);
        }
        for place in 0..self.tickets.len() {
            let own = &self.tickets[place];
            let (folder, (path, after), planned) = (own.folder, own.names.clone(), own.planned.clone());
            let found = self.needed(names, Some(folder), &path, &after);
            let own = &mut self.tickets[place];
            own.drift = planned
                .map(|(after, hitl)| (names.find_all(&after, Some(folder)), hitl))
                .filter(|(planned, hitl)| !are_same(planned, &found) || *hitl != own.is_hitl);
            own.after = found;
            if own.drift.is_some() {
                let message = "`after` or `hitl` differs from its entry in `tickets.toml`".to_owned();
                self.problem((path, Span::at(0)), TicketFault::Drift, message);
            }
        }
    }

    /// Resolves references of the file at `path`; reports unknown ones.
    fn needed(
        &mut self,
        names: &Names,
        folder: Option<usize>,
        path: &ProjectPath,
        references: &[Reference],
    ) -> Vec<Needed> {
        for own in references.iter().filter(|own| matches!(names.find(own, folder), Needed::Unknown(_))) {
            let message = format!("it is after `{}`, which names no ticket and no epic", own.text);
            self.problem((path.clone(), own.span), TicketFault::Reference, message);
        }
        names.find_all(references, folder)
    }

    /// Epics may lack a folder.
    fn declare(&mut self, listed: &[ListedEpic], top: &TicketFolder) {
        let path = list_in(&top.path);
        let by_id: HashMap<&TicketId, usize> =
            listed.iter().enumerate().map(|(place, epic)| (&epic.id, place)).collect();
        for epic in listed {
            let mut after = Vec::new();
            for (reference, needs) in &epic.after {
                let by_slug = self.listed.get(&reference.text);
                let by_id = TicketId::read(&reference.text).and_then(|id| by_id.get(&id));
                // The first match wins.
                match by_slug.into_iter().chain(by_id).min().copied() {
                    Some(other) => after.push((other, needs.clone())),
                    None => {
                        let message =
                            format!("`{}` is after `{}`, which is no epic listed", epic.slug, reference.text);
                        self.problem((path.clone(), reference.span), TicketFault::Reference, message);
                    }
                }
            }
            self.declared.push(DeclaredEpic { slug: epic.slug.clone(), after });
        }
    }

    /// Reports cycles: their tickets would wait forever.
    fn find_circles(&mut self) {
        let (count, epics) = (self.tickets.len(), self.places.len());
        let node = |needed: &Needed| match needed {
            Needed::Ticket(place) => Some(*place),
            Needed::Epic(place) => Some(count + place),
            Needed::Unknown(_) => None,
        };
        let mut needs: Vec<Vec<usize>> = vec![Vec::new(); count + epics];
        for (place, own) in self.tickets.iter().enumerate() {
            needs[place] = self.needs(own).filter_map(node).collect();
            needs[count + own.folder].push(place);
        }
        for (place, own) in self.places.iter().enumerate() {
            needs[count + place].extend(own.gates.iter().filter_map(node));
        }
        let (mut state, mut found) = (vec![0_u8; needs.len()], Vec::new());
        // Reports one cycle per ticket: there may be very many.
        let mut told = vec![false; needs.len()];
        for start in 0..count {
            // The search stack, each with the index of the next need.
            let mut way = vec![(start, 0)];
            while let Some((at, next)) = way.last_mut() {
                if *next == 0 && state[*at] == 2 {
                    way.pop();
                    continue;
                }
                state[*at] = 1;
                match needs[*at].get(*next).copied() {
                    Some(needed) => {
                        *next += 1;
                        match state[needed] {
                            0 => way.push((needed, 0)),
                            1 if !told[needed] => {
                                let circle = way.iter().map(|(own, _)| *own);
                                let circle: Vec<usize> = circle.skip_while(|own| *own != needed).collect();
                                circle.iter().for_each(|own| told[*own] = true);
                                found.push(circle);
                            }
                            _ => {}
                        }
                    }
                    None => {
                        state[*at] = 2;
                        way.pop();
                    }
                }
            }
        }
        for circle in found {
            let name = |node: &usize| match self.tickets.get(*node) {
                Some(own) => format!("`{}`", self.reference(own)),
                None => format!("`{}`", self.places[node - count].path.file_name()),
            };
            let names: Vec<String> = circle.iter().chain(circle.first()).map(name).collect();
            let own = circle.iter().find_map(|node| self.tickets.get(*node));
            let at =
                own.map(|own| (own.names.0.clone(), own.names.1.first().map_or(Span::at(0), |own| own.span)));
            let at = at.unwrap_or_else(|| (self.places[0].path.clone(), Span::at(0)));
            let message = format!("its needs lead back to itself: {}", names.join(" → "));
            self.problem(at, TicketFault::Reference, message);
        }
    }
}

pub(super) fn are_same(one: &[Needed], other: &[Needed]) -> bool {
    let all = |needs: &[Needed]| needs.iter().cloned().collect::<HashSet<_>>();
    all(one) == all(other)
}

impl Ticket {
    fn is_called(&self, low: &str) -> bool {
        let is = |file: &ProjectPath| {
            let name = file.file_name().to_lowercase();
            name == low || name.strip_suffix(".md") == Some(low)
        };
        self.file.as_ref().is_some_and(is)
    }
}

struct Names {
    by_id: HashMap<(usize, TicketId), usize>,
    by_file: HashMap<(usize, String), usize>,
    by_tracker: HashMap<String, Needed>,
    epics: HashMap<String, usize>,
    epic_ids: HashMap<TicketId, usize>,
}

impl Names {
    fn of(tree: &TicketTree) -> Self {
        let all = || tree.tickets.iter().enumerate();
        let places = || tree.places.iter().enumerate().take(tree.places.len() - 1);
        let of_epic = |(place, own): (usize, &Place)| (own.container.tracker_id.clone(), Needed::Epic(place));
        let of_ticket = |(place, own): (usize, &Ticket)| (own.tracker_id.clone(), Needed::Ticket(place));
        let trackers = places().map(of_epic).chain(all().map(of_ticket));
        Self {
            by_id: all().filter_map(|(place, own)| Some(((own.folder, own.id.clone()?), place))).collect(),
            by_file: all()
                .filter_map(|(place, own)| {
                    Some(((own.folder, own.file.as_ref()?.file_stem().to_owned()), place))
                })
                .collect(),
            by_tracker: trackers.filter(|(id, _)| !id.is_empty()).collect(),
            epics: places().map(|(place, own)| (own.path.file_name().to_owned(), place)).collect(),
            epic_ids: places().filter_map(|(place, own)| Some((own.id.clone()?, place))).collect(),
        }
    }

    fn find_all(&self, references: &[Reference], folder: Option<usize>) -> Vec<Needed> {
        let mut known = HashSet::new();
        let found = references.iter().map(|reference| self.find(reference, folder));
        found.filter(|needed| known.insert(needed.clone())).collect()
    }

    /// In folder `folder`; epics reference no neighbours.
    fn find(&self, reference: &Reference, folder: Option<usize>) -> Needed {
        let text = &reference.text;
        let id = TicketId::read(text);
        let ticket =
            |folder: usize, id: &TicketId| self.by_id.get(&(folder, id.clone())).copied().map(Needed::Ticket);
        let neighbour = || {
            let (folder, id) = (folder?, id.as_ref());
            if reference.is_number {
                return ticket(folder, id?);
            }
            let by_id = id.filter(|id| matches!(id, TicketId::Text(_))).and_then(|id| ticket(folder, id));
            let stem = text.strip_suffix(".md").unwrap_or(text).to_owned();
            by_id.or_else(|| self.by_file.get(&(folder, stem)).copied().map(Needed::Ticket))
        };
        let elsewhere = || {
            let (epic, id) = text.split_once('.')?;
            ticket(*self.epic_ids.get(&TicketId::read(epic)?)?, &TicketId::read(id)?)
        };
        let epic = || self.epics.get(text).copied().map(Needed::Epic);
        let found = neighbour().or_else(elsewhere).or_else(epic);
        found.or_else(|| self.by_tracker.get(text).cloned()).unwrap_or_else(|| Needed::Unknown(text.clone()))
    }
}
