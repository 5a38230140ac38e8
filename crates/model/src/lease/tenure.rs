//! Taking, keeping and giving up a lease.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Lease, LeaseRefusal};
use crate::{
    artifact::ProjectPath,
    journal::{Actor, ArtifactKey, Attribution},
};

/// The holder of a lease, and the time until which it is held.
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

    /// Returns whether its end lies further away than it can last: then the clock was wrong when it was
    /// taken, and nobody waits for it.
    pub fn is_beyond(&self, now: Timestamp) -> bool {
        let lasts = self.lasts_seconds.map_or(LONGEST, Duration::from_secs).min(LONGEST);
        self.expires_at > end(now, lasts + SKEW)
    }

    /// Returns whether `who` gives it back by completing a step. A session keeps it to its end, and who knows
    /// the number for as long as it likes.
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

/// Two processes of one person outside of a session exclude each other: a name alone does not tell them
/// apart.
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
