//! Labels that there are not yet: GraphQL sets them by id only, where REST makes them on the way.

use std::collections::{BTreeMap, BTreeSet};

use reqwest::Method;
use serde_json::json;

use crate::{
    breaker::Reason,
    pace::Budget,
    tracker::{
        github::{
            GitHubTracker,
            exchange::{Refused, ask},
            refusal::Asked,
        },
        http::HttpRequest,
    },
};

/// A label as REST tells it.
#[derive(serde::Deserialize)]
struct RestLabel {
    node_id: String,
    name: String,
}

impl GitHubTracker {
    /// Makes those of `wanted` that there are not yet. A label that cannot be made is left out: the ticket then tells that it is missing.
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
