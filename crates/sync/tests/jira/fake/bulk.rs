//! Issues that are made and read many at once.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use super::{Issue, State, http::Reply, issue::FIRST_ID, meta::TYPES, state::refused, workflow::Status};

impl State {
    pub(super) fn create(&mut self, body: &Json) -> Reply {
        let elements = body["issueUpdates"].as_array().unwrap().clone();
        if elements.len() > 50 {
            return refused(400, "at most 50 issues");
        }
        let (mut issues, mut errors) = (Vec::new(), Vec::new());
        for (at, element) in elements.iter().enumerate() {
            match self.create_one(element) {
                Ok(issue) => {
                    issues.push(json!({
                        "id": issue.id.to_string(),
                        "key": issue.key(),
                        "self": format!("{}/rest/api/3/issue/{}", self.host, issue.id),
                    }));
                    self.issues.insert(issue.id, issue);
                }
                Err(told) => errors.push(json!({
                    "status": 400,
                    "elementErrors": { "errorMessages": [], "errors": told },
                    "failedElementNumber": at,
                })),
            }
        }
        let status = if issues.is_empty() { 400 } else { 201 };
        Reply::json(status, &json!({ "issues": issues, "errors": errors }))
    }

    fn create_one(&self, element: &Json) -> Result<Issue, BTreeMap<String, String>> {
        let fields = &element["fields"];
        let mut errors = field_errors(fields);
        let mut wrong = |field: &str, text: &str| drop(errors.insert(field.to_owned(), text.to_owned()));
        if fields["project"]["key"] != "ABC" {
            wrong("project", "valid project is required");
        }
        let wanted = fields["issuetype"]["id"].as_str().unwrap_or_default();
        let known = TYPES.iter().find(|(id, name, _)| *id == wanted && !self.hidden_types.contains(name));
        let issue_type = known.map_or("", |(_, name, _)| *name);
        if issue_type.is_empty() {
            wrong("issuetype", "Specify a valid issue type");
        }
        for field in &self.fields {
            let id = field["fieldId"].as_str().unwrap();
            if field["required"] == true && fields[id].is_null() {
                wrong(id, "It is required.");
            }
        }
        let parent = fields["parent"]["id"].as_str().and_then(|id| id.parse::<u64>().ok());
        let above = parent.and_then(|id| self.issues.get(&id));
        let is_below_epic = issue_type != "Epic" && above.is_some_and(|above| above.issue_type == "Epic");
        let fits =
            if issue_type == "Sub-task" { parent.is_some() } else { parent.is_none() || is_below_epic };
        if !fits || above.is_some_and(Issue::is_sub_task) {
            wrong("parent", "the type of the issue does not fit its parent");
        }
        if parent.is_some() && above.is_none() {
            wrong("parent", "Could not find issue by id or key.");
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let properties = element["properties"].as_array().into_iter().flatten();
        let properties: Map<String, Json> =
            properties.map(|own| (own["key"].as_str().unwrap().to_owned(), own["value"].clone())).collect();
        let mut issue = Issue {
            id: self.issues.keys().last().map_or(FIRST_ID, |last| last + 1),
            summary: String::new(),
            description: Json::Null,
            labels: Default::default(),
            status: Status::ToDo,
            resolution: None,
            issue_type: issue_type.to_owned(),
            parent,
            properties,
            others: BTreeMap::new(),
            made_at_ms: self.now_ms(),
            history: Vec::new(),
            comments: 0,
            moved_to: None,
        };
        issue.set(fields);
        issue.history.clear();
        if self.drops_labels {
            issue.labels.clear();
        }
        Ok(issue)
    }

    pub(super) fn fetch(&self, body: &Json) -> Reply {
        let ids = body["issueIdsOrKeys"].as_array().unwrap();
        if ids.len() > 100 {
            return refused(400, "at most 100 issues");
        }
        let found = ids.iter().filter_map(|id| self.issues.get(&self.id_of(id.as_str().unwrap())?));
        let told: Vec<Json> = found.map(|issue| issue.told_with_properties(&self.host, body)).collect();
        Reply::json(200, &json!({ "issues": told, "issueErrors": [] }))
    }
}

/// Returns what is wrong with fields that are given.
pub(super) fn field_errors(fields: &Json) -> BTreeMap<String, String> {
    let mut errors = BTreeMap::new();
    let mut wrong = |field: &str, text: &str| drop(errors.insert(field.to_owned(), text.to_owned()));
    let is_unfit = |summary: &str| summary.encode_utf16().count() > 255 || summary.contains('\n');
    if fields["summary"].as_str().is_some_and(is_unfit) {
        wrong("summary", "The summary is invalid because it contains newline characters or is too long.");
    }
    for label in fields["labels"].as_array().into_iter().flatten() {
        if label.as_str().unwrap().contains(char::is_whitespace) {
            wrong("labels", "The label contains spaces which is invalid.");
        }
    }
    let description = &fields["description"];
    if !description.is_null() && (description["type"] != "doc" || description["version"] != 1) {
        wrong(
            "description",
            "Operation value must be an Atlassian Document (see the Atlassian Document Format)",
        );
    }
    if description.to_string().encode_utf16().count() > 32_767 {
        wrong(
            "description",
            "The entered text is too long. It exceeds the allowed limit of 32,767 characters.",
        );
    }
    if fields["priority"]["id"] == "3" {
        wrong("priority", "The priority selected is invalid.");
    }
    let points = &fields["customfield_10016"];
    if !points.is_null() && !points.is_number() {
        wrong("customfield_10016", "Operation value must be a number");
    }
    errors
}
