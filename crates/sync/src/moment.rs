//! Times in whole milliseconds, as the ledger keeps them.

use jiff::Timestamp;

/// Saturates.
pub(crate) fn after(moment: Timestamp, milliseconds: u64) -> Timestamp {
    let milliseconds = i64::try_from(milliseconds).unwrap_or(i64::MAX);
    at(moment.as_millisecond().saturating_add(milliseconds))
}

pub(crate) fn at(milliseconds: i64) -> Timestamp {
    let bound = if milliseconds < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_millisecond(milliseconds).unwrap_or(bound)
}

/// Clocks and slow requests differ by less.
const SLACK_MS: u64 = 60_000;

/// False if a clock that was ahead has noted it and was set back: then it counts as long ago.
pub(crate) fn may_be_past(noted: Timestamp, now: Timestamp) -> bool {
    between(now, noted) <= SLACK_MS
}

pub(crate) fn between(earlier: Timestamp, later: Timestamp) -> u64 {
    let difference = later.as_millisecond().saturating_sub(earlier.as_millisecond());
    u64::try_from(difference).unwrap_or(0)
}
