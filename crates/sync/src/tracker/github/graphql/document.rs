//! GraphQL documents, and the mutations that change an issue. Pure. All values are variables: nothing that an
//! artifact says becomes part of a document.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    sync::atomic::Ordering,
};

use super::{GraphQlAnswer, IssueNode, LabelNode};
use crate::{
    breaker::{Failure, Reason},
    configuration::Repository,
    ticket::{CloseReason, FieldDifference, Observed, RemoteTicket, TicketState},
    tracker::{
        Outcome,
        github::{
            GitHubTracker,
            issue::{NODE_ID, reason_word},
            request::Asked,
        },
        http::{Effect, HttpReply, HttpRequest, Refused},
    },
};
use reqwest::Method;
use serde_json::{Map, Value as Json, json};

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Document {
    text: String,
    variables: Map<String, Json>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mutation {
    pub(super) name: MutationName,
    pub(super) input: Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MutationName {
    Update,
    Reopen,
    Close,
    Below,
}

impl MutationName {
    /// Field, input type, and path of the issue in the answer.
    const fn spelled(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Update => ("updateIssue", "UpdateIssueInput", "issue"),
            Self::Reopen => ("reopenIssue", "ReopenIssueInput", "issue"),
            Self::Close => ("closeIssue", "CloseIssueInput", "issue"),
            Self::Below => ("addSubIssue", "AddSubIssueInput", "issue: subIssue"),
        }
    }
}

const FRAGMENT: &str = "fragment Ticket on Issue { id fullDatabaseId number url title body state \
    stateReason(enableDuplicate: true) createdAt lastEditedAt comments { totalCount } labels(first: 100) { nodes { id name } } parent { number } }";

/// The change of this mutation, and the one before it.
const EDITS: &str = " userContentEdits(first: 2) { nodes { editedAt } }";

impl Document {
    pub(super) fn read(ids: &[&str], repository: &Repository, labels: &BTreeSet<String>) -> Self {
        let mut variables = Map::from_iter([("ids".to_owned(), json!(ids))]);
        let mut text = "query($ids: [ID!]!".to_owned();
        let mut known = String::new();
        if !labels.is_empty() {
            text.push_str(", $owner: String!, $name: String!");
            variables.insert("owner".to_owned(), repository.owner.as_str().into());
            variables.insert("name".to_owned(), repository.name.as_str().into());
        }
        for (at, label) in labels.iter().enumerate() {
            let _infallible = write!(text, ", $l{at}: String!");
            let _infallible = write!(known, " l{at}: label(name: $l{at}) {{ id name }}");
            variables.insert(format!("l{at}"), label.as_str().into());
        }
        text.push_str(") { nodes(ids: $ids) { ... Ticket }");
        if !labels.is_empty() {
            let _infallible = write!(text, " repository(owner: $owner, name: $name) {{{known} }}");
        }
        text.push_str(" } ");
        text.push_str(FRAGMENT);
        Self { text, variables }
    }

    /// Done one after the other, and answered under `m0`, `m1`, ….
    pub(super) fn mutate<'m>(mutations: impl Iterator<Item = &'m Mutation>) -> Self {
        let (mut declared, mut fields, mut variables) = (Vec::new(), String::new(), Map::new());
        for (at, mutation) in mutations.enumerate() {
            let (field, input, issue) = mutation.name.spelled();
            declared.push(format!("$i{at}: {input}!"));
            let _infallible =
                write!(fields, " m{at}: {field}(input: $i{at}) {{ {issue} {{ ... Ticket{EDITS} }} }}");
            variables.insert(format!("i{at}"), mutation.input.clone());
        }
        let text = format!("mutation({}) {{{fields} }} {FRAGMENT}", declared.join(", "));
        Self { text, variables }
    }

    pub(super) fn body(self) -> Json {
        json!({ "query": self.text, "variables": self.variables })
    }
}

pub(super) fn labels_wanted(differences: &[FieldDifference]) -> Option<BTreeSet<String>> {
    let difference = differences.iter().find(|difference| difference.field == "labels")?;
    let names = difference.after.as_array()?.iter().filter_map(Json::as_str);
    Some(names.map(str::to_owned).collect())
}

