//! Where people look at issues.

use serde::Deserialize;

use super::JiraTracker;
use crate::tracker::http::HttpRequest;

/// What a site says of itself (OpenAPI, schema `ServerInformation`).
#[derive(Debug, Deserialize)]
struct ServerInformation {
    #[serde(rename = "baseUrl")]
    base_url: String,
}

impl JiraTracker {
    /// The address of the site. A gateway (`https://api.atlassian.com/ex/jira/…`) is not one that people can look at, and is asked once for the
    /// site behind it; while that does not tell, its own address stands in the links.
    pub(super) async fn site(&self) -> &str {
        let base = self.settings.base_url.as_str();
        // A site has no path.
        if !base.split("://").nth(1).is_some_and(|rest| rest.contains('/')) {
            return base;
        }
        let asked = self.site.get_or_try_init(|| async {
            let request = HttpRequest::get(self.addresses().server_info());
            let told = self.ask::<ServerInformation>(request).await;
            told.map(|told| told.base_url.trim_end_matches('/').to_owned())
        });
        asked.await.map_or(base, String::as_str)
    }
}
