//! Leases: the right to change an artifact for a while. Pure: `(lease, who, now) → lease or refusal`.
//!
//! A *fencing number* grows with every new holder, forever, and alone decides if a commit is admitted. The
//! clock decides only if a lease may be taken over. So with a clock that runs backwards, or a holder that
//! slept past the end, there are never two holders: one has an old number. A lease that ends later than it
//! can last came from a wrong clock and counts as expired.

use std::time::Duration;

use crate::{
    artifact::{FileHash, ProjectPath},
    journal::{Actor, ArtifactKey, Attribution},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

const SCHEMA: &str = "stepmark.lease/1";

/// Kept without a holder: its number must not start again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    schema: String,
    pub artifact: ArtifactKey,
    pub path: ProjectPath,
    /// Of the present or last holder.
    pub fence: u64,
    #[serde(flatten)]
    pub tenure: Option<LeaseTerm>,
}

impl Lease {
    fn new(artifact: ArtifactKey, path: ProjectPath, fence: u64, tenure: Option<LeaseTerm>) -> Self {
        Self { schema: SCHEMA.to_owned(), artifact, path, fence, tenure }
    }

    fn with_tenure(&self, tenure: Option<LeaseTerm>) -> Self {
        Self { tenure, ..self.clone() }
    }

    pub fn read(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice::<Self>(bytes).ok().filter(|lease| lease.schema == SCHEMA)
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        // JSON of a value in memory cannot fail; an empty file is refused when read.
        let mut bytes = serde_json::to_vec(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    pub fn file_name(artifact: &ArtifactKey) -> String {
        let mut name = FileHash::of(artifact.as_str().as_bytes()).to_string();
        name.truncate(32);
        name + ".json"
    }

    /// Not expired, and not from a wrong clock.
    pub fn live(&self, now: Timestamp) -> Option<&LeaseTerm> {
        self.tenure.as_ref().filter(|tenure| now < tenure.expires_at && !tenure.is_beyond(now))
    }
}

/// `lease` is `None` if none was ever taken. Call it under the artifact's lock.
///
/// A given fencing number must match, whatever the clock says; without one, nobody else may hold a live
/// lease.
pub fn admits(lease: Option<&Lease>, who: &Attribution, now: Timestamp) -> Result<(), LeaseRefusal> {
    let Some(lease) = lease else { return Ok(()) };
    match (who.fence, lease.live(now)) {
        (Some(given), _) if given != lease.fence => {
            Err(LeaseRefusal::OldNumber { given, current: lease.fence })
        }
        (None, Some(tenure)) if !tenure.is_held_by(who) => Err(LeaseRefusal::held(tenure, lease.fence)),
        _ => Ok(()),
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LeaseRefusal {
    #[error("{holder}{} holds its lease until {expires_at}", session.as_ref().map(|session| format!(" in session {session}")).unwrap_or_default())]
    Held { holder: String, session: Option<String>, expires_at: Timestamp, fence: u64 },
    #[error(
        "the fencing number {given} is not that of its lease, which is {current}: the lease was taken over, or the number is that of another artifact"
    )]
    OldNumber { given: u64, current: u64 },
    #[error("nobody holds its lease")]
    NotHeld,
    #[error("its lease has used up all fencing numbers")]
    Exhausted,
}

impl LeaseRefusal {
    fn held(tenure: &LeaseTerm, fence: u64) -> Self {
        Self::Held {
            holder: tenure.holder.to_string(),
            session: tenure.session.clone(),
            expires_at: tenure.expires_at,
            fence,
        }
    }

    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::Held { session: Some(_), .. } => "wait for it to be released or to run out",
            Self::Held { session: None, .. } => {
                "wait for it to be released or to run out; if it is yours, `stepmark gate lease release` gives it up, and in a session \
                 (`stepmark session start`) you are known again"
            }
            Self::OldNumber { .. } => {
                "read the artifact again: somebody else may have changed it; then take its lease and set STEPMARK_FENCE, or unset that"
            }
            Self::NotHeld => "`stepmark gate lease take` takes it",
            Self::Exhausted => {
                "when nobody works on the artifact, remove its file in `.git/stepmark/leases`, or without git in `.stepmark/local/leases`"
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseTerm {
    pub holder: Actor,
    /// All processes of the session are the holder.
    pub session: Option<String>,
    pub taken_at: Timestamp,
    pub expires_at: Timestamp,
    /// Duration at the last renewal; missing in older leases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasts_seconds: Option<u64>,
    /// Taken for one step, which releases it outside of sessions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_for_one_step: bool,
}

/// Longer work renews it.
pub const LONGEST: Duration = Duration::from_secs(30 * 24 * 60 * 60);

const SKEW: Duration = Duration::from_secs(10 * 60);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcquiredLease {
    pub lease: Lease,
    /// Lease and number of a holder who had not released it.
    pub taken_over: Option<(LeaseTerm, u64)>,
    pub is_renewed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    WhenFree,
    ForOneStep,
    /// Even if it is live: a person knows that the holder is gone, or that a clock is wrong.
    Seize,
}

impl LeaseTerm {
    fn new(who: &Attribution, (now, duration): (Timestamp, Duration), claim: Claim) -> Self {
        let (holder, session) = (who.actor.clone(), who.session.clone().map(String::from));
        let is_for_one_step = claim == Claim::ForOneStep;
        let since =
            Self { holder, session, taken_at: now, expires_at: now, lasts_seconds: None, is_for_one_step };
        since.renewed(now, duration)
    }

    fn renewed(&self, now: Timestamp, duration: Duration) -> Self {
        let duration = duration.min(LONGEST);
        let lasts_seconds = Some(duration.as_secs() + u64::from(duration.subsec_nanos() > 0));
        Self { expires_at: end(now, duration), lasts_seconds, ..self.clone() }
    }

    /// Ends later than it can last: the clock was wrong, and nobody waits.
    pub fn is_beyond(&self, now: Timestamp) -> bool {
        let lasts = self.lasts_seconds.map_or(LONGEST, Duration::from_secs).min(LONGEST);
        self.expires_at > end(now, lasts + SKEW)
    }

    /// Sessions and holders with the number keep it.
    pub fn ends_with_step(&self, who: &Attribution) -> bool {
        self.is_for_one_step && self.session.is_none() && who.fence.is_none() && self.is_held_by(who)
    }

    /// By session, or, outside of sessions, by name. Unknown actors never match.
    pub fn is_held_by(&self, who: &Attribution) -> bool {
        match (&self.session, &who.session) {
            (Some(session), Some(own)) => session == own.as_str(),
            (None, None) => self.holder == who.actor && who.actor != Actor::unknown(),
            _ => false,
        }
    }
}

fn end(now: Timestamp, duration: Duration) -> Timestamp {
    now.checked_add(duration).unwrap_or(Timestamp::MAX)
}

/// `current` is `None` if no lease was ever taken. A holder by session or number gets the same lease with a
/// new end.
pub fn take(
    current: Option<&Lease>,
    (artifact, path): (&ArtifactKey, &ProjectPath),
    who: &Attribution,
    (now, duration): (Timestamp, Duration),
    claim: Claim,
) -> Result<AcquiredLease, LeaseRefusal> {
    let lease = |fence, tenure| Lease::new(artifact.clone(), path.clone(), fence, Some(tenure));
    let Some(current) = current else {
        let lease = lease(1, LeaseTerm::new(who, (now, duration), claim));
        return Ok(AcquiredLease { lease, taken_over: None, is_renewed: false });
    };
    let next = || current.fence.checked_add(1).ok_or(LeaseRefusal::Exhausted);
    match &current.tenure {
        None => {
            let lease = lease(next()?, LeaseTerm::new(who, (now, duration), claim));
            Ok(AcquiredLease { lease, taken_over: None, is_renewed: false })
        }
        Some(tenure) if is_holder(current, tenure, who) && !is_nameless_again(tenure, who) => {
            let tenure = tenure.renewed(now, duration);
            Ok(AcquiredLease { lease: lease(current.fence, tenure), taken_over: None, is_renewed: true })
        }
        Some(tenure) if claim != Claim::Seize && current.live(now).is_some() => {
            Err(LeaseRefusal::held(tenure, current.fence))
        }
        Some(tenure) => {
            let lease = lease(next()?, LeaseTerm::new(who, (now, duration), claim));
            Ok(AcquiredLease { lease, taken_over: Some((tenure.clone(), current.fence)), is_renewed: false })
        }
    }
}

/// Two processes of one person outside of a session exclude each other.
const fn is_nameless_again(tenure: &LeaseTerm, who: &Attribution) -> bool {
    tenure.session.is_none() && who.fence.is_none()
}

/// By number if given, else by session or name.
fn is_holder(lease: &Lease, tenure: &LeaseTerm, who: &Attribution) -> bool {
    who.fence.map_or_else(|| tenure.is_held_by(who), |fence| fence == lease.fence)
}

/// An expired lease, too, as long as nobody took it over.
pub fn renew(
    current: Option<&Lease>,
    who: &Attribution,
    now: Timestamp,
    duration: Duration,
) -> Result<Lease, LeaseRefusal> {
    let (lease, tenure) = held(current, who)?;
    let tenure = tenure.renewed(now, duration);
    Ok(lease.with_tenure(Some(tenure)))
}

pub fn release(current: Option<&Lease>, who: &Attribution) -> Result<Lease, LeaseRefusal> {
    let (lease, _) = held(current, who)?;
    Ok(lease.with_tenure(None))
}

fn held<'l>(
    current: Option<&'l Lease>,
    who: &Attribution,
) -> Result<(&'l Lease, &'l LeaseTerm), LeaseRefusal> {
    let Some(lease) = current else { return Err(LeaseRefusal::NotHeld) };
    if let Some(given) = who.fence.filter(|given| *given != lease.fence) {
        return Err(LeaseRefusal::OldNumber { given, current: lease.fence });
    }
    match &lease.tenure {
        None => Err(LeaseRefusal::NotHeld),
        Some(tenure) if is_holder(lease, tenure, who) => Ok((lease, tenure)),
        Some(tenure) => Err(LeaseRefusal::held(tenure, lease.fence)),
    }
}

#[cfg(test)]
mod cases;
