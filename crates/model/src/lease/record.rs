//! A lease as it is kept.

use super::LeaseTerm;
use crate::artifact::{FileHash, ProjectPath};
use crate::journal::{ArtifactKey, Attribution};
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
    pub(super) fn new(
        artifact: ArtifactKey,
        path: ProjectPath,
        fence: u64,
        tenure: Option<LeaseTerm>,
    ) -> Self {
        Self { schema: SCHEMA.to_owned(), artifact, path, fence, tenure }
    }

    pub(super) fn with_tenure(&self, tenure: Option<LeaseTerm>) -> Self {
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
    pub(super) fn held(tenure: &LeaseTerm, fence: u64) -> Self {
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
