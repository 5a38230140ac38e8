//! Changing many issues at once.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::Ordering,
};

use jiff::Timestamp;
use serde_json::json;

use super::{
    IssueNode, MUTATIONS, READ_BATCH,
    document::{Document, Mutation, MutationName, NoAnswer, labels_wanted, mutations, node_id},
};
use crate::{
    breaker::{Failure, Reason},
    ticket::{FieldDifference, Marker, Observed},
    tracker::{
        Change, Delivered, Outcome, Tracker as _,
        github::{
            GitHubTracker, Move,
            issue::{has_fields, no_room, not_ours, stamped},
            step,
        },
        http::{Effect, Refused},
    },
};

type Above<'c> = BTreeMap<&'c str, IssueNode>;

struct Pending<'c> {
    change: &'c Change,
    state: Result<Observed, Refused>,
    differences: Vec<FieldDifference>,
    label_ids: BTreeMap<String, String>,
    edited_at: Timestamp,
    is_overwritten: bool,
    parent: Option<&'c str>,
    /// Nothing more to ask about its parent.
    is_parent_known: bool,
}

impl GitHubTracker {
    pub(in crate::tracker::github) async fn update_tickets(
        &self,
        changes: &[Change],
    ) -> Vec<Outcome<Delivered>> {
        let mut outcomes = Vec::with_capacity(changes.len());
        for changes in changes.chunks(super::UPDATE_BATCH) {
            match self.update_by_ids(changes).await {
                Some(updated) => outcomes.extend(updated),
                None => {
                    for change in changes {
                        outcomes.push(self.update_issue(change).await);
                    }
                }
            }
        }
        outcomes
    }

    /// `None` if the server has no GraphQL; the fallback reads again what was changed before.
    async fn update_by_ids(&self, changes: &[Change]) -> Option<Vec<Outcome<Delivered>>> {
        let is_for_rest = |change: &Change| has_fields(&change.desired, change.before.as_ref());
        if !self.has_graphql.load(Ordering::Relaxed) || changes.iter().any(is_for_rest) {
            return None;
        }
        let mut ids: Vec<&str> =
            changes.iter().map(|change| node_id(&change.remote)).collect::<Option<_>>()?;
        let above: BTreeSet<&str> =
            changes.iter().filter_map(|change| node_id(change.parent.as_ref()?)).collect();
        ids.extend(above.iter().take(READ_BATCH - changes.len()));
        let labels: BTreeSet<String> =
            changes.iter().flat_map(|change| change.desired.labels.iter().cloned()).collect();
        let mut batch = match self.read_batch(&ids, &labels).await {
            Ok(batch) => batch,
            Err(NoAnswer::Absent) => return None,
            Err(NoAnswer::Refused(refused)) => {
                return Some(changes.iter().map(|_| refused.clone().outcome()).collect());
            }
        };
        let above = above.into_iter().zip(batch.issues.split_off(changes.len()));
        let above: Above<'_> = above.filter_map(|(id, issue)| Some((id, issue.ok()?))).collect();
        let pending =
            changes.iter().zip(batch.issues).map(|(change, issue)| self.pending(change, issue, &above));
        let mut pending: Vec<Pending<'_>> = pending.collect();
        let wanted = pending.iter().filter_map(|pending| labels_wanted(&pending.differences)).flatten();
        // Foreign labels are there, since the issues have them.
        let wanted = wanted.filter(|label| labels.contains(label)).collect();
        let mut known = batch.label_ids;
        if let Err(refused) = self.make_labels(&wanted, &mut known).await {
            return Some(changes.iter().map(|_| refused.clone().outcome()).collect());
        }
        if self.mutate_all(&mut pending, &known).await.is_err() {
            return None;
        }
        let mut outcomes = Vec::with_capacity(pending.len());
        for pending in pending {
            outcomes.push(self.finished(pending).await);
        }
        Some(outcomes)
    }

