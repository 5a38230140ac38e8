//! REST, as far as it is used.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json, json};

use super::{
    Issue, State,
    http::{Reply, Request},
    issue::{ID_OFFSET, label, user},
    repository::repository,
};

impl State {
    pub(super) fn rest(&mut self, request: &Request) -> Reply {
        let own = format!("/repositories/{}", self.repository_id);
        let Some((name, path)) = self.names.iter().chain([&own.as_str()]).find_map(|name| {
            let path = request.path();
            let rest = path.strip_prefix("/repos/").unwrap_or(path).strip_prefix(name)?;
            (rest.is_empty() || rest.starts_with('/')).then_some((*name, rest))
        }) else {
            return Reply::error(404, "Not Found");
        };
        if name != self.names[0] && name != own {
            // "REST API, Best practices: Follow redirects".
            let target = request.target.replacen(&format!("/repos/{name}"), &own, 1);
            return Reply::error(301, "Moved Permanently").with("Location", format!("{}{target}", self.host));
        }
        let path = path.trim_start_matches('/');
        if (request.method.as_str(), path) == ("GET", "") {
            return Reply::json(
                200,
                &repository(
                    &self.host,
                    self.names[0],
                    self.repository_id,
                    self.tells_permissions.then_some(self.has_push_access),
                ),
            );
        }
        let body: Json = serde_json::from_str(&request.body).unwrap_or_default();
        let parts: Vec<&str> = path.split('/').collect();
        let number = |text: &str| text.parse::<u64>().unwrap_or(0);
        match (request.method.as_str(), parts.as_slice()) {
            ("POST", ["issues"]) => self.create(&body),
            ("GET", ["issues"]) => self.list(request),
            ("GET", ["issues", at]) => self.with(number(at), |_| {}),
            ("PATCH", ["issues", at]) => self.patch(number(at), &body),
            ("GET", ["milestones"]) => {
                Reply::json(200, &json!([self.milestone(7, "1.10"), self.milestone(8, "2.0")]))
            }
            ("POST", ["labels"]) => self.make_label(&body),
            ("POST", ["issues", at, "sub_issues"]) if self.has_sub_issues => self.adopt(number(at), &body),
            ("DELETE", ["issues", at, "sub_issue"]) if self.has_sub_issues => self.release(number(at), &body),
            _ => Reply::error(404, "Not Found"),
        }
    }

    fn create(&mut self, body: &Json) -> Reply {
        let number = self.issues.keys().last().map_or(1, |last| last + 1);
        let issue = Issue {
            number,
            title: body["title"].as_str().unwrap().to_owned(),
            body: self.written_at_once.take().unwrap_or_default() + body["body"].as_str().unwrap(),
            labels: self.allowed(&body["labels"]).unwrap_or_default(),
            is_open: true,
            reason: None,
            parent: None,
            is_pull_request: false,
            created_at: "2026-01-01T00:00:00Z".to_owned(),
            comments: 0,
            fields: self.fields(body),
        };
        let told = issue.rest(&self.host);
        self.issues.insert(number, issue);
        Reply::json(201, &told)
    }

    /// The labels that are really set; `None` where they are dropped.
    pub(super) fn allowed(&mut self, labels: &Json) -> Option<BTreeSet<String>> {
        let labels = labels.as_array()?.iter().map(|label| label.as_str().unwrap().to_owned());
        let labels: BTreeSet<String> = labels.collect();
        self.has_push_access.then(|| {
            self.labels.extend(labels.iter().cloned());
            labels
        })
    }

    /// A milestone: all that GitHub's description requires of one.
    fn milestone(&self, number: u64, title: &str) -> Json {
        let (host, when) = (&self.host, "2026-01-01T00:00:00Z");
        let url = format!("{host}/repos/o/r/milestones/{number}");
        json!({
            "number": number, "title": title, "id": number, "node_id": format!("MI_{number}"), "state": "open", "description": null,
            "creator": user(host), "open_issues": 0, "closed_issues": 0, "url": url, "html_url": url,
            "labels_url": format!("{url}/labels"), "created_at": when, "updated_at": when, "closed_at": null, "due_on": null,
        })
    }

    /// Returns what a request gives to `milestone`, `assignees` and `type`; without the right to push
    /// nothing.
    fn fields(&self, body: &Json) -> Map<String, Json> {
        let given = |name: &str| body.get(name).filter(|_| self.has_push_access);
        let mut fields = Map::new();
        if let Some(number) = given("milestone") {
            let value = number.as_u64().map_or(Json::Null, |number| {
                self.milestone(number, if number == 7 { "1.10" } else { "2.0" })
            });
            fields.insert("milestone".to_owned(), value);
        }
        if let Some(logins) = given("assignees") {
            let accounts = logins.as_array().unwrap().iter().map(|login| json!({ "login": login }));
            fields.insert("assignees".to_owned(), accounts.collect());
        }
        if let Some(name) = given("type") {
            let value = if name.is_null() {
                Json::Null
            } else {
                json!({ "id": 1, "node_id": "IT_1", "name": name, "description": null })
            };
            fields.insert("type".to_owned(), value);
        }
        fields
    }

