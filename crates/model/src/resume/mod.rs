//! Where to go on: what each source says of an artifact, and which of them to believe (seed `001_…`, D4-Q5: three tiers).
//!
//! Pure: `workspace` gathers the [`Evidence`] tier by tier, as far as [`decide`] asks for it.

mod tier;
mod outlook;
mod testimony;
mod evidence;
mod answer;
mod decide;

pub use answer::{Answer, Verdict};
pub use decide::decide;
pub use evidence::{Evidence, InterruptedSession, OpenDelegation};
pub use outlook::{NextStep, Outlook, Unclear};
pub use testimony::{Said, Source, Testimony};
pub use tier::{Tier, TierError};
