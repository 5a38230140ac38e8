//! Taking an issue to the status that it should have.

use std::collections::BTreeSet;

use reqwest::Method;
use serde::de::IgnoredAny;

use super::{
    JiraTracker,
    status::{Category, StatusGoal},
    transition::{Transitions, choose},
};
use crate::{
    ticket::{Observed, Standing, Ticket},
    tracker::{http::HttpRequest, refused::Refused},
};

/// How many transitions are taken at most: a workflow may want several, and may be a circle.
const TRANSITIONS: usize = 4;

impl JiraTracker {
    /// Takes transitions until `goal` is met or none leads on, and notes in `current` where the issue is; says whether one was taken.
    pub(super) async fn walk(
        &self,
        desired: &Ticket,
        current: &mut Observed,
        goal: &StatusGoal<'_>,
    ) -> Result<bool, Refused> {
        let mut passed: BTreeSet<String> = BTreeSet::new();
        let mut has_moved = false;
        for _ in 0..TRANSITIONS {
            if goal.is_met_by(current) {
                break;
            }
            passed.extend(current.status.as_deref().map(str::to_lowercase));
            let moved = self.take_transition(desired, current, (goal, &passed)).await;
            match moved.map_err(|refused| if has_moved { refused.after_a_write() } else { refused })? {
                true => has_moved = true,
                false => break,
            }
        }
        Ok(has_moved)
    }

    async fn take_transition(
        &self,
        desired: &Ticket,
        current: &mut Observed,
        (goal, passed): (&StatusGoal<'_>, &BTreeSet<String>),
    ) -> Result<bool, Refused> {
        let id = &current.remote.id;
        let ways: Transitions =
            self.ask(HttpRequest::get(self.addresses().transitions_with_fields(id))).await?;
        let Some(way) = choose(&ways.transitions, goal, passed) else { return Ok(false) };
        let body = way.request(desired.standing);
        let request = HttpRequest::write(Method::POST, self.addresses().transitions(id), body);
        self.tell::<IgnoredAny>(request).await?;
        current.status = Some(way.to.name.clone());
        current.standing = match (way.to.category(), desired.standing) {
            (Category::Done, closed @ Standing::Closed(_)) => closed,
            _ => way.to.standing(None),
        };
        Ok(true)
    }
}
