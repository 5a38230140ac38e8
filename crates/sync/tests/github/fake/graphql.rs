//! GraphQL, as far as it is used: the documents are those of the tracker, whose aliases and variables are
//! looked for.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json, json};

use super::{
    State,
    http::{Reply, Request},
};

impl State {
    pub(super) fn graphql(&mut self, request: &Request) -> Reply {
        let body: Json = serde_json::from_str(&request.body).unwrap();
        let (text, variables) = (body["query"].as_str().unwrap(), &body["variables"]);
        if text.starts_with("mutation(") {
            return self.mutate(text, variables);
        }
        assert!(text.starts_with("query("), "{text}");
        let ids: Vec<&str> =
            variables["ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
        assert!(ids.len() <= 100);
        let mut errors = Vec::new();
        let nodes = ids.iter().enumerate().map(|(at, id)| {
            self.node(id).unwrap_or_else(|| {
                let message = format!("Could not resolve to a node with the global id of '{id}'");
                errors.push(json!({ "type": "NOT_FOUND", "path": ["nodes", at], "message": message }));
                Json::Null
            })
        });
        let mut data = Map::from_iter([("nodes".to_owned(), nodes.collect())]);
        if variables["owner"] == "o" {
            let aliases = (0..).map(|at| format!("l{at}")).take_while(|name| !variables[name].is_null());
            let labels = aliases.map(|alias| {
                let name = variables[&alias].as_str().unwrap();
                let label =
                    self.labels.get(name).map(|name| json!({ "id": format!("LA_{name}"), "name": name }));
                (alias, label.unwrap_or_default())
            });
            data.insert("repository".to_owned(), Json::Object(labels.collect()));
        }
        let mut answer = json!({ "data": data });
        if !errors.is_empty() {
            answer["errors"] = errors.into();
        }
        Reply::json(200, &answer)
    }

    fn number(id: &str) -> Option<u64> {
        id.strip_prefix("I_")?.parse().ok()
    }

    fn node(&self, id: &str) -> Option<Json> {
        let issue = self.issues.get(&Self::number(id)?)?;
        let edits = self.edits.get(&issue.number);
        let times = edits.into_iter().flatten().rev().chain([&issue.created_at]);
        let nodes: Vec<Json> = times.take(2).map(|time| json!({ "editedAt": time })).collect();
        let labels = issue.labels.iter().map(|name| json!({ "id": format!("LA_{name}"), "name": name }));
        Some(json!({
            "id": id,
            "fullDatabaseId": (issue.number + 1_000_000).to_string(),
            "number": issue.number,
            "url": format!("{}/o/r/issues/{}", self.host, issue.number),
            "title": issue.title,
            "body": issue.body,
            "state": if issue.is_open { "OPEN" } else { "CLOSED" },
            "stateReason": issue.reason.as_ref().map(|reason| reason.to_uppercase()),
            "createdAt": issue.created_at,
            "lastEditedAt": edits.and_then(|edits| edits.last()),
            "userContentEdits": { "nodes": nodes },
            "comments": { "totalCount": issue.comments },
            "labels": { "nodes": labels.collect::<Vec<_>>() },
            "parent": issue.parent.map(|number| json!({ "number": number })),
        }))
    }

    fn mutate(&mut self, text: &str, variables: &Json) -> Reply {
        let (mut data, mut errors) = (Map::new(), Vec::new());
        for at in 0.. {
            let alias = format!("m{at}");
            let Some((_, rest)) = text.split_once(&format!(" {alias}: ")) else { break };
            assert!(at < 20, "at most twenty mutations");
            let name = rest.split('(').next().unwrap();
            let done = self.one(name, &variables[format!("i{at}")]);
            match done {
                Ok(node) => drop(data.insert(alias, json!({ "issue": node }))),
                Err((kind, message)) => {
                    errors.push(json!({ "type": kind, "path": [alias], "message": message }));
                    data.insert(alias, Json::Null);
                }
            }
        }
        Reply::json(200, &json!({ "data": data, "errors": errors }))
    }

    /// Writes another body, a second after the last one.
    pub(crate) fn edit(&mut self, number: u64, body: &str) {
        let Some(issue) = self.issues.get_mut(&number).filter(|issue| issue.body != body) else { return };
        body.clone_into(&mut issue.body);
        let edits = self.edits.entry(number).or_default();
        edits.push(format!("2026-01-02T00:{:02}:{:02}Z", edits.len() / 60, edits.len() % 60));
    }

    fn one(&mut self, name: &str, input: &Json) -> Result<Json, (&'static str, &'static str)> {
        let gone = ("NOT_FOUND", "no such node");
        let key = match name {
            "updateIssue" => "id",
            "addSubIssue" => "subIssueId",
            _ => "issueId",
        };
        let id = input[key].as_str().unwrap();
        let labels = input["labelIds"].as_array().map(|ids| {
            let names = ids.iter().map(|id| id.as_str().unwrap().strip_prefix("LA_").unwrap().to_owned());
            names.collect::<BTreeSet<String>>()
        });
        assert!(
            labels.iter().flatten().all(|label| self.labels.contains(label)),
            "a label that is not there"
        );
        if let Some((number, text)) = self.meanwhile.take_if(|(number, _)| Self::number(id) == Some(*number))
        {
            self.edit(number, &text);
        }
        if let (Some(number), Some(body)) = (Self::number(id), input["body"].as_str()) {
            self.edit(number, body);
        }
        let may_label = self.has_push_access;
        let number = Self::number(id).ok_or(gone)?;
        if name == "addSubIssue" {
            let parent = Self::number(input["issueId"].as_str().unwrap()).ok_or(gone)?;
            self.put_below(parent, number).map_err(|message| ("UNPROCESSABLE", message))?;
        }
        let issue = self.issues.get_mut(&number).ok_or(gone)?;
        match name {
            "addSubIssue" => {}
            "updateIssue" => {
                if let Some(title) = input["title"].as_str() {
                    title.clone_into(&mut issue.title);
                }
                match input["state"].as_str() {
                    Some("CLOSED") if issue.is_open => {
                        (issue.is_open, issue.reason) = (false, Some("completed".to_owned()));
                    }
                    Some("OPEN") if !issue.is_open => {
                        (issue.is_open, issue.reason) = (true, Some("reopened".to_owned()));
                    }
                    _ => {}
                }
                if let Some(labels) = labels.filter(|_| may_label) {
                    issue.labels = labels;
                }
            }
            "closeIssue" => {
                if issue.is_open {
                    issue.is_open = false;
                    issue.reason = input["stateReason"].as_str().map(str::to_lowercase);
                }
            }
            "reopenIssue" => (issue.is_open, issue.reason) = (true, Some("reopened".to_owned())),
            _ => panic!("there is no mutation {name}"),
        }
        self.node(id).ok_or(gone)
    }
}
