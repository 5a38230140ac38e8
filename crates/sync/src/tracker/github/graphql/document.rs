//! The documents that are sent. Pure. All values are variables: nothing that an artifact says becomes part of
//! a document.

use std::{collections::BTreeSet, fmt::Write as _};

use serde_json::{Map, Value as Json, json};

use crate::configuration::Repository;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Document {
    text: String,
    variables: Map<String, Json>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mutation {
    /// Its name in GitHub's schema; that of its input follows from it.
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
    /// The field, its input, and where the issue stands in the answer.
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

/// The last two changes of the text: that of this mutation, and the one before it.
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

    /// Changes issues: the mutations are done one after the other, and answered under `m0`, `m1`, ….
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
