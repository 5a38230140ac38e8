//! Issues that are changed.

use serde_json::Value as Json;

use super::{
    Issue, State,
    bulk::field_errors,
    http::Reply,
    state::{nothing, refused, refused_fields},
    workflow::Status,
};

impl State {
    pub(super) fn edit(&mut self, id: &str, body: &Json, returns: bool) -> Reply {
        let (drops, locks) = (self.drops_labels, self.locks_closed);
        let (host, returns) = (self.host.clone(), returns && self.returns_issues);
        let Some(issue) = self.issue(id) else {
            return refused(404, "Issue does not exist or you do not have permission to see it.");
        };
        if locks && issue.status == Status::Done {
            return refused(400, "The issue cannot be edited in its status.");
        }
        let errors = field_errors(&body["fields"]);
        if !errors.is_empty() {
            return refused_fields(400, &errors);
        }
        issue.set(&body["fields"]);
        if let Some(parent) = body["fields"]["parent"]["id"].as_str() {
            issue.parent = parent.parse().ok();
        }
        for operation in body["update"]["labels"].as_array().into_iter().flatten() {
            if let Some(label) = operation["add"].as_str() {
                assert!(!label.contains(char::is_whitespace), "{label}");
                if !drops {
                    issue.labels.insert(label.to_owned());
                }
            }
            if let Some(label) = operation["remove"].as_str() {
                issue.labels.remove(label);
            }
        }
        if body["update"]["parent"][0]["set"]["none"] == true {
            if issue.is_sub_task() {
                return refused(400, "A sub-task needs a parent.");
            }
            issue.parent = None;
        }
        for property in body["properties"].as_array().into_iter().flatten() {
            issue.properties.insert(property["key"].as_str().unwrap().to_owned(), property["value"].clone());
        }
        match returns {
            false => nothing(),
            true => {
                let wanted = serde_json::json!({ "fields": ["summary", "description", "labels"] });
                let mut told = issue.told(&host, &wanted);
                told["changelog"] = issue.changelog();
                Reply::json(200, &told)
            }
        }
    }
}

impl Issue {
    /// Takes the values of fields.
    pub(super) fn set(&mut self, fields: &Json) {
        for (name, value) in fields.as_object().into_iter().flatten() {
            match name.as_str() {
                "summary" | "description" => self.write(name, value),
                "labels" => {
                    let labels =
                        value.as_array().unwrap().iter().map(|label| label.as_str().unwrap().to_owned());
                    self.labels = labels.collect();
                }
                "project" | "issuetype" | "parent" => {}
                _ => drop(self.others.insert(name.clone(), value.clone())),
            }
        }
    }
}
