//! What the project says of itself: its types, their fields and statuses; and changes of many issues at once.

use serde_json::{Value as Json, json};

use super::{
    State,
    http::{Reply, Request},
    state::refused,
    workflow::ALL,
};

/// The types, with ids and levels.
pub(super) const TYPES: [(&str, &str, i64); 4] =
    [("10001", "Task", 0), ("10002", "Story", 0), ("10003", "Epic", 1), ("10004", "Sub-task", -1)];

/// A field that new issues have beside the usual ones.
pub(crate) fn field(id: &str, name: &str, required: bool, schema: &Json, allowed: &[&str]) -> Json {
    let allowed = allowed.iter().enumerate();
    let allowed: Vec<Json> =
        allowed.map(|(at, name)| json!({ "id": (at + 1).to_string(), "name": name })).collect();
    json!({
        "fieldId": id, "key": id, "name": name, "required": required, "hasDefaultValue": false,
        "operations": ["set"], "schema": schema, "allowedValues": allowed,
    })
}

/// The fields that new issues have unless a test says otherwise.
pub(super) fn usual_fields() -> Vec<Json> {
    let text = json!({ "type": "string" });
    let number =
        json!({ "type": "number", "custom": "com.atlassian.jira.plugin.system.customfieldtypes:float" });
    vec![
        field("summary", "Summary", true, &text, &[]),
        field("description", "Description", false, &text, &[]),
        field("labels", "Labels", false, &json!({ "type": "array", "items": "string" }), &[]),
        field("priority", "Priority", false, &json!({ "type": "priority" }), &["High", "Low", "Impossible"]),
        field("duedate", "Due date", false, &json!({ "type": "date" }), &[]),
        field("customfield_10016", "Story points", false, &number, &[]),
    ]
}

impl State {
    pub(super) fn statuses(&self) -> Reply {
        let own = ALL.iter().filter(|status| self.workflow.knows(**status));
        let statuses: Vec<Json> = own.map(|status| status.told()).collect();
        let types = TYPES.iter().map(|(id, name, level)| {
            json!({ "id": id, "name": name, "self": self.host, "subtask": *level < 0, "statuses": statuses })
        });
        Reply::json(200, &types.collect())
    }

    /// Some at a time, however many are asked for.
    pub(super) fn new_types(&self, request: &Request) -> Reply {
        let told = TYPES.iter().filter(|(_, name, _)| !self.hidden_types.contains(name));
        let told = told.map(|(id, name, level)| {
            json!({ "id": id, "name": name, "subtask": *level < 0, "hierarchyLevel": level })
        });
        page("issueTypes", told.collect(), request, 3)
    }

    pub(super) fn new_fields(&self, request: &Request) -> Reply {
        page("fields", self.fields.clone(), request, 200)
    }

    /// The ways that issues have in common and that ask for nothing.
    pub(super) fn common_transitions(&mut self, request: &Request) -> Reply {
        if !self.allows_bulk {
            return Reply::json(403, &json!({ "errors": [{ "message": "You may not make bulk changes." }] }));
        }
        let ids = request.query("issueIdsOrKeys").unwrap_or_default();
        let ids: Vec<String> = ids.split(',').map(str::to_owned).collect();
        let mut common: Option<Vec<usize>> = None;
        for id in &ids {
            let Some(issue) = self.issue(id) else { continue };
            let from = issue.status;
            let own = self.workflow.from(from).into_iter().filter(|at| !self.workflow.asks(*at));
            let own: Vec<usize> = own.collect();
            common = Some(match common {
                None => own,
                Some(common) => common.into_iter().filter(|at| own.contains(at)).collect(),
            });
        }
        let keys: Vec<String> = ids.iter().filter_map(|id| Some(self.issue(id)?.key())).collect();
        let ways = common.unwrap_or_default().into_iter().map(|at| {
            let to = self.workflow.to(at);
            json!({
                "transitionId": at, "transitionName": to.name(),
                "to": { "statusId": to.id().parse::<i64>().unwrap(), "statusName": to.name() },
            })
        });
        let workflow = json!({ "issues": keys, "isTransitionsFiltered": false, "transitions": ways.collect::<Vec<_>>() });
        Reply::json(200, &json!({ "availableTransitions": [workflow] }))
    }

    /// Moves many issues. That it is done is told only when it was asked for twice.
    pub(super) fn move_many(&mut self, body: &Json) -> Reply {
        assert_eq!(body["sendBulkNotification"], false);
        for input in body["bulkTransitionInputs"].as_array().unwrap() {
            for id in input["selectedIssueIdsOrKeys"].as_array().unwrap() {
                let way = json!({ "transition": { "id": input["transitionId"] } });
                if !self.stuck.contains(id.as_str().unwrap()) {
                    self.transition(id.as_str().unwrap(), &way);
                }
            }
        }
        self.polls = 0;
        Reply::json(201, &json!({ "taskId": "10641" }))
    }

    pub(super) fn task(&mut self, id: &str) -> Reply {
        if id != "10641" {
            return refused(404, "no such task");
        }
        self.polls += 1;
        let status = if self.polls > 1 { "COMPLETE" } else { "RUNNING" };
        Reply::json(200, &json!({ "taskId": id, "status": status, "progressPercent": 100 }))
    }
}

fn page(key: &str, all: Vec<Json>, request: &Request, size: usize) -> Reply {
    let start: usize = request.query("startAt").map_or(0, |start| start.parse().unwrap());
    let total = all.len();
    let some: Vec<Json> = all.into_iter().skip(start).take(size).collect();
    Reply::json(200, &json!({ key: some, "startAt": start, "maxResults": size, "total": total }))
}
