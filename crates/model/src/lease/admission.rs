//! Whether a commit is admitted.

use jiff::Timestamp;

use super::{Lease, LeaseRefusal};
use crate::journal::Attribution;

/// Whether `who` may change an artifact whose lease is `lease` (`None`: none was ever taken). Asked under the artifact's lock,
/// under which leases change too.
///
/// Who shows a fencing number is admitted if it is that of the lease, whatever the clock says; who shows none, if no live lease
/// of anybody else stands.
///
/// # Errors
/// Whose lease stands in the way, or that the number is old.
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
