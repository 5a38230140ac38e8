//! Refusals because of a lease.

use jiff::Timestamp;

use super::LeaseTerm;

/// Somebody else's lease, or a number that is no longer valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LeaseRefusal {
    /// Somebody else holds it.
    #[error("{holder}{} holds its lease until {expires_at}", session.as_ref().map(|session| format!(" in session {session}")).unwrap_or_default())]
    Held {
        /// The holder.
        holder: String,
        /// In which session.
        session: Option<String>,
        /// Until when.
        expires_at: Timestamp,
        /// Its fencing number.
        fence: u64,
    },
    /// The number is not that of the lease.
    #[error(
        "the fencing number {given} is not that of its lease, which is {current}: the lease was taken over, or the number is that of another artifact"
    )]
    OldNumber {
        /// The number that was shown.
        given: u64,
        /// The number of the lease.
        current: u64,
    },
    /// Nobody holds it.
    #[error("nobody holds its lease")]
    NotHeld,
    /// There is no number after the last one.
    #[error("its lease has used up all fencing numbers")]
    Exhausted,
}

impl LeaseRefusal {
    pub(super) fn held(tenure: &LeaseTerm, fence: u64) -> Self {
        Self::Held {
            holder: tenure.holder.to_string(),
            session: tenure.session.clone(),
            expires_at: tenure.expires_at,
            fence,
        }
    }

    /// The remedy.
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
