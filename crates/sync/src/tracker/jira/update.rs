//! Changing issues.

use std::sync::Arc;

use jiff::Timestamp;
use reqwest::Method;
use serde_json::Value as Json;

use super::{changes::Edit, project_facts::ProjectFacts, service::JiraTracker, walk::Progress};
use crate::{
    breaker::{Failure, Reason, ScopeKind},
    ticket::Observed,
    tracker::{
        Change, Delivered, Outcome,
        http::{HttpRequest, Refused},
    },
};

/// One request reads all, up to one changes each, and few move those in the same status.
pub(super) const UPDATE_BATCH: usize = 25;

impl JiraTracker {
    /// Reads them first; sends nothing if nothing differs. A failure that concerns more than one ticket stops
    /// the rest.
    pub(super) async fn update_issues(&self, changes: &[Change]) -> Vec<Outcome<Delivered>> {
        let all_failed = |refused: Refused| {
            changes.iter().map(|_| Outcome::Failed(refused.failure().clone())).collect::<Vec<_>>()
        };
        let ids: Vec<&str> = changes.iter().map(|change| change.remote.id.as_str()).collect();
        let found = match self.fetch(&ids).await {
            Ok(found) => found,
            Err(refused) => return all_failed(refused),
        };
        let (site, statuses) = (self.site().await, &self.settings.statuses);
        let mut issues: Vec<Result<Progress<'_>, Refused>> = Vec::with_capacity(changes.len());
        for change in changes {
            let issue = found.get(&change.remote).map_err(Refused::Failed);
            issues.push(issue.and_then(|issue| Progress::begin(change, issue, (site, statuses))));
        }
        let facts: Arc<ProjectFacts> = match issues.iter().flatten().any(Progress::wants_facts) {
            false => Arc::default(),
            true => match self.facts().await {
                Ok(facts) => facts,
                Err(refused) => return all_failed(refused),
            },
        };
        for issue in issues.iter_mut().flatten() {
            issue.goal = issue.goal.knowing(facts.type_of(&issue.current.remote));
        }
        // Many workflows do not let a closed issue be changed: it is opened first, and closed last.
        let mut closed: Vec<_> = issues.iter_mut().flatten().filter(|own| own.is_to_be_opened()).collect();
        let halted = self.walk_together(&mut closed, &facts).await.err();
        let mut halted = self.edit_all(&mut issues, &facts, halted).await;
        if halted.is_none() {
            let mut open: Vec<&mut Progress<'_>> = issues.iter_mut().flatten().collect();
            halted = self.walk_together(&mut open, &facts).await.err();
        }
        let mut outcomes = Vec::with_capacity(changes.len());
        for issue in issues {
            let ended = match issue {
                Ok(issue) => self.end(issue, &facts, &mut halted).await,
                Err(refused) => Err(refused),
            };
            outcomes.push(ended.map_or_else(Refused::outcome, Outcome::Done));
        }
        outcomes
    }

