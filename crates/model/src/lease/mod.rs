//! Leases: who may change an artifact for a while. Pure: `(lease, who, now) → lease or refusal`.
//!
//! A lease names its holder and its end, and carries a *fencing number* that grows with every new holder, for
//! ever. The clock decides only when a lease may be taken over; whether a commit is admitted, the number
//! decides. So a clock that runs backwards, or a holder that slept past the end, never makes two holders: the
//! number of one of them is old. A lease whose end lies further away than it can last was taken by a clock
//! that ran ahead, and counts as over.

mod record;
mod tenure;

pub use record::{Lease, LeaseRefusal, admits};
pub use tenure::{AcquiredLease, Claim, LONGEST, LeaseTerm, release, renew, take};

#[cfg(test)]
mod cases;
