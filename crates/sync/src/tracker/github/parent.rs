//! Issues below issues (GitHub's "REST API endpoints for sub-issues").

use std::sync::atomic::Ordering;

use reqwest::Method;
use serde::de::IgnoredAny;
use serde_json::{Value as Json, json};
use url::Url;

use super::{
    GitHubTracker,
    exchange::{Refused, ask},
    issue::DATABASE_ID,
    refusal::Asked,
    rest::number_of,
};
use crate::{
    breaker::Reason,
    pace::Budget,
    ticket::{FieldDifference, Observed, RemoteTicket},
    tracker::{
        Change,
        http::HttpRequest,
        parent_difference::{parent_difference, shown},
    },
};

/// What is to be done about the parent of an issue.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Move {
    /// It is put below this issue, and taken from another one.
    Below(RemoteTicket),
    /// It is taken from this one, below which stepmark put it.
    From(u64),
}

impl GitHubTracker {
    /// Puts an issue where it should hang, and notes it in `current`. A server that knows no issues below issues is remembered; a parent
    /// that is gone leaves the issue where it is, which [`parent_missing`] tells.
    pub(super) async fn settle_parent(
        &self,
        change: &Change,
        current: &mut Observed,
        heard: &mut Option<Budget>,
    ) -> Result<(), Refused> {
        let Some(step) = step(change, current).filter(|_| self.has_sub_issues.load(Ordering::Relaxed)) else {
            return Ok(());
        };
        let database_id = current.remote.other_ids.get(DATABASE_ID).and_then(|id| id.parse::<u64>().ok());
        let (method, url, parent, body) = match &step {
            Move::Below(parent) => {
                let number = number_of(parent).map_err(Refused::Failed)?;
                let body = json!({ "sub_issue_id": database_id, "replace_parent": true });
                (Method::POST, self.addresses().sub_issues(number), number, body)
            }
            Move::From(number) => {
                let body = json!({ "sub_issue_id": database_id });
                (Method::DELETE, self.addresses().sub_issue(*number), *number, body)
            }
        };
        match self.ask_for_move(method, url, body, heard).await {
            Ok(()) => {
                current.parent_id = match step {
                    Move::Below(parent) => Some(parent.id),
                    Move::From(_) => None,
                };
                Ok(())
            }
            Err(refused) if refused.failure().reason == Reason::Gone => {
                // Either the parent is not there, or all of this is not.
                if self.get_issue(parent, heard).await.is_ok() {
                    self.has_sub_issues.store(false, Ordering::Relaxed);
                }
                Ok(())
            }
            Err(refused) => Err(refused),
        }
    }

    async fn ask_for_move(
        &self,
        method: Method,
        url: Url,
        body: Json,
        heard: &mut Option<Budget>,
    ) -> Result<(), Refused> {
        let request = HttpRequest::write(method, url, body);
        ask::<IgnoredAny>(&self.http, request, Asked::Issue, || self.now(), heard).await.map(drop)
    }
}

fn step(change: &Change, current: &Observed) -> Option<Move> {
    let hangs_below = current.parent_id.as_deref();
    match (&change.desired.parent, &change.parent) {
        (Some(_), Some(parent)) => {
            (hangs_below != Some(parent.id.as_str())).then(|| Move::Below(parent.clone()))
        }
        // It has no issue yet.
        (Some(_), None) => None,
        (None, _) => {
            // A parent that a person gave it stays.
            let was_ours = change.before.as_ref().is_some_and(|before| before.parent.is_some());
            hangs_below.filter(|_| was_ours)?.parse().ok().map(Move::From)
        }
    }
}

/// Whether an issue hangs elsewhere than it should, after a change that knew below which one.
pub(super) fn parent_missing(change: &Change, current: &Observed) -> Option<FieldDifference> {
    match (&change.desired.parent, &change.parent) {
        (Some(_), Some(parent)) if current.parent_id.as_ref() == Some(&parent.id) => None,
        (Some(wanted), Some(_)) => FieldDifference::between("parent", Json::Null, shown(Some(wanted))),
        _ => parent_difference(&change.desired, change.before.as_ref(), current),
    }
}
