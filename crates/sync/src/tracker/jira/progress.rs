//! An issue on its way to what it should say. Pure.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use reqwest::Method;
use serde::de::IgnoredAny;

use super::{
    JiraTracker, extra_fields,
    issue::JiraIssue,
    project_facts::ProjectFacts,
    status::StatusGoal,
    transition::{Choice, Transitions, choose},
};
use crate::{
    breaker::{Failure, Reason},
    ticket::{Observed, TicketState},
    tracker::{
        Change,
        http::{HttpRequest, Refused},
    },
};

/// An issue on its way to what it should say.
#[derive(Clone, Debug)]
pub(super) struct Progress<'c> {
    pub(super) change: &'c Change,
    pub(super) current: Observed,
    /// True where it carried its marker when it was read.
    pub(super) is_marked: bool,
    pub(super) goal: StatusGoal<'c>,
    pub(super) passed: BTreeSet<String>,
    /// The time at which it had last been changed when it was read.
    pub(super) updated_at: Timestamp,
    /// True where somebody changed its text between that and our change.
    pub(super) is_overwritten: bool,
    /// True where anything of it was changed by now.
    pub(super) has_written: bool,
    /// The reason why nobody knows what became of it.
    pub(super) doubt: Option<Failure>,
}

impl<'c> Progress<'c> {
    /// The beginning: what the issue says, unless it must not be changed.
    pub(super) fn begin(
        change: &'c Change,
        issue: JiraIssue,
        (site, statuses): (&str, &'c BTreeMap<String, String>),
    ) -> Result<Self, Refused> {
        let marker = issue.marker();
        let updated_at = issue.updated_at();
        let current = issue.observed(change.desired.marker.clone(), site);
        match change.refusal(marker.as_slice(), &current) {
            Some(failure) => Err(Refused::Failed(failure)),
            None => Ok(Self {
                change,
                current,
                is_marked: marker.is_some(),
                goal: StatusGoal::of(&change.desired, statuses),
                passed: BTreeSet::new(),
                updated_at,
                is_overwritten: false,
                has_written: false,
                doubt: None,
            }),
        }
    }

    /// Returns whether it can be changed only by who knows what the project allows.
    pub(super) fn wants_facts(&self) -> bool {
        let (desired, before) = (&self.change.desired, self.change.before.as_ref());
        !self.is_there() || !extra_fields::differences(desired, before).is_empty()
    }

    pub(super) fn is_there(&self) -> bool {
        self.goal.is_met_by(&self.current)
    }

    pub(super) fn is_to_be_opened(&self) -> bool {
        let is_closed = !self.current.state.is_open() && !matches!(self.goal, StatusGoal::Closed { .. });
        is_closed && !self.is_there()
    }

    pub(super) fn pass(&mut self) {
        self.passed.extend(self.current.status.as_deref().map(str::to_lowercase));
    }

    /// Notes the status that it has now. Why it is closed is what was said with the request.
    pub(super) fn stands(&mut self, status: String, told: TicketState) {
        self.current.status = Some(status);
        self.current.state = match (told, self.change.desired.state) {
            (TicketState::Closed(_), closed @ TicketState::Closed(_)) => closed,
            _ => told,
        };
    }

    /// A refusal, after what was done before it.
    pub(super) fn refused(&self, refused: Refused) -> Refused {
        if self.has_written { refused.after_a_write() } else { refused }
    }
}

/// The number of transitions that are taken at most: a workflow may want several, and may be a circle.
const TRANSITIONS: usize = 4;

impl JiraTracker {
    /// Takes transitions until the issue is where it should be or none leads on. Where it cannot get there it
    /// stays.
    pub(super) async fn walk(&self, issue: &mut Progress<'_>, facts: &ProjectFacts) -> Result<(), Refused> {
        let obstacle = self.settings.obstacle_of(issue, facts);
        let most = if obstacle.is_some() { 0 } else { TRANSITIONS };
        for _ in 0..most {
            if issue.is_there() {
                break;
            }
            issue.pass();
            let moved = self.take_transition(issue).await;
            if !moved.map_err(|refused| issue.refused(refused))? {
                break;
            }
        }
        Ok(())
    }

    /// Takes a step; `false` where no way leads on. The issue may have been moved by others since it was
    /// read.
    async fn take_transition(&self, issue: &mut Progress<'_>) -> Result<bool, Refused> {
        let (id, state) = (issue.current.remote.id.clone(), issue.change.desired.state);
        let ways: Transitions =
            self.ask(HttpRequest::get(self.addresses().transitions_with_fields(&id))).await?;
        let choice = choose(&ways.transitions, &issue.goal, &issue.passed);
        if !choice.is_some_and(|choice| choice.is_best) && self.was_moved(issue).await? {
            return Ok(true);
        }
        let Some(Choice { way, .. }) = choice else { return Ok(false) };
        let request = HttpRequest::write(Method::POST, self.addresses().transitions(&id), way.request(state));
        match self.tell::<IgnoredAny>(request).await {
            Ok(_) => {}
            Err(Refused::Failed(failure))
                if matches!(failure.reason, Reason::Invalid | Reason::Conflict)
                    && self.was_moved(issue).await? =>
            {
                return Ok(true);
            }
            Err(refused) => return Err(refused),
        }
        issue.has_written = true;
        issue.stands(way.to.name.clone(), way.to.ticket_state(None));
        Ok(true)
    }

    async fn was_moved(&self, issue: &mut Progress<'_>) -> Result<bool, Refused> {
        let remote = &issue.current.remote;
        let (status, state) = self.fetch(&[&remote.id]).await?.get(remote).map_err(Refused::Failed)?.stands();
        let is_moved = issue.current.status.as_deref() != Some(&*status);
        if is_moved {
            issue.stands(status, state);
        }
        Ok(is_moved)
    }
}
