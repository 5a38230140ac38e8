//! Reading many issues at once.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::Ordering,
};

use reqwest::Method;
use serde_json::Value as Json;

use super::{
    document::Document,
    node::GraphQlAnswer,
    node::{IssueNode, LabelNode},
};
use crate::{
    breaker::{Failure, Reason},
    pace::Budget,
    ticket::{Observed, RemoteTicket},
    tracker::{
        Outcome,
        github::{
            GitHubTracker,
            issue::NODE_ID,
            request::{Asked, ask},
        },
        http::{Effect, HttpReply, HttpRequest, Refused},
    },
};

#[derive(Debug)]
pub(super) struct ReadBatch {
    /// The issue of each id, or the failure of reading it, in the order of the ids.
    pub(super) issues: Vec<Result<IssueNode, Failure>>,
    /// The ids of those labels that there are, by their names in lower case.
    pub(super) label_ids: BTreeMap<String, String>,
}

/// A reason why GraphQL gave no answer.
#[derive(Debug)]
pub(super) enum NoAnswer {
    /// The server has no GraphQL, or one that does not know what was asked. It is remembered, and REST has to
    /// do.
    Absent,
    Refused(Refused),
}

impl GitHubTracker {
    pub(super) async fn ask_graphql(
        &self,
        document: Document,
        effect: Effect,
        heard: &mut Option<Budget>,
    ) -> Result<(GraphQlAnswer, HttpReply), NoAnswer> {
        let (method, url) = (Method::POST, self.addresses().graphql());
        let request = HttpRequest { method, url, body: Some(document.body()), effect };
        let asked = ask::<GraphQlAnswer>(&self.http, request, Asked::Issue, || self.now(), heard).await;
        let is_absent = match &asked {
            Ok((answer, _)) => answer.is_of_another_schema(),
            Err(refused) => refused.failure().reason == Reason::Gone,
        };
        if is_absent {
            self.has_graphql.store(false, Ordering::Relaxed);
            return Err(NoAnswer::Absent);
        }
        asked.map_err(NoAnswer::Refused)
    }

    pub(super) async fn read_batch(
        &self,
        ids: &[&str],
        labels: &BTreeSet<String>,
        heard: &mut Option<Budget>,
    ) -> Result<ReadBatch, NoAnswer> {
        let document = Document::read(ids, &self.settings.repository, labels);
        let (answer, reply) = self.ask_graphql(document, Effect::Reads, heard).await?;
        let now = self.now();
        let data = answer.data.as_ref();
        let nodes = data.and_then(|data| data.get("nodes")?.as_array());
        let issues = (0..ids.len()).map(|at| {
            let node = nodes.and_then(|nodes| nodes.get(at)).unwrap_or(&Json::Null);
            IssueNode::read(node).ok_or_else(|| {
                let told = answer.failure_at(&["nodes".into(), at.into()], &reply, now);
                let is_null = nodes.is_some() && node.is_null();
                let reason = if is_null { Reason::Gone } else { Reason::Unreadable };
                told.unwrap_or_else(|| Failure::new(reason, "GraphQL gives no issue for its id"))
            })
        });
        let repository = data.and_then(|data| data.get("repository")?.as_object());
        let known = repository.into_iter().flat_map(|labels| labels.values());
        let known = known.filter_map(|label| serde_json::from_value::<LabelNode>(label.clone()).ok());
        let label_ids = known.map(|label| (label.name.to_lowercase(), label.id)).collect();
        Ok(ReadBatch { issues: issues.collect(), label_ids })
    }

    /// Reads tickets: by GraphQL where that is there and knows them, else one by one.
    pub(in crate::tracker::github) async fn read_tickets(
        &self,
        tickets: &[RemoteTicket],
        heard: &mut Option<Budget>,
    ) -> Vec<Outcome<Option<Observed>>> {
        let mut outcomes = Vec::with_capacity(tickets.len());
        for tickets in tickets.chunks(super::READ_BATCH) {
            match self.read_by_ids(tickets, heard).await {
                Some(read) => outcomes.extend(read),
                None => {
                    for ticket in tickets {
                        outcomes.push(self.read_issue(ticket, heard).await);
                    }
                }
            }
        }
        outcomes
    }

    /// Reads tickets by GraphQL; `None` where that cannot be.
    async fn read_by_ids(
        &self,
        tickets: &[RemoteTicket],
        heard: &mut Option<Budget>,
    ) -> Option<Vec<Outcome<Option<Observed>>>> {
        if !self.has_graphql.load(Ordering::Relaxed) {
            return None;
        }
        let ids: Vec<&str> = tickets.iter().map(node_id).collect::<Option<_>>()?;
        match self.read_batch(&ids, &BTreeSet::new(), heard).await {
            Err(NoAnswer::Absent) => None,
            Err(NoAnswer::Refused(refused)) => {
                Some(tickets.iter().map(|_| refused.clone().outcome()).collect())
            }
            Ok(batch) => {
                let outcomes = batch.issues.into_iter().map(|issue| match issue {
                    Ok(issue) => {
                        let marker = issue.marker();
                        Outcome::Done(marker.map(|marker| issue.observed(marker)))
                    }
                    Err(failure) => Outcome::Failed(failure),
                });
                Some(outcomes.collect())
            }
        }
    }
}

pub(super) fn node_id(ticket: &RemoteTicket) -> Option<&str> {
    ticket.other_ids.get(NODE_ID).map(String::as_str)
}
