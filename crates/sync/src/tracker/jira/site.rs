//! Which project it is, and where people look at its issues.

use serde::Deserialize;

use super::JiraTracker;
use crate::{
    breaker::Failure,
    tracker::{http::HttpRequest, refused::Refused},
};

/// What a site says of itself (OpenAPI, schema `ServerInformation`).
#[derive(Debug, Deserialize)]
struct ServerInformation {
    #[serde(rename = "baseUrl")]
    base_url: String,
}

/// A project (OpenAPI, schema `Project`).
#[derive(Debug, Deserialize)]
struct Project {
    id: String,
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

    /// The address of the site. A gateway (`https://api.atlassian.com/ex/jira/…`) is not one that people can look at, and is asked once for the
    /// site behind it.
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
