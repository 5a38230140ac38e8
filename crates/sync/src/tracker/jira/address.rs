//! Where the parts of Jira's interface are.

use url::Url;

use crate::tracker::http::HttpClient;

/// The addresses of a site.
#[derive(Clone, Copy, Debug)]
pub(super) struct Addresses<'a>(pub(super) &'a HttpClient);

impl Addresses<'_> {
    /// Who asks. Unlike most of Jira it is closed to strangers.
    pub(super) fn myself(&self) -> Url {
        self.below(&["myself"])
    }

    /// What the site says of itself.
    pub(super) fn server_info(&self) -> Url {
        self.below(&["serverInfo"])
    }

    /// A project.
    pub(super) fn project(&self, key: &str) -> Url {
        self.below(&["project", key])
    }

    /// Where issues are made.
    pub(super) fn bulk_create(&self) -> Url {
        self.below(&["issue", "bulk"])
    }

    /// Where issues are read by their ids.
    pub(super) fn bulk_fetch(&self) -> Url {
        self.below(&["issue", "bulkfetch"])
    }

    /// One issue, which is told with the answer to a change.
    pub(super) fn edit(&self, id: &str) -> Url {
        let mut url = self.below(&["issue", id]);
        url.query_pairs_mut().append_pair("returnIssue", "true");
        url
    }

    /// The ways out of the status of an issue.
    pub(super) fn transitions(&self, id: &str) -> Url {
        self.below(&["issue", id, "transitions"])
    }

    /// The same, with what each of them asks for.
    pub(super) fn transitions_with_fields(&self, id: &str) -> Url {
        let mut url = self.transitions(id);
        url.query_pairs_mut().append_pair("expand", "transitions.fields");
        url
    }

    /// Where issues are searched for.
    pub(super) fn search(&self) -> Url {
        self.below(&["search", "jql"])
    }

    fn below(&self, path: &[&str]) -> Url {
        self.0.url(&[&["rest", "api", "3"], path].concat())
    }
}
