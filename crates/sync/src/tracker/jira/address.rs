//! The addresses of the parts of Jira's interface.

use serde::Deserialize;
use url::Url;

use super::JiraTracker;
use crate::{
    breaker::Failure,
    tracker::http::{HttpClient, HttpRequest, Refused},
};

#[derive(Clone, Copy, Debug)]
pub(super) struct Addresses<'a>(pub(super) &'a HttpClient);

impl Addresses<'_> {
    pub(super) fn myself(&self) -> Url {
        self.below(&["myself"])
    }

    pub(super) fn server_info(&self) -> Url {
        self.below(&["serverInfo"])
    }

    pub(super) fn project(&self, key: &str) -> Url {
        self.below(&["project", key])
    }

    pub(super) fn bulk_create(&self) -> Url {
        self.below(&["issue", "bulk"])
    }

    pub(super) fn bulk_fetch(&self) -> Url {
        self.below(&["issue", "bulkfetch"])
    }

    pub(super) fn edit(&self, id: &str) -> Url {
        let mut url = self.below(&["issue", id]);
        // Jira does not heed the second of those who may not administer the project.
        url.query_pairs_mut().append_pair("returnIssue", "true").append_pair("notifyUsers", "false");
        url.query_pairs_mut().append_pair("expand", "changelog");
        url
    }

    pub(super) fn transitions(&self, id: &str) -> Url {
        self.below(&["issue", id, "transitions"])
    }

    pub(super) fn transitions_with_fields(&self, id: &str) -> Url {
        let mut url = self.transitions(id);
        url.query_pairs_mut().append_pair("expand", "transitions.fields");
        url
    }

    /// The ways that these issues have in common, by their workflows; many are taken together at the same
    /// address.
    pub(super) fn bulk_transitions(&self, ids: &[&str]) -> Url {
        let mut url = self.below(&["bulk", "issues", "transition"]);
        if !ids.is_empty() {
            url.query_pairs_mut().append_pair("issueIdsOrKeys", &ids.join(","));
        }
        url
    }

    pub(super) fn bulk_task(&self, id: &str) -> Url {
        self.below(&["bulk", "queue", id])
    }

    pub(super) fn statuses(&self, project: &str) -> Url {
        self.below(&["project", project, "statuses"])
    }

    pub(super) fn new_types(&self, project: &str, start: usize) -> Url {
        paged(self.below(&["issue", "createmeta", project, "issuetypes"]), start)
    }

    pub(super) fn new_fields(&self, project: &str, type_id: &str, start: usize) -> Url {
        paged(self.below(&["issue", "createmeta", project, "issuetypes", type_id]), start)
    }

    pub(super) fn search(&self) -> Url {
        self.below(&["search", "jql"])
    }

    fn below(&self, path: &[&str]) -> Url {
        self.0.url(&[&["rest", "api", "3"], path].concat())
    }
}

fn paged(mut url: Url, start: usize) -> Url {
    url.query_pairs_mut().append_pair("startAt", &start.to_string()).append_pair("maxResults", "200");
    url
}

/// The self-description of a site (OpenAPI, schema `ServerInformation`).
#[derive(Debug, Deserialize)]
struct ServerInformation {
    #[serde(rename = "baseUrl")]
    base_url: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Project {
    id: String,
    pub(super) key: String,
}

impl JiraTracker {
    /// The project, by the id that it keeps when its key is changed.
    pub(super) async fn project_id(&self) -> Result<String, Failure> {
        let request = HttpRequest::get(self.addresses().project(&self.settings.project));
        let told = self.ask::<Project>(request).await.map_err(|refused| refused.failure().clone())?;
        // Another address of the same site would be another target.
        let site = self.known_site().await.map_err(|refused| refused.failure().clone())?;
        Ok(format!("jira {site} {}", told.id))
    }

    /// The address of the site; its own address stands in links where a gateway does not tell it.
    pub(super) async fn site(&self) -> &str {
        self.known_site().await.unwrap_or(self.settings.base_url.as_str())
    }

    /// The address of the site. A gateway (`https://api.atlassian.com/ex/jira/…`) is not one that people can
    /// look at, and is asked once for the site behind it.
    async fn known_site(&self) -> Result<&str, Refused> {
        let base = self.settings.base_url.as_str();
        // A site has no path.
        if !base.split("://").nth(1).is_some_and(|rest| rest.contains('/')) {
            return Ok(base);
        }
        let asked = self.site.get_or_try_init(|| async {
            let request = HttpRequest::get(self.addresses().server_info());
            let told = self.ask::<ServerInformation>(request).await;
            told.map(|told| told.base_url.trim_end_matches('/').to_owned())
        });
        asked.await.map(String::as_str)
    }
}