    fn pending<'c>(
        &self,
        change: &'c Change,
        issue: Result<IssueNode, Failure>,
        above: &Above<'_>,
    ) -> Pending<'c> {
        let mut pending = Pending {
            change,
            state: Err(Refused::Failed(Failure::new(Reason::Gone, ""))),
            differences: Vec::new(),
            label_ids: BTreeMap::new(),
            edited_at: Timestamp::MAX,
            is_overwritten: false,
            parent: None,
            is_parent_known: false,
        };
        let read = issue.and_then(|issue| {
            (pending.label_ids, pending.edited_at) = (issue.label_ids(), issue.edited_at());
            let observed = issue.observed(change.desired.marker.clone());
            if let Some(failure) = not_ours(change, &observed) {
                return Err(failure);
            }
            let compared = self.compare(&change.desired, change.before.as_ref(), &observed);
            let compared = compared.and_then(|differences| stamped(differences, &change.desired, &observed));
            pending.differences = compared.map_err(|error| no_room(&error))?;
            if let Some(Move::Below(parent, marker)) = step(change, &observed)
                && let Some(id) = change.parent.as_ref().and_then(node_id)
                && let Some(issue) = above.get(id)
            {
                // Its list of issues is changed, too.
                let is_ours = issue.number.to_string() == parent.id
                    && Marker::all_in(&issue.body).any(|own| own == marker);
                (pending.parent, pending.is_parent_known) = (is_ours.then_some(id), true);
            }
            Ok(observed)
        });
        pending.state = read.map_err(Refused::Failed);
        pending
    }

    /// Several in one request; `Err` if the server does not know them.
    async fn mutate_all(
        &self,
        pending: &mut [Pending<'_>],
        known_labels: &BTreeMap<String, String>,
    ) -> Result<(), NoGraphQl> {
        let mut waiting: Vec<(usize, Mutation)> = Vec::new();
        for (at, pending) in pending.iter().enumerate() {
            let (Ok(current), Some(id)) = (&pending.state, node_id(&pending.change.remote)) else { continue };
            let states = (current.state, pending.change.desired.state);
            let mut own = mutations(id, &pending.differences, states, &pending.label_ids, known_labels);
            own.extend(pending.parent.map(|parent| Mutation {
                name: MutationName::Below,
                input: json!({ "issueId": parent, "subIssueId": id, "replaceParent": true }),
            }));
            waiting.extend(own.into_iter().map(|mutation| (at, mutation)));
        }
        for request in waiting.chunks(MUTATIONS) {
            // After a request that was refused as a whole the rest would be refused, too.
            let stopped = self.mutate(pending, request).await?;
            if let Some(failure) = stopped {
                let sent = request.last().map_or(0, |(at, _)| at + 1);
                for (at, _) in waiting.iter().filter(|(at, _)| *at >= sent) {
                    pending[*at].state = Err(Refused::Failed(failure.clone()));
                }
                break;
            }
        }
        Ok(())
    }

    async fn mutate(
        &self,
        pending: &mut [Pending<'_>],
        request: &[(usize, Mutation)],
    ) -> Result<Option<Failure>, NoGraphQl> {
        let document = Document::mutate(request.iter().map(|(_, mutation)| mutation));
        let (answer, reply) = match self.ask_graphql(document, Effect::Writes).await {
            Ok(answered) => answered,
            Err(NoAnswer::Absent) => return Err(NoGraphQl),
            Err(NoAnswer::Refused(refused)) => {
                for (at, _) in request {
                    pending[*at].state = Err(refused.clone());
                }
                return Ok(Some(refused.failure().clone()));
            }
        };
        let now = self.now();
        let mut last = None;
        let mut has_any = false;
        for (place, (at, mutation)) in request.iter().enumerate() {
            let name = format!("m{place}");
            let node = answer.data.as_ref().and_then(|data| IssueNode::read(data.get(&name)?.get("issue")?));
            let Pending { change, state, edited_at, is_overwritten, .. } = &mut pending[*at];
            match node {
                Some(node) => {
                    has_any = true;
                    let has_text = mutation.input.get("body").is_some();
                    *is_overwritten |= has_text && node.was_changed_since(*edited_at);
                    if state.is_ok() {
                        *state = Ok(node.observed(change.desired.marker.clone()));
                    }
                }
                None => {
                    let told = answer.failure_at(&[name.into()], &reply, now);
                    let failure = told.unwrap_or_else(|| {
                        Failure::new(Reason::Unreadable, "GraphQL tells nothing of a change that was sent")
                    });
                    if mutation.name == MutationName::Below
                        && matches!(failure.reason, Reason::Invalid | Reason::Gone)
                    {
                        // No room, or it is gone: it stays, and the report says so.
                        continue;
                    }
                    last = Some(failure.clone());
                    *state = Err(match failure.reason {
                        Reason::ServerError | Reason::Unreadable => Refused::InDoubt(failure),
                        _ => Refused::Failed(failure),
                    });
                }
            }
        }
        Ok(last.filter(|_| !has_any && answer.data.is_none()))
    }

    async fn finished(&self, pending: Pending<'_>) -> Outcome<Delivered> {
        let Pending { change, state, is_overwritten, is_parent_known, .. } = pending;
        let mut current = match state {
            Ok(current) => current,
            Err(refused) => return refused.outcome(),
        };
        if !is_parent_known && let Err(refused) = self.settle_parent(change, &mut current).await {
            return refused.after_a_write().outcome();
        }
        let mut outcome = self.delivered(change, current);
        if let Outcome::Done(delivered) = &mut outcome {
            delivered.is_overwritten = is_overwritten;
        }
        outcome
    }
}

struct NoGraphQl;
