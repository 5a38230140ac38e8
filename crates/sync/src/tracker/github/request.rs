//! Requests to GitHub, and the meaning of refusals (docs/formats.md, "Trackers").

use std::sync::PoisonError;

use jiff::Timestamp;
use serde::{Deserialize, de::DeserializeOwned};
use url::Url;

use super::{GitHubTracker, issue::PAGE};
use crate::{
    breaker::{Failure, Reason},
    configuration::Repository,
    moment,
    pace::Budget,
    retry::named_wait,
    tracker::http::{HttpClient, HttpReply, HttpRequest, Refused},
};

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

    /// `/graphql` on GitHub, beside `/api/v3` on GitHub Enterprise.
    pub(super) fn graphql(&self) -> Url {
        let mut url = self.http.url(&["graphql"]);
        if let Some(root) = url.path().strip_suffix("/api/v3/graphql") {
            let path = format!("{root}/api/graphql");
            url.set_path(&path);
        }
        url
    }

    /// Open and closed, the oldest first, so that no page shifts when issues are made. This list reads the
    /// database, and so shows new ones at once (docs/formats.md, "Trackers").
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

/// `next` of a `Link` header (RFC 8288).
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

/// 404 means another thing for a repository than for an issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Repository,
    Issue,
}

/// GitHub's "Rate limits for the REST API": a minute if no time is named, and longer each time, which the
/// breaker ensures.
const LEAST_WAIT_MS: u64 = 60_000;

const SECONDARY_PHRASES: [&str; 5] = [
    "secondary rate limit",
    "abuse detection",
    "submitted too quickly",
    "temporarily blocked from content creation",
    "content creation limit",
];

const PRIMARY_PHRASES: [&str; 2] = ["api rate limit exceeded", "api rate limit already exceeded"];

/// GitHub's OpenAPI, schemas `basic-error` and `validation-error`.
#[derive(Debug, Default, Deserialize)]
struct RestError {
    #[serde(default)]
    message: String,
    #[serde(default)]
    errors: Option<serde_json::Value>,
}

pub(super) fn refusal(reply: &HttpReply, asked: Asked, now: Timestamp) -> Option<Failure> {
    if (200..300).contains(&reply.status) {
        return None;
    }
    let said = said(reply);
    let wait = named_wait(|name| reply.header(name), now);
    if matches!(reply.status, 403 | 429)
        && let Some(reason) = limit_of(reply, &said)
    {
        return Some(reply.failure(reason, &said).waiting_until(Some(limit_wait(reply, now))));
    }
    let reason = match (reply.status, asked) {
        (401, _) => Reason::Unauthorized,
        // A repository that a credential may not see is "not found", and one without issues has them "gone".
        (403, _) | (404, Asked::Repository) => Reason::Forbidden,
        (410, Asked::Repository) => Reason::Forbidden,
        (410, Asked::Issue) if tells_disabled(&said) => Reason::Forbidden,
        (404 | 410, _) => Reason::Gone,
        (409, _) => Reason::Conflict,
        (408, _) => Reason::Timeout,
        (500.., _) => Reason::ServerError,
        (400..500, _) => Reason::Invalid,
        _ => Reason::Unreadable,
    };
    // A server error may name a time, too.
    let wait = wait.filter(|_| reason == Reason::ServerError);
    Some(reply.failure(reason, &said).waiting_until(wait))
}

pub(super) fn tells_disabled(text: &str) -> bool {
    let text = text.to_lowercase();
    text.contains("issues") && text.contains("disabled")
}

pub(super) fn limit_in(text: &str) -> Option<Reason> {
    let text = text.to_lowercase();
    let tells = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
    match () {
        () if tells(&SECONDARY_PHRASES) => Some(Reason::SecondaryLimit),
        () if tells(&PRIMARY_PHRASES) => Some(Reason::PrimaryLimit),
        () => None,
    }
}

pub(super) fn limit_wait(reply: &HttpReply, now: Timestamp) -> Timestamp {
    named_wait(|name| reply.header(name), now).unwrap_or_else(|| moment::after(now, LEAST_WAIT_MS))
}

fn limit_of(reply: &HttpReply, said: &str) -> Option<Reason> {
    let is_used_up = reply.header("x-ratelimit-remaining").is_some_and(|left| left.trim() == "0");
    limit_in(said)
        .or(is_used_up.then_some(Reason::PrimaryLimit))
        .or(reply.header("retry-after").map(|_| Reason::SecondaryLimit))
        .or((reply.status == 429).then_some(Reason::SecondaryLimit))
}

fn said(reply: &HttpReply) -> String {
    match serde_json::from_str::<RestError>(&reply.body) {
        Ok(RestError { message, errors: Some(errors) }) if !errors.is_null() => format!("{message} {errors}"),
        Ok(RestError { message, .. }) if !message.is_empty() => message,
        _ => reply.beginning().to_owned(),
    }
}

impl GitHubTracker {
    /// Also keeps GitHub's rest of the limit.
    pub(super) async fn ask<T: DeserializeOwned>(
        &self,
        request: HttpRequest,
        asked: Asked,
    ) -> Result<(T, HttpReply), Refused> {
        let effect = request.effect;
        let reply = self.http.send(request).await?;
        let now = self.now();
        let mut heard = self.budget.lock().unwrap_or_else(PoisonError::into_inner);
        *heard = budget(&reply, now).or(*heard);
        drop(heard);
        reply.read(effect, refusal(&reply, asked, now)).map(|value| (value, reply))
    }

    pub(super) fn take_budget(&self) -> Option<Budget> {
        self.budget.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// REST's; GraphQL has a limit of its own (`x-ratelimit-resource`).
fn budget(reply: &HttpReply, now: Timestamp) -> Option<Budget> {
    if reply.header("x-ratelimit-resource").is_some_and(|resource| resource != "core") {
        return None;
    }
    let remaining = reply.header("x-ratelimit-remaining")?.trim().parse().ok()?;
    let reset = |name: &str| match name {
        "x-ratelimit-remaining" => Some("0"),
        "retry-after" => None,
        _ => reply.header(name),
    };
    Some(Budget { remaining, reset_at: named_wait(reset, now)? })
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
