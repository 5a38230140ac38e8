//! Taking many issues to their statuses by few requests (Atlassian's "Issue bulk operations"): Jira moves
//! them in the background and is asked when it has. What cannot be done so, since a transition asks for
//! something or the account may not, is left to [`walk`](super::walk).

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::Ordering,
    time::Duration,
};

use reqwest::Method;
use serde::Deserialize;
use serde_json::json;

use super::{
    JiraTracker,
    issue::ISSUE_TYPE,
    progress::Progress,
    project_facts::ProjectFacts,
    status::StatusGoal,
    transition::{Transition, choose},
};
use crate::{
    breaker::{Failure, Reason, ScopeKind},
    ticket::CloseReason,
    tracker::http::{HttpRequest, Refused},
};

/// Fewer issues are moved one by one: that takes as many requests.
const FEWEST: usize = 3;

const PATIENCE_MS: u64 = 30_000;
const LONGEST_PAUSE_MS: u64 = 2_000;

/// The ways that issues have in common (OpenAPI, schema `BulkTransitionGetAvailableTransitions`).
#[derive(Debug, Deserialize)]
struct CommonWays {
    #[serde(default, rename = "availableTransitions")]
    workflows: Vec<WorkflowWays>,
}

/// Those of one workflow (schema `IssueBulkTransitionForWorkflow`).
#[derive(Debug, Deserialize)]
struct WorkflowWays {
    #[serde(default)]
    issues: BTreeSet<String>,
    #[serde(default)]
    transitions: Vec<CommonWay>,
}

/// A way (schema `SimplifiedIssueTransition`).
#[derive(Debug, Deserialize)]
struct CommonWay {
    #[serde(rename = "transitionId")]
    id: i64,
    to: CommonStatus,
}

#[derive(Debug, Deserialize)]
struct CommonStatus {
    #[serde(rename = "statusId")]
    id: i64,
}

#[derive(Debug, Deserialize)]
struct Submitted {
    #[serde(rename = "taskId")]
    task: String,
}

/// The progress of a change of many issues (schema `BulkOperationProgress`).
#[derive(Debug, Deserialize)]
struct TaskState {
    status: String,
}

/// The common facts of issues that move together: their type, where they are, and where they go.
type Alike = (Option<String>, Option<String>, String);

