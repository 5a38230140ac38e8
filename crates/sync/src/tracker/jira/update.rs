//! Changing issues.

use reqwest::Method;
use serde::Deserialize;
use serde_json::Value as Json;

use super::{
    JiraTracker,
    edit::{Edit, Marked},
    issue::JiraIssue,
    status::StatusGoal,
};
use crate::{
    breaker::{Failure, Reason, ScopeKind},
    ticket::Observed,
    tracker::{Change, Delivered, Outcome, http::HttpRequest, refused::Refused},
};

/// How many issues are changed in one go: one request reads all of them, and up to four change each.
pub(super) const UPDATE_BATCH: usize = 10;

/// The fields of an issue that the answer to a change tells.
#[derive(Debug, Default, Deserialize)]
struct Edited {
    #[serde(default)]
    fields: EditedFields,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct EditedFields {
    summary: Option<String>,
    description: Option<Json>,
    labels: Option<Vec<String>>,
}

impl JiraTracker {
    /// Changes the managed fields of issues, after reading what people made of them; nothing is sent where nothing differs. What goes wrong
    /// with more than one ticket keeps the rest from being asked for.
    pub(super) async fn update_issues(&self, changes: &[Change]) -> Vec<Outcome<Delivered>> {
        let ids: Vec<&str> = changes.iter().map(|change| change.remote.id.as_str()).collect();
        let found = match self.fetch(&ids).await {
            Ok(found) => found,
            Err(refused) => {
                return changes.iter().map(|_| Outcome::Failed(refused.failure().clone())).collect();
            }
        };
        let mut halted: Option<Failure> = None;
        let mut outcomes = Vec::with_capacity(changes.len());
        for change in changes {
            if let Some(failure) = &halted {
                outcomes.push(Outcome::Failed(failure.clone()));
                continue;
            }
            let changed = match found.get(&change.remote) {
                Ok(issue) => self.change_issue(change, issue).await,
                Err(failure) => Err(Refused::Failed(failure)),
            };
            if let Err(refused) = &changed
                && refused.failure().reason.consequence().scope != ScopeKind::Ticket
            {
                halted = Some(refused.failure().clone());
            }
            outcomes.push(changed.map_or_else(Refused::outcome, |current| self.delivered(change, current)));
        }
        outcomes
    }

    async fn change_issue(&self, change: &Change, issue: JiraIssue) -> Result<Observed, Refused> {
        let desired = &change.desired;
        let marker = issue.marker();
        let marked = if marker.is_some() { Marked::Yes } else { Marked::No };
        let mut current = issue.observed(desired.marker.clone(), self.site().await);
        if let Some(failure) = change.condition.refusal(marker.as_slice(), &current) {
            return Err(Refused::Failed(failure));
        }
        let goal = StatusGoal::of(desired, &self.settings.statuses);
        let edit = self.settings.edit(change, &current, marked).map_err(Refused::Failed)?;
        // Many workflows do not let a closed issue be changed: it is opened first, and closed last.
        let opens = !current.standing.is_open() && !matches!(goal, StatusGoal::Closed { .. });
        let mut has_written = false;
        if opens {
            has_written = self.walk(desired, &mut current, &goal).await?;
        }
        if let Some(edit) = edit {
            let after =
                Observed { standing: current.standing, status: current.status.clone(), ..edit.after.clone() };
            let edited = self.send_edit(change, &edit).await;
            let edited =
                edited.map_err(|refused| if has_written { refused.after_a_write() } else { refused })?;
            current = overlaid(after, edited);
            has_written = true;
        }
        if !opens {
            let walked = self.walk(desired, &mut current, &goal).await;
            walked.map_err(|refused| if has_written { refused.after_a_write() } else { refused })?;
        }
        Ok(current)
    }

    async fn send_edit(&self, change: &Change, edit: &Edit) -> Result<EditedFields, Refused> {
        let url = self.addresses().edit(&change.remote.id);
        let edited = self.tell::<Edited>(HttpRequest::write(Method::PUT, url, edit.body.clone())).await?;
        Ok(edited.unwrap_or_default().fields)
    }

    /// What was delivered, and what the issue does not say all the same.
    fn delivered(&self, change: &Change, current: Observed) -> Outcome<Delivered> {
        let (desired, settings) = (&change.desired, &self.settings);
        // The labels of before are taken away by now, and the other fields were taken or refused with the request.
        match settings.differences(desired, Some(desired), &current) {
            Ok(mut missing) => {
                missing.retain(|missing| missing.field != "parent");
                let parent = (change.before.as_ref(), change.parent.as_ref());
                missing.extend(settings.parent_missing(desired, parent, &current));
                Outcome::Done(Delivered { remote: current.remote, missing })
            }
            Err(error) => Outcome::Failed(Failure::new(Reason::Invalid, &error.to_string())),
        }
    }
}

/// The issue as it was told after a change.
fn overlaid(expected: Observed, told: EditedFields) -> Observed {
    Observed {
        title: told.summary.unwrap_or(expected.title),
        body: told.description.filter(|told| !told.is_null()).map_or(expected.body, |told| told.to_string()),
        labels: told.labels.map_or(expected.labels, |labels| labels.into_iter().collect()),
        ..expected
    }
}