    /// Stops at a failure that concerns all others, and returns it.
    async fn edit_all(
        &self,
        issues: &mut [Result<Progress<'_>, Refused>],
        facts: &ProjectFacts,
        mut halted: Option<Failure>,
    ) -> Option<Failure> {
        for slot in issues {
            let Ok(issue) = slot else { continue };
            let edited = match (&halted, issue.doubt.take()) {
                (_, Some(doubt)) => Err(Refused::InDoubt(doubt)),
                (Some(failure), None) => Err(issue.refused(Refused::Failed(failure.clone()))),
                (None, None) => self.edit_issue(issue, facts).await,
            };
            if let Err(refused) = edited {
                halted = halted.or_else(|| of_all(&refused));
                *slot = Err(refused);
            }
        }
        halted
    }

    async fn edit_issue(&self, issue: &mut Progress<'_>, facts: &ProjectFacts) -> Result<(), Refused> {
        let own = facts.type_of(&issue.current.remote);
        let facts_of_issue = (issue.is_marked, own, !issue.is_there());
        let edit = self.settings.edit(issue.change, &issue.current, facts_of_issue);
        let edit = edit.map_err(Refused::Failed)?;
        if issue.is_to_be_opened() {
            self.walk(issue, facts).await?;
        }
        let Some(edit) = edit else { return Ok(()) };
        // Jira does not heed `notifyUsers` of those who may not administer the project.
        let query = [("returnIssue", "true"), ("notifyUsers", "false"), ("expand", "changelog")];
        let url = self.url(&["issue", &issue.change.remote.id], &query);
        let told = self.tell::<Json>(HttpRequest::write(Method::PUT, url, edit.body.clone())).await;
        let told = told.map_err(|refused| issue.refused(refused))?.unwrap_or_default();
        let (state, status) = (issue.current.state, issue.current.status.clone());
        issue.is_overwritten = has_overwritten(&told, issue.updated_at, &edit);
        issue.current = overlaid(Observed { state, status, ..edit.after }, &told["fields"]);
        issue.has_written = true;
        Ok(())
    }

    /// Moves the issue to its status, unless others took it along.
    async fn end(
        &self,
        mut issue: Progress<'_>,
        facts: &ProjectFacts,
        halted: &mut Option<Failure>,
    ) -> Result<Delivered, Refused> {
        if let Some(doubt) = issue.doubt {
            return Err(Refused::InDoubt(doubt));
        }
        if !issue.is_there() {
            let walked = match &*halted {
                Some(failure) => Err(issue.refused(Refused::Failed(failure.clone()))),
                None => self.walk(&mut issue, facts).await,
            };
            if let Err(refused) = walked {
                if halted.is_none() {
                    *halted = of_all(&refused);
                }
                return Err(refused);
            }
        }
        self.delivered(&issue, facts).map_err(Refused::Failed)
    }

    fn delivered(&self, issue: &Progress<'_>, facts: &ProjectFacts) -> Result<Delivered, Failure> {
        let (change, current) = (issue.change, &issue.current);
        if !issue.is_there() {
            return Err(Failure::new(Reason::Invalid, &self.left_behind(issue, facts)));
        }
        let parent = (change.before.as_ref(), change.parent.as_ref());
        let missing = self.settings.missing(&change.desired, parent, current);
        let missing = missing.map_err(|error| Failure::new(Reason::Invalid, &error.to_string()))?;
        Ok(Delivered { remote: current.remote.clone(), missing, is_overwritten: issue.is_overwritten })
    }
}

fn of_all(refused: &Refused) -> Option<Failure> {
    let failure = refused.failure();
    (failure.reason.consequence().scope != ScopeKind::Ticket).then(|| failure.clone())
}

/// Somebody else changed, after `read`, a text that we changed now.
fn has_overwritten(told: &Json, read: Timestamp, edit: &Edit) -> bool {
    let list = |of: &Json| of.as_array().cloned().unwrap_or_default();
    let mut later = list(&told["changelog"]["histories"]);
    later.retain(|change| {
        let created = change["created"].as_str().and_then(|text| text.parse::<Timestamp>().ok());
        created.is_some_and(|created| created > read)
    });
    let own = ["summary", "description"].into_iter().filter(|text| edit.body["fields"].get(text).is_some());
    // The last one is ours.
    own.map(|text| {
        later.iter().filter(|change| list(&change["items"]).iter().any(|item| item["field"] == *text))
    })
    .any(|changes| changes.count() > 1)
}

fn overlaid(expected: Observed, told: &Json) -> Observed {
    let labels = told["labels"].as_array();
    let text = |label: &Json| label.as_str().map(str::to_owned);
    Observed {
        title: told["summary"].as_str().map_or(expected.title, str::to_owned),
        body: Some(&told["description"])
            .filter(|told| !told.is_null())
            .map_or(expected.body, Json::to_string),
        labels: labels.map_or(expected.labels, |labels| labels.iter().filter_map(text).collect()),
        ..expected
    }
}