impl JiraTracker {
    /// Takes those of `issues` that are not where they should be there, as far as many can go together. What
    /// goes wrong with one of them is left to the way of each; a failure that concerns all is returned. Where
    /// nobody knows what became of a request, its issues say so.
    pub(super) async fn walk_together(
        &self,
        issues: &mut [&mut Progress<'_>],
        facts: &ProjectFacts,
    ) -> Result<(), Failure> {
        for mut alike in groups(issues) {
            if alike.len() < FEWEST || !self.moves_many.load(Ordering::Relaxed) {
                continue;
            }
            let Err(refused) = self.move_alike(&mut alike, facts).await else { continue };
            let failure = refused.failure();
            match failure.reason {
                // Each of them may be allowed to go by itself.
                Reason::Forbidden | Reason::Invalid | Reason::Gone => {
                    self.moves_many.store(false, Ordering::Relaxed);
                }
                reason if reason.consequence().scope != ScopeKind::Ticket => return Err(failure.clone()),
                _ => {}
            }
        }
        Ok(())
    }

    /// Takes issues that stand alike where they should be, where a way leads straight there.
    async fn move_alike(
        &self,
        alike: &mut [&mut &mut Progress<'_>],
        facts: &ProjectFacts,
    ) -> Result<(), Refused> {
        let ids: Vec<&str> = alike.iter().map(|issue| issue.current.remote.id.as_str()).collect();
        let ways: CommonWays = self.ask(HttpRequest::get(self.addresses().bulk_transitions(&ids))).await?;
        let mut inputs = Vec::new();
        let mut moved: BTreeSet<String> = BTreeSet::new();
        for workflow in ways.workflows {
            let own = alike.iter().map(|issue| &issue.current.remote);
            let own = own.filter(|remote| {
                workflow.issues.contains(&remote.id) || workflow.issues.contains(&remote.key)
            });
            let own: Vec<String> = own.map(|remote| remote.id.clone()).collect();
            let ways: Vec<Transition> =
                workflow.transitions.iter().filter_map(|way| way.known(facts)).collect();
            let Some(first) = alike.iter().find(|issue| own.contains(&issue.current.remote.id)) else {
                continue;
            };
            // A way that is not told may be a straight one that asks for something: none is gone around it.
            let way = choose(&ways, &first.goal, &first.passed).map(|choice| choice.way);
            if let Some(way) = way.filter(|way| way.leads_to(&first.goal)) {
                inputs.push(json!({ "selectedIssueIdsOrKeys": own, "transitionId": way.id }));
                moved.extend(own);
            }
        }
        if inputs.is_empty() {
            return Ok(());
        }
        let body = json!({ "bulkTransitionInputs": inputs, "sendBulkNotification": false });
        let request = HttpRequest::write(Method::POST, self.addresses().bulk_transitions(&[]), body);
        let finished = match self.ask::<Submitted>(request).await {
            Ok(submitted) => self.finish(&submitted.task).await,
            Err(Refused::InDoubt(failure)) => Err(failure),
            Err(refused) => return Err(refused),
        };
        let ids: Vec<&str> = moved.iter().map(String::as_str).collect();
        let found = match finished {
            Ok(()) => self.fetch(&ids).await.map_err(|refused| refused.failure().clone()),
            Err(failure) => Err(failure),
        };
        for issue in alike.iter_mut().filter(|issue| moved.contains(&issue.current.remote.id)) {
            issue.has_written = true;
            let told =
                found.as_ref().map_err(Clone::clone).and_then(|found| found.get(&issue.current.remote));
            match told {
                Ok(told) => {
                    let (status, state) = told.stands();
                    issue.stands(status, state);
                }
                Err(failure) => issue.doubt = Some(failure),
            }
        }
        Ok(())
    }

    /// Waits until Jira has done with a task. What became of each issue is read from the issues.
    async fn finish(&self, task: &str) -> Result<(), Failure> {
        let (mut waited, mut pause) = (0, 100);
        loop {
            let request = HttpRequest::get(self.addresses().bulk_task(task));
            let state: TaskState = self.ask(request).await.map_err(|refused| refused.failure().clone())?;
            if !matches!(state.status.as_str(), "ENQUEUED" | "RUNNING" | "CANCEL_REQUESTED") {
                return Ok(());
            }
            if waited >= PATIENCE_MS {
                let detail = format!("Jira has not ended its task {task} after {} s", PATIENCE_MS / 1000);
                return Err(Failure::new(Reason::Timeout, &detail));
            }
            tokio::time::sleep(Duration::from_millis(pause)).await;
            waited += pause;
            pause = (pause * 2).min(LONGEST_PAUSE_MS);
        }
    }
}

impl CommonWay {
    /// The way, where it is known what the status is that it leads to.
    fn known(&self, facts: &ProjectFacts) -> Option<Transition> {
        Some(Transition::to(self.id.to_string(), facts.status(&self.to.id.to_string())?.clone()))
    }
}

/// The issues that are to go further, those together that stand alike. A reason why an issue is closed stands
/// in its resolution, which no bulk request can give.
fn groups<'a, 'p, 'c>(issues: &'a mut [&'p mut Progress<'c>]) -> Vec<Vec<&'a mut &'p mut Progress<'c>>> {
    let mut groups: BTreeMap<Alike, Vec<&'a mut &'p mut Progress<'c>>> = BTreeMap::new();
    for issue in issues {
        let is_reasoned =
            matches!(issue.goal, StatusGoal::Closed { reason, .. } if reason != CloseReason::Completed);
        if is_reasoned || issue.is_there() || issue.doubt.is_some() {
            continue;
        }
        let type_name = issue.current.remote.other_ids.get(ISSUE_TYPE).cloned();
        let alike = (type_name, issue.current.status.clone(), format!("{:?}", issue.goal));
        groups.entry(alike).or_default().push(issue);
    }
    groups.into_values().collect()
}
