//! A search, whose index is late.

use serde_json::{Value as Json, json};

use super::{State, http::Reply, state::refused};

impl State {
    pub(super) fn search(&self, body: &Json) -> Reply {
        let jql = body["jql"].as_str().unwrap();
        let wanted = jql.strip_prefix("project = \"ABC\"");
        let Some(wanted) = wanted.and_then(|rest| rest.strip_suffix(" ORDER BY created ASC, key ASC")) else {
            return refused(400, "The value does not exist for the field 'project'.");
        };
        let label = wanted.strip_prefix(" AND labels = \"").map(|label| label.trim_end_matches('"'));
        let from: usize = body["nextPageToken"]
            .as_str()
            .map_or(0, |token| token.strip_prefix("at-").unwrap().parse().unwrap());
        let indexed_until = self.now_ms() - self.index_lag_ms;
        let found: Vec<_> = self
            .issues
            .values()
            .filter(|issue| issue.moved_to.is_none())
            .filter(|issue| label.is_none_or(|label| issue.labels.contains(label)))
            .filter(|issue| issue.made_at_ms <= indexed_until)
            .collect();
        let page = found
            .iter()
            .skip(from)
            .take(self.page.min(body["maxResults"].as_u64().unwrap().try_into().unwrap()));
        let issues: Vec<Json> = page.map(|issue| issue.told_with_properties(&self.host, body)).collect();
        let next = from + issues.len();
        let mut answer = json!({ "issues": issues, "isLast": next >= found.len() });
        if next < found.len() {
            answer["nextPageToken"] = format!("at-{next}").into();
        }
        Reply::json(200, &answer)
    }
}
