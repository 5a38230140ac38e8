//! Changing issues.

use std::sync::Arc;

use jiff::Timestamp;
use reqwest::Method;
use serde::Deserialize;
use serde_json::Value as Json;

use super::{
    JiraTracker,
    edit::{Edit, Marked},
    issue::time,
    progress::Progress,
    project_facts::ProjectFacts,
};
use crate::{
    breaker::{Failure, Reason, ScopeKind},
    ticket::Observed,
    tracker::{
        Change, Delivered, Outcome,
        http::{HttpRequest, Refused},
    },
};

/// The number of issues that are changed in one go: one request reads all of them, up to one changes each,
/// and few take those that stand alike to their status.
pub(super) const UPDATE_BATCH: usize = 25;

/// The fields of an issue that the answer to a change tells.
#[derive(Debug, Default, Deserialize)]
struct Edited {
    #[serde(default)]
    fields: EditedFields,
    #[serde(default)]
    changelog: Changelog,
}

#[derive(Debug, Default, Deserialize)]
struct Changelog {
    #[serde(default)]
    histories: Vec<History>,
}

#[derive(Debug, Deserialize)]
struct History {
    #[serde(deserialize_with = "time")]
    created: Timestamp,
    #[serde(default)]
    items: Vec<HistoryItem>,
}

#[derive(Debug, Deserialize)]
struct HistoryItem {
    #[serde(default)]
    field: String,
}

impl Edited {
    /// Returns whether somebody else changed a text after `read` that was changed now, too.
    fn has_overwritten(&self, read: Timestamp, edit: &Edit) -> bool {
        let texts = ["summary", "description"];
        let is_own = |text: &&str| edit.body["fields"].get(*text).is_some();
        texts.iter().filter(|text| is_own(text)).any(|text| {
            let is_later = |change: &&History| change.created > read;
            let later = self.changelog.histories.iter().filter(is_later);
            // The last one is ours.
            later.filter(|change| change.items.iter().any(|item| item.field == *text)).count() > 1
        })
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct EditedFields {
    summary: Option<String>,
    description: Option<Json>,
    labels: Option<Vec<String>>,
}

impl JiraTracker {
    /// Changes the managed fields of issues, after reading what people made of them; nothing is sent where
    /// nothing differs. What goes wrong with more than one ticket keeps the rest from being asked for.
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

    /// Changes the fields of each, unless something has gone wrong with all; returns the failure that keeps
    /// all others from being asked for.
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
        let marked = if issue.is_marked { Marked::Yes } else { Marked::No };
        let own = facts.type_of(&issue.current.remote);
        let edit = self
            .settings
            .edit(issue.change, &issue.current, (marked, own, !issue.is_there()))
            .map_err(Refused::Failed)?;
        if issue.is_to_be_opened() {
            self.walk(issue, facts).await?;
        }
        let Some(edit) = edit else { return Ok(()) };
        let edited = self.send_edit(issue.change, &edit).await.map_err(|refused| issue.refused(refused))?;
        let (state, status) = (issue.current.state, issue.current.status.clone());
        issue.is_overwritten = edited.has_overwritten(issue.updated_at, &edit);
        issue.current = overlaid(Observed { state, status, ..edit.after }, edited.fields);
        issue.has_written = true;
        Ok(())
    }

    async fn send_edit(&self, change: &Change, edit: &Edit) -> Result<Edited, Refused> {
        let url = self.addresses().edit(&change.remote.id);
        let edited = self.tell::<Edited>(HttpRequest::write(Method::PUT, url, edit.body.clone())).await?;
        Ok(edited.unwrap_or_default())
    }

    /// Takes an issue where it should be, unless others took it along, and says what was delivered.
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
        let (change, current, settings) = (issue.change, &issue.current, &self.settings);
        if !issue.is_there() {
            return Err(Failure::new(Reason::Invalid, &settings.left_behind(issue, facts)));
        }
        let desired = &change.desired;
        // The labels of before are taken away by now, and the other fields were taken or refused with the
        // request.
        let compared = settings.differences(desired, Some(desired), current);
        let mut missing = compared.map_err(|error| Failure::new(Reason::Invalid, &error.to_string()))?;
        missing.retain(|missing| missing.field != "parent");
        let parent = (change.before.as_ref(), change.parent.as_ref());
        missing.extend(settings.parent_missing(desired, parent, current));
        Ok(Delivered { remote: current.remote.clone(), missing, is_overwritten: issue.is_overwritten })
    }
}

fn of_all(refused: &Refused) -> Option<Failure> {
    let failure = refused.failure();
    (failure.reason.consequence().scope != ScopeKind::Ticket).then(|| failure.clone())
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
