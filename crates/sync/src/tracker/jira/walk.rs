//! Taking an issue to the status that it should have.

use reqwest::Method;
use serde::de::IgnoredAny;

use super::{
    JiraTracker,
    progress::Progress,
    transition::{Transitions, choose},
};
use crate::tracker::{http::HttpRequest, refused::Refused};

/// How many transitions are taken at most: a workflow may want several, and may be a circle.
const TRANSITIONS: usize = 4;

impl JiraTracker {
    /// Takes transitions until the issue is where it should be or none leads on.
    pub(super) async fn walk(&self, issue: &mut Progress<'_>) -> Result<(), Refused> {
        for _ in 0..TRANSITIONS {
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

    async fn take_transition(&self, issue: &mut Progress<'_>) -> Result<bool, Refused> {
        let (id, standing) = (&issue.current.remote.id, issue.change.desired.standing);
        let ways: Transitions =
            self.ask(HttpRequest::get(self.addresses().transitions_with_fields(id))).await?;
        let Some(way) = choose(&ways.transitions, &issue.goal, &issue.passed) else { return Ok(false) };
        let body = way.request(standing);
        let request = HttpRequest::write(Method::POST, self.addresses().transitions(id), body);
        self.tell::<IgnoredAny>(request).await?;
        issue.has_written = true;
        issue.stands(way.to.name.clone(), way.to.standing(None));
        Ok(true)
    }
}
