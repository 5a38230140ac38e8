//! Moves issues to their statuses: many at once (Atlassian's "Issue bulk operations", which run in the
//! background and are polled), else one by one, as when a transition needs input or the account lacks the
//! right.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::Ordering,
    time::Duration,
};

use jiff::Timestamp;
use reqwest::Method;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value as Json, json};

use super::{
    issue::{self, ISSUE_TYPE, JiraIssue},
    project_facts::{ProjectFacts, called},
    service::JiraTracker,
    status::{Choice, StatusGoal, Transition, Transitions, choose},
};
use crate::{
    breaker::{Failure, Reason, ScopeKind},
    ticket::{CloseReason, Observed, TicketState},
    tracker::{
        Change,
        http::{HttpRequest, Refused},
    },
};

#[derive(Clone, Debug)]
pub(super) struct Progress<'c> {
    pub(super) change: &'c Change,
    pub(super) current: Observed,
    pub(super) is_marked: bool,
    pub(super) goal: StatusGoal<'c>,
    pub(super) passed: BTreeSet<String>,
    pub(super) updated_at: Timestamp,
    pub(super) is_overwritten: bool,
    pub(super) has_written: bool,
    pub(super) doubt: Option<Failure>,
}

impl<'c> Progress<'c> {
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

    pub(super) fn wants_facts(&self) -> bool {
        let (desired, before) = (&self.change.desired, self.change.before.as_ref());
        !self.is_there() || !issue::differences(desired, before).is_empty()
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

    /// The reason for closing is the one that was sent.
    pub(super) fn stands(&mut self, status: String, told: TicketState) {
        self.current.status = Some(status);
        self.current.state = match (told, self.change.desired.state) {
            (TicketState::Closed(_), closed @ TicketState::Closed(_)) => closed,
            _ => told,
        };
    }

    pub(super) fn refused(&self, refused: Refused) -> Refused {
        if self.has_written { refused.after_a_write() } else { refused }
    }
}

/// A workflow may need several, and may be a circle.
const TRANSITIONS: usize = 4;

impl JiraTracker {
    pub(super) async fn walk(&self, issue: &mut Progress<'_>, facts: &ProjectFacts) -> Result<(), Refused> {
        let most = if self.obstacle_of(issue, facts).is_some() { 0 } else { TRANSITIONS };
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

    /// `false` if no transition leads on. Others may have moved the issue since it was read.
    async fn take_transition(&self, issue: &mut Progress<'_>) -> Result<bool, Refused> {
        let (id, state) = (issue.current.remote.id.clone(), issue.change.desired.state);
        let ways: Transitions =
            self.get(&["issue", &id, "transitions"], &[("expand", "transitions.fields")]).await?;
        let choice = choose(&ways.transitions, &issue.goal, &issue.passed);
        if !choice.is_some_and(|choice| choice.is_best) && self.was_moved(issue).await? {
            return Ok(true);
        }
        let Some(Choice { way, .. }) = choice else { return Ok(false) };
        let url = self.url(&["issue", &id, "transitions"], &[]);
        let request = HttpRequest::write(Method::POST, url, way.request(state));
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

    fn obstacle_of(&self, issue: &Progress<'_>, facts: &ProjectFacts) -> Option<String> {
        let own = facts.type_of(&issue.current.remote)?;
        self.settings.status_obstacle(own, &issue.change.desired)
    }

    pub(super) fn left_behind(&self, issue: &Progress<'_>, facts: &ProjectFacts) -> String {
        let current = &issue.current;
        let why = self.obstacle_of(issue, facts).unwrap_or_else(|| {
            format!("no transition that asks for nothing else leads to a {}", called(&issue.goal))
        });
        let status = current.status.as_deref().unwrap_or_default();
        format!("{} stays in `{status}`: {why}", current.remote.key)
    }
}

/// Fewer issues are moved one by one: that takes as many requests.
const FEWEST: usize = 3;

const PATIENCE_MS: u64 = 30_000;
const LONGEST_PAUSE_MS: u64 = 2_000;

#[derive(Debug, Deserialize)]
struct Submitted {
    #[serde(rename = "taskId")]
    task: String,
}

/// Schema `BulkOperationProgress`.
#[derive(Debug, Deserialize)]
struct TaskState {
    status: String,
}

type Alike = (Option<String>, Option<String>, String);

impl JiraTracker {
    /// As far as many can go together. Failures of single issues are left to [`walk`](Self::walk); a failure
    /// that concerns all is returned. Issues of a request in doubt say so.
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
                // Each may be allowed by itself.
                Reason::Forbidden | Reason::Invalid | Reason::Gone => {
                    self.moves_many.store(false, Ordering::Relaxed);
                }
                reason if reason.consequence().scope != ScopeKind::Ticket => return Err(failure.clone()),
                _ => {}
            }
        }
        Ok(())
    }

    /// Only if a transition leads straight there.
    async fn move_alike(
        &self,
        alike: &mut [&mut &mut Progress<'_>],
        facts: &ProjectFacts,
    ) -> Result<(), Refused> {
        let ids: Vec<&str> = alike.iter().map(|issue| issue.current.remote.id.as_str()).collect();
        let query = [("issueIdsOrKeys", &*ids.join(","))];
        // Schema `BulkTransitionGetAvailableTransitions`: the ways of each workflow.
        let ways: Json = self.get(&["bulk", "issues", "transition"], &query).await?;
        let mut inputs = Vec::new();
        let mut moved: BTreeSet<String> = BTreeSet::new();
        for workflow in items(&ways, "availableTransitions") {
            let names = |text: &str| items(workflow, "issues").any(|issue| issue == text);
            let own = alike.iter().map(|issue| &issue.current.remote);
            let own = own.filter(|remote| names(&remote.id) || names(&remote.key));
            let own: Vec<String> = own.map(|remote| remote.id.clone()).collect();
            let ways: Vec<Transition> =
                items(workflow, "transitions").filter_map(|way| known_way(way, facts)).collect();
            let Some(first) = alike.iter().find(|issue| own.contains(&issue.current.remote.id)) else {
                continue;
            };
            // A transition that is not listed may be a direct one with fields: take no detour.
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
        let request =
            HttpRequest::write(Method::POST, self.url(&["bulk", "issues", "transition"], &[]), body);
        let finished = match self.ask::<Submitted>(request).await {
            Ok(submitted) => self.finish(&submitted.task).await,
            Err(Refused::InDoubt(failure)) => Err(failure),
            Err(refused) => return Err(refused),
        };
        let ids: Vec<&str> = moved.iter().map(String::as_str).collect();
        let found = match finished {
            Ok(()) => self.fetch(&ids).await.map_err(Failure::from),
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

    /// The outcome of each issue is read from the issues.
    async fn finish(&self, task: &str) -> Result<(), Failure> {
        let (mut waited, mut pause) = (0, 100);
        loop {
            let state: TaskState = self.get(&["bulk", "queue", task], &[]).await?;
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

fn items<'j>(told: &'j Json, list: &str) -> impl Iterator<Item = &'j Json> {
    told[list].as_array().into_iter().flatten()
}

/// Schema `SimplifiedIssueTransition`; `None` if the status that it leads to is unknown.
fn known_way(way: &Json, facts: &ProjectFacts) -> Option<Transition> {
    let status = facts.status(&way["to"]["statusId"].as_i64()?.to_string())?;
    Some(Transition::to(way["transitionId"].as_i64()?.to_string(), status.clone()))
}

/// Unfinished issues by their status. Reasons for closing are resolutions, which no bulk request can set.
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
