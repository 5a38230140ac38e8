//! One question to GitHub and what became of it.

use jiff::Timestamp;
use serde::de::DeserializeOwned;

use super::refusal::{Asked, refusal, unreadable};
use crate::{
    breaker::Reason,
    pace::Budget,
    retry::named_wait,
    tracker::http::{Effect, HttpClient, HttpReply, HttpRequest},
};

pub(super) use crate::tracker::refused::Refused;

/// Asks and reads the answer; what GitHub says is left of its limit goes to `heard`.
pub(super) async fn ask<T: DeserializeOwned>(
    http: &HttpClient,
    request: HttpRequest,
    asked: Asked,
    now: impl Fn() -> Timestamp,
    heard: &mut Option<Budget>,
) -> Result<(T, HttpReply), Refused> {
    let effect = request.effect;
    let reply = http.send(request).await?;
    let now = now();
    *heard = budget(&reply, now).or(*heard);
    read(&reply, effect, asked, now).map(|value| (value, reply))
}

/// What a reply says. A refusal by a server that is in trouble leaves it open whether a change was made: a proxy may have lost the
/// answer behind it, and so does a yes that cannot be read.
fn read<T: DeserializeOwned>(
    reply: &HttpReply,
    effect: Effect,
    asked: Asked,
    now: Timestamp,
) -> Result<T, Refused> {
    let doubtful = |failure| match effect {
        Effect::Reads => Refused::Failed(failure),
        Effect::Writes => Refused::InDoubt(failure),
    };
    if let Some(failure) = refusal(reply, asked, now) {
        return Err(match failure.reason {
            Reason::ServerError | Reason::Timeout | Reason::Unreadable => doubtful(failure),
            _ => Refused::Failed(failure),
        });
    }
    serde_json::from_str(&reply.body).map_err(|error| doubtful(unreadable(reply, &error)))
}

/// What is left of the limit of REST; GraphQL has one of its own (`x-ratelimit-resource`).
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
