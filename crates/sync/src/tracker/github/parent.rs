//! Issues below issues (GitHub's "REST API endpoints for sub-issues").

use std::sync::atomic::Ordering;

use reqwest::Method;
use serde::de::IgnoredAny;
use serde_json::{Value as Json, json};
use url::Url;

use super::{
    GitHubTracker,
    issue::{DATABASE_ID, moved},
    request::{Asked, ask},
    rest::number_of,
};
use crate::{
    breaker::Reason,
    pace::Budget,
    ticket::{FieldDifference, Marker, Observed, RemoteTicket, parent_difference, shown_marker},
    tracker::{
        Change,
        http::{HttpRequest, Refused},
    },
};

/// The change of the parent of an issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// It is put below this issue, the ticket of that artifact, and taken from another one.
    Below(RemoteTicket, Marker),
    /// It is taken from this one, below which stepmark put it, where that is the ticket of that artifact.
    From(u64, Marker),
}

impl GitHubTracker {
    /// Puts an issue where it should hang, and notes it in `current`. A server that knows no issues below
    /// issues is remembered; a parent that is gone or full, or does not carry the marker of its artifact now,
    /// leaves the issue where it is, which [`parent_missing`] tells.
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
        let (method, url, parent, marker, body) = match &step {
            Move::Below(parent, marker) => {
                let number = number_of(parent).map_err(Refused::Failed)?;
                let body = json!({ "sub_issue_id": database_id, "replace_parent": true });
                (Method::POST, self.addresses().sub_issues(number), number, marker, body)
            }
            Move::From(number, marker) => {
                let body = json!({ "sub_issue_id": database_id });
                (Method::DELETE, self.addresses().sub_issue(*number), *number, marker, body)
            }
        };
        if !self.is_ticket_of(marker, parent, heard).await? {
            return Ok(());
        }
        match self.ask_for_move(method, url, body, heard).await {
            Ok(()) => {
                current.parent_id = match step {
                    Move::Below(parent, _) => Some(parent.id),
                    Move::From(..) => None,
                };
                Ok(())
            }
            // There is no room, as where people hung others there.
            Err(refused) if refused.failure().reason == Reason::Invalid => Ok(()),
            Err(refused) if refused.failure().reason == Reason::Gone => {
                // The parent was there a moment ago: all of this is not.
                self.has_sub_issues.store(false, Ordering::Relaxed);
                Ok(())
            }
            Err(refused) => Err(refused),
        }
    }

    /// Returns whether an issue is the ticket of an artifact: its list of issues is changed, too.
    async fn is_ticket_of(
        &self,
        marker: &Marker,
        number: u64,
        heard: &mut Option<Budget>,
    ) -> Result<bool, Refused> {
        match self.get_issue(number, heard).await {
            Ok(issue) => {
                let current = issue.observed(marker.clone());
                Ok(moved(number, &current).is_none()
                    && Marker::all_in(&current.body).any(|own| own == *marker))
            }
            Err(refused) if refused.failure().reason == Reason::Gone => Ok(false),
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

pub(super) fn step(change: &Change, current: &Observed) -> Option<Move> {
    let hangs_below = current.parent_id.as_deref();
    match (&change.desired.parent, &change.parent) {
        (Some(marker), Some(parent)) => {
            (hangs_below != Some(parent.id.as_str())).then(|| Move::Below(parent.clone(), marker.clone()))
        }
        // It has no issue yet.
        (Some(_), None) => None,
        (None, _) => {
            // A parent that a person gave it stays.
            let marker = change.before.as_ref()?.parent.clone()?;
            Some(Move::From(hangs_below?.parse().ok()?, marker))
        }
    }
}

/// Returns whether an issue hangs elsewhere than it should, after a change that knew below which one.
pub(super) fn parent_missing(change: &Change, current: &Observed) -> Option<FieldDifference> {
    match (&change.desired.parent, &change.parent) {
        (Some(_), Some(parent)) if current.parent_id.as_ref() == Some(&parent.id) => None,
        (Some(wanted), Some(_)) => FieldDifference::between("parent", Json::Null, shown_marker(Some(wanted))),
        _ => parent_difference(&change.desired, change.before.as_ref(), current),
    }
}
