//! The changes of an issue as mutations. Pure.

use std::collections::{BTreeMap, BTreeSet};

use reqwest::Method;
use serde_json::{Map, Value as Json, json};

use super::document::{Mutation, MutationName};
use crate::{
    breaker::Reason,
    pace::Budget,
    ticket::{CloseReason, FieldDifference, TicketState},
    tracker::{
        github::{
            GitHubTracker,
            issue::reason_word,
            refusal::{Asked, ask},
        },
        http::{HttpRequest, Refused},
    },
};

pub(super) fn labels_wanted(differences: &[FieldDifference]) -> Option<BTreeSet<String>> {
    let difference = differences.iter().find(|difference| difference.field == "labels")?;
    let names = difference.after.as_array()?.iter().filter_map(Json::as_str);
    Some(names.map(str::to_owned).collect())
}

/// The mutations that make the issue `id` say what it should, in their order: at most three, none where
/// nothing can be changed. `own_labels` are the ids of the labels that it has, `known_labels` of those that
/// there are; a label that is in neither cannot be set.
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
    // The reason counts only where the state changes: one that is closed for another reason is opened first.
    if moves && !before.is_open() && !after.is_open() {
        mutations.push(Mutation { name: MutationName::Reopen, input: json!({ "issueId": id }) });
    }
    // A change opens along with the rest, and closes as completed: only another reason takes a mutation of
    // its own.
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

/// The word of GraphQL (`IssueClosedStateReason`) for a reason.
fn graphql_word(reason: CloseReason) -> String {
    reason_word(reason).to_ascii_uppercase()
}

#[derive(serde::Deserialize)]
struct RestLabel {
    node_id: String,
    name: String,
}

impl GitHubTracker {
    /// Makes those of `wanted` that there are not yet. A label that cannot be made is left out: the ticket
    /// then tells that it is missing.
    pub(super) async fn make_labels(
        &self,
        wanted: &BTreeSet<String>,
        known: &mut BTreeMap<String, String>,
        heard: &mut Option<Budget>,
    ) -> Result<(), Refused> {
        for label in wanted {
            if known.contains_key(&label.to_lowercase()) {
                continue;
            }
            let request =
                HttpRequest::write(Method::POST, self.addresses().labels(), json!({ "name": label }));
            let made = ask::<RestLabel>(&self.http, request, Asked::Issue, || self.now(), heard).await;
            match made {
                Ok((RestLabel { node_id, name }, _)) => {
                    known.insert(name.to_lowercase(), node_id);
                }
                Err(refused) => match refused.failure().reason {
                    // Without the right to make labels, and where somebody else made it at the same moment.
                    Reason::Forbidden | Reason::Gone | Reason::Invalid => {}
                    _ => return Err(refused),
                },
            }
        }
        Ok(())
    }
}
