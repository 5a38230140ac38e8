//! Whether a ticket hangs elsewhere than it should, in a tracker that has tickets below tickets. Pure.

use serde_json::Value as Json;

use crate::ticket::{FieldDifference, Marker, Observed, Ticket};

/// Whether a ticket hangs elsewhere than it should. Which ticket is whose is not known here, so what it was last made to say decides
/// about a ticket that hangs somewhere; a parent that a person gave to one that should have none stays.
pub(super) fn parent_difference(
    desired: &Ticket,
    before: Option<&Ticket>,
    observed: &Observed,
) -> Option<FieldDifference> {
    let last = before.and_then(|before| before.parent.as_ref());
    let is_known = observed.parent_id.is_some();
    let agrees = match &desired.parent {
        Some(parent) => is_known && (last.is_none() || last == Some(parent)),
        None => !is_known || last.is_none(),
    };
    let current = if is_known { shown(last) } else { Json::Null };
    let difference = FieldDifference::between("parent", current, shown(desired.parent.as_ref()));
    difference.filter(|_| !agrees)
}

/// A marker as it is shown; null for none.
pub(super) fn shown(marker: Option<&Marker>) -> Json {
    marker.map_or(Json::Null, |marker| Json::from(marker.to_string()))
}
