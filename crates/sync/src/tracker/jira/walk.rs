//! Taking an issue to the status that it should have.

use reqwest::Method;
use serde::de::IgnoredAny;

use super::{
    JiraTracker,
    progress::Progress,
    transition::{Choice, Transitions, choose},
};
use crate::{
    breaker::Reason,
    tracker::http::{HttpRequest, Refused},
};

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

    /// Takes a step; `false` where no way leads on. The issue may have been moved by others since it was read.
    async fn take_transition(&self, issue: &mut Progress<'_>) -> Result<bool, Refused> {
        let (id, standing) = (issue.current.remote.id.clone(), issue.change.desired.standing);
        let ways: Transitions =
            self.ask(HttpRequest::get(self.addresses().transitions_with_fields(&id))).await?;
        let choice = choose(&ways.transitions, &issue.goal, &issue.passed);
        if !choice.is_some_and(|choice| choice.is_best) && self.was_moved(issue).await? {
            return Ok(true);
        }
        let Some(Choice { way, .. }) = choice else { return Ok(false) };
        let request =
            HttpRequest::write(Method::POST, self.addresses().transitions(&id), way.request(standing));
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
        issue.stands(way.to.name.clone(), way.to.standing(None));
        Ok(true)
    }

    /// Whether it has another status now than was known of it.
    async fn was_moved(&self, issue: &mut Progress<'_>) -> Result<bool, Refused> {
        let remote = &issue.current.remote;
        let (status, standing) =
            self.fetch(&[&remote.id]).await?.get(remote).map_err(Refused::Failed)?.stands();
        let is_moved = issue.current.status.as_deref() != Some(&*status);
        if is_moved {
            issue.stands(status, standing);
        }
        Ok(is_moved)
    }
}
