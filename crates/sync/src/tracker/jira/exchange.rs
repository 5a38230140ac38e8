//! One question to Jira and what became of it.

use jiff::Timestamp;
use serde::de::DeserializeOwned;

use super::{
    JiraTracker,
    refusal::{refusal, unreadable},
};
use crate::{
    breaker::Reason,
    tracker::{
        http::{Effect, HttpReply, HttpRequest},
        refused::Refused,
    },
};

impl JiraTracker {
    /// Asks and reads the answer.
    ///
    /// What Jira says is left of a limit is not listened to: its `X-RateLimit-Remaining` counts one endpoint within a second, and none of
    /// the paces here would be right for it.
    pub(super) async fn ask<T: DeserializeOwned>(&self, request: HttpRequest) -> Result<T, Refused> {
        let effect = request.effect;
        let reply = self.http.send(request).await?;
        read(&reply, effect, self.now())
    }

    /// Asks for something that may have no answer but yes.
    pub(super) async fn tell<T: DeserializeOwned>(&self, request: HttpRequest) -> Result<Option<T>, Refused> {
        let effect = request.effect;
        let reply = self.http.send(request).await?;
        if reply.body.trim().is_empty() {
            return check(&reply, effect, self.now()).map(|()| None);
        }
        // A page in place of an answer comes from somebody on the way.
        read(&reply, effect, self.now()).map(Some)
    }
}

/// What a reply says. A refusal by a server that is in trouble leaves it open whether a change was made: a proxy may have lost the
/// answer behind it, and so does a yes that cannot be read.
pub(super) fn read<T: DeserializeOwned>(
    reply: &HttpReply,
    effect: Effect,
    now: Timestamp,
) -> Result<T, Refused> {
    check(reply, effect, now)?;
    serde_json::from_str(&reply.body).map_err(|error| match effect {
        Effect::Reads => Refused::Failed(unreadable(reply, &error)),
        Effect::Writes => Refused::InDoubt(unreadable(reply, &error)),
    })
}

fn check(reply: &HttpReply, effect: Effect, now: Timestamp) -> Result<(), Refused> {
    let Some(failure) = refusal(reply, now) else { return Ok(()) };
    let is_doubtful = matches!(failure.reason, Reason::ServerError | Reason::Timeout | Reason::Unreadable);
    Err(match effect {
        Effect::Writes if is_doubtful => Refused::InDoubt(failure),
        _ => Refused::Failed(failure),
    })
}