/// In order, at most three; none if nothing can be changed. `own_labels` are the issue's label ids,
/// `known_labels` the repository's; a label in neither cannot be set.
pub(super) fn mutations(
    id: &str,
    differences: &[FieldDifference],
    states: (TicketState, TicketState),
    own_labels: &BTreeMap<String, String>,
    known_labels: &BTreeMap<String, String>,
) -> Vec<Mutation> {
    let mut fields = Map::new();
    for difference in differences.iter().filter(|own| matches!(own.field.as_str(), "title" | "body")) {
        fields.insert(difference.field.clone(), difference.after.clone());
    }
    if let Some(wanted) = labels_wanted(differences) {
        let id_of = |label: &String| {
            let name = label.to_lowercase();
            own_labels.get(&name).or_else(|| known_labels.get(&name))
        };
        let ids: BTreeSet<&String> = wanted.iter().filter_map(id_of).collect();
        if ids != own_labels.values().collect() {
            fields.insert("labelIds".to_owned(), json!(ids));
        }
    }
    let (before, after) = states;
    let moves = differences.iter().any(|difference| difference.field == "state");
    let mut mutations = Vec::new();
    // The reason counts only if the state changes: reopen before closing for another one.
    if moves && !before.is_open() && !after.is_open() {
        mutations.push(Mutation { name: MutationName::Reopen, input: json!({ "issueId": id }) });
    }
    // A change opens along with the rest, and closes as completed: another reason takes its own mutation.
    let state = match after {
        TicketState::Closed(CloseReason::Completed) => Some("CLOSED"),
        TicketState::Closed(_) => None,
        _ => Some("OPEN"),
    };
    if let Some(state) = state.filter(|_| moves) {
        fields.insert("state".to_owned(), state.into());
    }
    if !fields.is_empty() {
        fields.insert("id".to_owned(), id.into());
        mutations.push(Mutation { name: MutationName::Update, input: Json::Object(fields) });
    }
    if let (true, TicketState::Closed(reason), None) = (moves, after, state) {
        let input = json!({ "issueId": id, "stateReason": graphql_word(reason) });
        mutations.push(Mutation { name: MutationName::Close, input });
    }
    mutations
}

fn graphql_word(reason: CloseReason) -> String {
    reason_word(reason).to_ascii_uppercase()
}

#[derive(serde::Deserialize)]
struct RestLabel {
    node_id: String,
    name: String,
}

impl GitHubTracker {
    /// The ticket names a label that cannot be made.
    pub(super) async fn make_labels(
        &self,
        wanted: &BTreeSet<String>,
        known: &mut BTreeMap<String, String>,
    ) -> Result<(), Refused> {
        for label in wanted {
            if known.contains_key(&label.to_lowercase()) {
                continue;
            }
            let request =
                HttpRequest::write(Method::POST, self.addresses().labels(), json!({ "name": label }));
            let made = self.ask::<RestLabel>(request, Asked::Issue).await;
            match made {
                Ok((RestLabel { node_id, name }, _)) => {
                    known.insert(name.to_lowercase(), node_id);
                }
                Err(refused) => match refused.failure().reason {
                    // No right to make labels, or somebody else made it at the same moment.
                    Reason::Forbidden | Reason::Gone | Reason::Invalid => {}
                    _ => return Err(refused),
                },
            }
        }
        Ok(())
    }
}

#[derive(Debug)]
pub(super) struct ReadBatch {
    pub(super) issues: Vec<Result<IssueNode, Failure>>,
    pub(super) label_ids: BTreeMap<String, String>,
}

#[derive(Debug)]
pub(super) enum NoAnswer {
    /// No GraphQL, or an older schema. Remembered: REST is used from then on.
    Absent,
    Refused(Refused),
}

impl GitHubTracker {
    pub(super) async fn ask_graphql(
        &self,
        document: Document,
        effect: Effect,
    ) -> Result<(GraphQlAnswer, HttpReply), NoAnswer> {
        let (method, url) = (Method::POST, self.addresses().graphql());
        let request = HttpRequest { method, url, body: Some(document.body()), effect };
        let asked = self.ask::<GraphQlAnswer>(request, Asked::Issue).await;
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
    ) -> Result<ReadBatch, NoAnswer> {
        let document = Document::read(ids, &self.settings.repository, labels);
        let (answer, reply) = self.ask_graphql(document, Effect::Reads).await?;
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

    pub(in crate::tracker::github) async fn read_tickets(
        &self,
        tickets: &[RemoteTicket],
    ) -> Vec<Outcome<Option<Observed>>> {
        let mut outcomes = Vec::with_capacity(tickets.len());
        for tickets in tickets.chunks(super::READ_BATCH) {
            match self.read_by_ids(tickets).await {
                Some(read) => outcomes.extend(read),
                None => {
                    for ticket in tickets {
                        outcomes.push(self.read_issue(ticket).await);
                    }
                }
            }
        }
        outcomes
    }

    async fn read_by_ids(&self, tickets: &[RemoteTicket]) -> Option<Vec<Outcome<Option<Observed>>>> {
        if !self.has_graphql.load(Ordering::Relaxed) {
            return None;
        }
        let ids: Vec<&str> = tickets.iter().map(node_id).collect::<Option<_>>()?;
        match self.read_batch(&ids, &BTreeSet::new()).await {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_an_artifact_becomes_part_of_a_document() {
        let hostile = "\") { x } }".to_owned();
        let labels = BTreeSet::from([hostile.clone(), "b".to_owned()]);
        let repository = "o/r".parse().unwrap();
        let mutation = |name| Mutation { name, input: json!({ "id": hostile }) };
        let all = [MutationName::Reopen, MutationName::Update, MutationName::Close, MutationName::Below]
            .map(mutation);
        for document in [Document::read(&[&hostile], &repository, &labels), Document::mutate(all.iter())] {
            println!("{}", document.text);
            assert!(!document.text.contains(&hostile));
            let body = document.body();
            assert!(body["variables"].to_string().contains("{ x }"));
            let text = body["query"].as_str().unwrap();
            assert_eq!(text.matches(['(', '{']).count(), text.matches([')', '}']).count());
        }
    }
}
