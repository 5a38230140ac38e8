//! The obstacles that keep a project from taking a ticket, as far as they are known before anything is
//! written. Pure.

use super::{
    JiraSettings, extra_fields,
    progress::Progress,
    project_facts::{ProjectFacts, TypeFacts},
    status::{Category, StatusGoal},
};
use crate::ticket::{CloseReason, RemoteTicket, Ticket};

const GIVEN: [&str; 3] = ["summary", "description", "labels"];

impl JiraSettings {
    /// The reason why no issue can be made for a ticket below `parent`.
    pub(super) fn creation_obstacle(
        &self,
        facts: &ProjectFacts,
        ticket: &Ticket,
        parent: Option<&RemoteTicket>,
    ) -> Option<String> {
        let (wanted, below) = self.types.of_new(ticket, parent);
        let Some(own) = facts.type_called(wanted).filter(|own| own.may_be_made) else {
            let known = facts.types.iter().filter(|own| own.may_be_made).map(|own| own.name.as_str());
            return Some(format!(
                "the project {} has no type of issue `{wanted}` that this account may make; it has {}",
                self.project,
                list(known)
            ));
        };
        if own.is_sub_task && below.is_none() {
            return Some(format!("an issue of the type `{}` cannot be without one above it", own.name));
        }
        let is_child = self.types.child.as_ref().is_some_and(|child| own.is_called(child));
        if is_child && below.is_some() && !own.is_sub_task {
            let name = &own.name;
            return Some(format!(
                "`child_issue_type: {name}` is no type of sub-tasks, so nothing of it hangs below an issue"
            ));
        }
        let is_epic = self.types.epic.as_ref().is_some_and(|epic| own.is_called(epic));
        if is_epic && own.level.is_some_and(|level| level < 1) {
            let name = &own.name;
            return Some(format!(
                "`epic_issue_type: {name}` is no type of epics, so no story hangs below an issue of it"
            ));
        }
        self.field_obstacle(own, ticket)
    }

    /// The reason why a ticket does not get the status that it should have.
    pub(super) fn status_obstacle(&self, own: &TypeFacts, ticket: &Ticket) -> Option<String> {
        let all = own.statuses.iter();
        match StatusGoal::of(ticket, &self.statuses) {
            StatusGoal::Closed { reason: CloseReason::Completed, .. } if own.finished().is_none() => {
                let closed = all.filter(|status| status.category() == Category::Done);
                let (closed, word) = (
                    list(closed.map(|status| status.name.as_str())),
                    ticket.status.as_deref().unwrap_or("done"),
                );
                Some(format!(
                    "issues of the type `{}` have no status that is known to be of finished work among {closed}: name the one that is meant, `statuses: {{{word}: NAME}}`",
                    own.name
                ))
            }
            goal if own.statuses.iter().any(|status| goal.is_met(&status.name, status.category())) => None,
            goal => {
                let (name, known) = (&own.name, list(all.map(|status| status.name.as_str())));
                Some(format!("issues of the type `{name}` have no {}; they have {known}", called(&goal)))
            }
        }
    }

    /// The reason why an issue does not get the status that it should have.
    pub(super) fn obstacle_of(&self, issue: &Progress<'_>, facts: &ProjectFacts) -> Option<String> {
        let own = facts.type_of(&issue.current.remote)?;
        self.status_obstacle(own, &issue.change.desired)
    }

    /// Returns what is said of an issue that no transition took where it should be.
    pub(super) fn left_behind(&self, issue: &Progress<'_>, facts: &ProjectFacts) -> String {
        let current = &issue.current;
        let why = self.obstacle_of(issue, facts).unwrap_or_else(|| {
            format!("no transition that asks for nothing else leads to a {}", called(&issue.goal))
        });
        let status = current.status.as_deref().unwrap_or_default();
        format!("{} stays in `{status}`: {why}", current.remote.key)
    }

    /// Everything that will not work with these tickets, one line for each cause.
    pub(super) fn obstacles(&self, facts: &ProjectFacts, tickets: &[(&Ticket, bool)]) -> Vec<String> {
        let mut obstacles: Vec<String> = Vec::new();
        for (ticket, is_new) in tickets {
            let (wanted, _) = self.types.of_new(ticket, None);
            let creation = is_new.then(|| self.creation_obstacle(facts, ticket, None)).flatten();
            let status = facts.type_called(wanted).and_then(|own| self.status_obstacle(own, ticket));
            obstacles.extend([creation, status].into_iter().flatten());
        }
        obstacles.sort();
        obstacles.dedup();
        obstacles
    }

    fn field_obstacle(&self, own: &TypeFacts, ticket: &Ticket) -> Option<String> {
        let name = &own.name;
        let fields = own.fields.as_ref()?;
        let given: Vec<(&str, &str)> = extra_fields::given(ticket).collect();
        for (id, text) in &given {
            let Some(field) = own.field(id) else {
                return Some(format!(
                    "new issues of the type `{name}` have no field `{id}`: take it out of `ticket.fields`, or let it onto their screen"
                ));
            };
            if let Err(why) = field.value(text) {
                return Some(format!("`ticket.fields.{id}` (\"{}\"): {why}", field.name));
            }
        }
        if let Some(missing) = GIVEN.iter().find(|id| own.field(id).is_none()) {
            return Some(format!(
                "new issues of the type `{name}` have no field `{missing}`, which stepmark writes: let it onto their screen"
            ));
        }
        let is_filled = |id: &str| {
            let own = extra_fields::OWN_FIELDS.contains(&id);
            own || given.iter().any(|(given, _)| *given == id)
        };
        let missing =
            fields.iter().find(|field| field.required && !field.has_default && !is_filled(&field.id))?;
        if self.mapped.contains(&missing.id) {
            let (file, field) = (ticket.file.shown(), &missing.name);
            return Some(format!(
                "{file} lacks what `ticket.fields.{}` makes the field \"{field}\" from, which new issues of the type `{name}` need",
                missing.id
            ));
        }
        Some(format!(
            "new issues of the type `{name}` need the field \"{}\": give it by `ticket.fields: {{{}: VALUE}}`",
            missing.name, missing.id
        ))
    }
}

fn called(goal: &StatusGoal<'_>) -> String {
    match goal {
        StatusGoal::Named(name) | StatusGoal::Closed { preferred: Some(name), .. } => {
            format!("status `{name}`")
        }
        StatusGoal::Closed { .. } => "status of closed issues".to_owned(),
        StatusGoal::In(Category::ToDo) => "status of work that has not begun".to_owned(),
        StatusGoal::In(_) => "status of work in progress".to_owned(),
    }
}

fn list<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let all: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    if all.is_empty() { "none".to_owned() } else { all.join(", ") }
}
