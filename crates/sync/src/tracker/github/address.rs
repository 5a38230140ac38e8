//! The addresses of the parts of GitHub's interface.

use url::Url;

use super::fields::PAGE;
use crate::{configuration::Repository, tracker::http::HttpClient};

#[derive(Clone, Debug)]
pub(super) struct Addresses<'a> {
    pub(super) http: &'a HttpClient,
    pub(super) repository: &'a Repository,
}

impl Addresses<'_> {
    pub(super) fn repository(&self) -> Url {
        self.http.url(&["repos", &self.repository.owner, &self.repository.name])
    }

    pub(super) fn issues(&self) -> Url {
        self.http.url(&["repos", &self.repository.owner, &self.repository.name, "issues"])
    }

    pub(super) fn issue(&self, number: u64) -> Url {
        let number = number.to_string();
        self.http.url(&["repos", &self.repository.owner, &self.repository.name, "issues", &number])
    }

    pub(super) fn sub_issues(&self, number: u64) -> Url {
        let (number, repository) = (number.to_string(), self.repository);
        self.http.url(&["repos", &repository.owner, &repository.name, "issues", &number, "sub_issues"])
    }

    pub(super) fn sub_issue(&self, number: u64) -> Url {
        let (number, repository) = (number.to_string(), self.repository);
        self.http.url(&["repos", &repository.owner, &repository.name, "issues", &number, "sub_issue"])
    }

    pub(super) fn labels(&self) -> Url {
        self.http.url(&["repos", &self.repository.owner, &self.repository.name, "labels"])
    }

    pub(super) fn milestones(&self, page: u32) -> Url {
        let mut url = self.http.url(&["repos", &self.repository.owner, &self.repository.name, "milestones"]);
        url.query_pairs_mut()
            .append_pair("state", "all")
            .append_pair("per_page", &PAGE.to_string())
            .append_pair("page", &page.to_string());
        url
    }

    /// GraphQL: `/graphql` on GitHub, and beside `/api/v3` on GitHub Enterprise.
    pub(super) fn graphql(&self) -> Url {
        let mut url = self.http.url(&["graphql"]);
        if let Some(root) = url.path().strip_suffix("/api/v3/graphql") {
            let path = format!("{root}/api/graphql");
            url.set_path(&path);
        }
        url
    }

    /// The first page of all issues with a label, open and closed, the oldest first: what is made meanwhile
    /// comes last, and no page shifts. It reads the database, and so shows what was just made
    /// (docs/formats.md, "Trackers").
    pub(super) fn listed(&self, label: Option<&str>) -> Url {
        let mut url = self.issues();
        if let Some(label) = label {
            url.query_pairs_mut().append_pair("labels", label);
        }
        url.query_pairs_mut()
            .append_pair("state", "all")
            .append_pair("sort", "created")
            .append_pair("direction", "asc")
            .append_pair("per_page", "100");
        url
    }
}

/// The address that a `Link` header (RFC 8288) calls `next`.
pub(super) fn next_page(link: &str) -> Option<&str> {
    link.split(',').find_map(|part| {
        let (target, parameters) = part.trim().strip_prefix('<')?.split_once('>')?;
        let is_next = parameters.split(';').any(|parameter| {
            let (name, value) = parameter.split_once('=').unwrap_or_default();
            name.trim().eq_ignore_ascii_case("rel") && value.trim().trim_matches('"') == "next"
        });
        is_next.then_some(target)
    })
}

#[cfg(test)]
mod tests {
    use super::next_page;

    #[test]
    fn the_next_page_is_named() {
        for (link, next) in [
            ("", None),
            ("<https://h/i?page=1>; rel=\"prev\"", None),
            (
                "<https://h/i?page=1>; rel=\"prev\", <https://h/i?page=3>; rel=\"next\"",
                Some("https://h/i?page=3"),
            ),
            ("<https://h/i?after=Y3%3D>;rel=next", Some("https://h/i?after=Y3%3D")),
            ("<https://h/i?page=3; rel=\"next\"", None),
            ("nonsense, rel=\"next\"", None),
        ] {
            assert_eq!(next_page(link), next, "{link}");
        }
    }
}
