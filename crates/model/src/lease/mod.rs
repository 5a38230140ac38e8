//! Leases: who may change an artifact for a while. Pure: `(lease, who, now) → lease or refusal`.
//!
//! A lease names its holder and its end, and carries a *fencing number* that grows with every new holder, for
//! ever. The clock decides only when a lease may be taken over; whether a commit is admitted, the number
//! decides. So a clock that runs backwards, or a holder that slept past the end, never makes two holders: the
//! number of one of them is old. A lease whose end lies further away than it can last was taken by a clock
//! that ran ahead, and counts as over.

use std::time::Duration;

use crate::{
    artifact::{FileHash, ProjectPath},
    journal::{Actor, ArtifactKey, Attribution},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

const SCHEMA: &str = "stepmark.lease/1";

/// The lease of an artifact. It stays when nobody holds it: its number must not start again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    schema: String,
    pub artifact: ArtifactKey,
    pub path: ProjectPath,
    /// The fencing number of the present or the last holder.
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

    /// The lease that `bytes` hold; `None` where they hold none of this version.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice::<Self>(bytes).ok().filter(|lease| lease.schema == SCHEMA)
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        // JSON of a value in memory cannot fail; an empty file is no lease, and is refused.
        let mut bytes = serde_json::to_vec(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    pub fn file_name(artifact: &ArtifactKey) -> String {
        let mut name = FileHash::of(artifact.as_str().as_bytes()).to_string();
        name.truncate(32);
        name + ".json"
    }

    /// The holder whose time is not over, and was not made by a clock that was wrong.
    pub fn live(&self, now: Timestamp) -> Option<&LeaseTerm> {
        self.tenure.as_ref().filter(|tenure| now < tenure.expires_at && !tenure.is_beyond(now))
    }
}

/// Returns whether `who` may change an artifact whose lease is `lease` (`None`: none was ever taken). Asked
/// under the artifact's lock, under which leases change too.
///
/// Who shows a fencing number is admitted if it is that of the lease, whatever the clock says; who shows
/// none, if no live lease of anybody else stands.
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
    /// In which session; every process of it counts as the holder.
    pub session: Option<String>,
    pub taken_at: Timestamp,
    /// From when on others may take it over.
    pub expires_at: Timestamp,
    /// The number of seconds it lasted when it was taken or renewed last; not in leases of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasts_seconds: Option<u64>,
    /// Set where it was taken to make one step, which gives it back outside of sessions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_for_one_step: bool,
}

/// No lease lasts longer: who needs more renews it.
pub const LONGEST: Duration = Duration::from_secs(30 * 24 * 60 * 60);

const SKEW: Duration = Duration::from_secs(10 * 60);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcquiredLease {
    pub lease: Lease,
    /// The lease of another holder, and its number, where that one had not given it up.
    pub taken_over: Option<(LeaseTerm, u64)>,
    /// True if the same holder had it before, and only its end was moved.
    pub is_renewed: bool,
}

/// The treatment of a lease that somebody else holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Respect it as long as it lives.
    WhenFree,
    ForOneStep,
    /// Take it over, living or not: a person knows that the holder is gone, or that a clock went wrong.
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

    /// Returns whether its end is further than it can last: then the clock was wrong, and nobody waits.
    pub fn is_beyond(&self, now: Timestamp) -> bool {
        let lasts = self.lasts_seconds.map_or(LONGEST, Duration::from_secs).min(LONGEST);
        self.expires_at > end(now, lasts + SKEW)
    }

    /// Returns whether `who` gives it back by completing a step; sessions and those with the number keep it.
    pub fn ends_with_step(&self, who: &Attribution) -> bool {
        self.is_for_one_step && self.session.is_none() && who.fence.is_none() && self.is_held_by(who)
    }

    /// Returns whether `who` is the holder: by its session, or, outside of sessions, by its name. An actor
    /// that nobody knows is not recognised again.
    pub fn is_held_by(&self, who: &Attribution) -> bool {
        match (&self.session, &who.session) {
            (Some(session), Some(own)) => session == own.as_str(),
            (None, None) => self.holder == who.actor && who.actor != Actor::unknown(),
            _ => false,
        }
    }
}

/// The end of a time that begins now; times have an end in the year 9999.
fn end(now: Timestamp, duration: Duration) -> Timestamp {
    now.checked_add(duration).unwrap_or(Timestamp::MAX)
}

/// Gives the lease of an artifact to `who`, if nobody else holds it. `current` is the lease as it is; none
/// was taken ever where it is `None`. Whoever holds it in a session, or shows its number, gets the same lease
/// with a new end.
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

/// Two processes of one person outside of a session exclude each other: a name does not tell them apart.
const fn is_nameless_again(tenure: &LeaseTerm, who: &Attribution) -> bool {
    tenure.session.is_none() && who.fence.is_none()
}

/// Returns whether `who` has the right of the holder: its number if it shows one, else its session or name.
fn is_holder(lease: &Lease, tenure: &LeaseTerm, who: &Attribution) -> bool {
    who.fence.map_or_else(|| tenure.is_held_by(who), |fence| fence == lease.fence)
}

/// Moves the end of a lease; also of one that has run out, as long as nobody took it over.
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