    fn with(&mut self, number: u64, change: impl FnOnce(&mut Issue)) -> Reply {
        match self.issues.get_mut(&number) {
            None => Reply::error(404, "Not Found"),
            Some(issue) => {
                change(issue);
                Reply::json(200, &issue.rest(&self.host))
            }
        }
    }

    fn patch(&mut self, number: u64, body: &Json) -> Reply {
        let (labels, fields) = (self.allowed(&body["labels"]), self.fields(body));
        self.with(number, |issue| {
            issue.fields.extend(fields);
            if let Some(title) = body["title"].as_str() {
                title.clone_into(&mut issue.title);
            }
            if let Some(text) = body["body"].as_str() {
                text.clone_into(&mut issue.body);
            }
            if let Some(labels) = labels {
                issue.labels = labels;
            }
            if let Some(state) = body["state"].as_str() {
                // A reason counts only where the state changes.
                if issue.is_open != (state == "open") {
                    issue.is_open = state == "open";
                    issue.reason = body["state_reason"].as_str().map(str::to_owned);
                }
            }
        })
    }

    fn make_label(&mut self, body: &Json) -> Reply {
        let name = body["name"].as_str().unwrap();
        match self.has_push_access {
            false => Reply::error(403, "Must have push access"),
            true if !self.labels.insert(name.to_owned()) => Reply::error(422, "Validation Failed"),
            true => Reply::json(201, &label(&self.host, name)),
        }
    }

    fn list(&mut self, request: &Request) -> Reply {
        let label = request.query("labels");
        assert_eq!(request.query("state").as_deref(), Some("all"));
        let page: usize = request.query("page").map_or(1, |page| page.parse().unwrap());
        let found: Vec<&Issue> = self
            .issues
            .values()
            .filter(|issue| label.as_ref().is_none_or(|label| issue.labels.contains(label)))
            .collect();
        let shown = found.iter().skip((page - 1) * self.page).take(self.page);
        let issues: Vec<Json> = shown.map(|issue| issue.rest(&self.host)).collect();
        let reply = Reply::json(200, &Json::from(issues));
        if found.len() <= page * self.page {
            return reply;
        }
        // As behind a proxy: it knows itself by another name.
        let mut next = url::Url::parse("https://inner.example/repos/o/r/issues").unwrap();
        if let Some(label) = &label {
            next.query_pairs_mut().append_pair("labels", label);
        }
        next.query_pairs_mut().append_pair("state", "all").append_pair("page", &(page + 1).to_string());
        reply.with("Link", format!("<{next}>; rel=\"next\""))
    }

    fn adopt(&mut self, parent: u64, body: &Json) -> Reply {
        let child = body["sub_issue_id"].as_u64().unwrap() - ID_OFFSET;
        if !self.issues.contains_key(&parent) {
            return Reply::error(404, "Not Found");
        }
        let may_replace = body["replace_parent"].as_bool().unwrap_or(false);
        match self.issues.get_mut(&child) {
            None => Reply::error(404, "Not Found"),
            Some(issue) if issue.parent.is_some_and(|own| own != parent) && !may_replace => {
                Reply::error(422, "Sub issue may only have one parent")
            }
            Some(_) => match self.put_below(parent, child) {
                Ok(()) => Reply::json(201, &self.issues[&parent].rest(&self.host)),
                Err(message) => Reply::error(422, message),
            },
        }
    }

    /// Hangs an issue below another one, where there is room ("Adding sub-issues": 100 each, eight levels).
    pub(super) fn put_below(&mut self, parent: u64, child: u64) -> Result<(), &'static str> {
        let is_below = |issue: &&Issue| issue.parent == Some(parent) && issue.number != child;
        if self.issues.values().filter(is_below).count() >= 100 {
            return Err("Parent cannot have more than 100 sub-issues");
        }
        let above = std::iter::successors(Some(parent), |at| self.issues.get(at)?.parent);
        if above.take(20).count() > 7 {
            return Err("Sub-issues may be nested eight levels deep");
        }
        self.issues.get_mut(&child).unwrap().parent = Some(parent);
        Ok(())
    }

    fn release(&mut self, parent: u64, body: &Json) -> Reply {
        let child = body["sub_issue_id"].as_u64().unwrap() - ID_OFFSET;
        match self.issues.get_mut(&child) {
            Some(issue) if issue.parent == Some(parent) => {
                issue.parent = None;
                Reply::json(200, &self.issues[&parent].rest(&self.host))
            }
            _ => Reply::error(404, "Not Found"),
        }
    }
}
