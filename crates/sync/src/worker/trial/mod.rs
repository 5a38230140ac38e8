//! Trials of causes for which tickets are parked: one ticket is tried now and then, and if it succeeds all
//! come back.

#[cfg(test)]
mod cases;

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::{
    Result, TrackerName,
    breaker::Reason,
    ledger::{LedgerReader, LedgerWriter},
    moment,
    retry::Delivery,
};

/// An hour after the last failure of a cause.
const TRIAL_AFTER_MS: u64 = 60 * 60 * 1000;

#[derive(Debug, Default)]
pub(super) struct Trials(BTreeMap<(Reason, String), Timestamp>);

impl Trials {
    pub(super) fn read(ledger: &dyn LedgerReader, tracker: &TrackerName) -> Result<Self> {
        let mut trials = Self::default();
        for (_, delivery) in ledger.deliveries(tracker)? {
            if let (Some(cause), Some(met_at)) = (delivery.cause(), delivery.noted_at()) {
                let latest = trials.0.entry((cause.0, cause.1.to_owned())).or_insert(met_at);
                *latest = met_at.max(*latest);
            }
        }
        Ok(trials)
    }

    /// At most one ticket of each cause.
    pub(super) fn takes(&mut self, parked: &Delivery, now: Timestamp) -> bool {
        let latest = parked.cause().and_then(|cause| self.0.get_mut(&(cause.0, cause.1.to_owned())));
        let Some(latest) = latest else { return false };
        // After a clock was set back the age is unknown.
        let is_time = !moment::may_be_past(*latest, now) || moment::after(*latest, TRIAL_AFTER_MS) <= now;
        if is_time {
            *latest = now;
        }
        is_time
    }
}

pub(super) fn bring_back(
    ledger: &mut dyn LedgerWriter,
    tracker: &TrackerName,
    is_passed: impl Fn((Reason, &str)) -> bool,
) -> Result<usize> {
    let mut count = 0;
    for (marker, delivery) in ledger.deliveries(tracker)? {
        if delivery.cause().is_some_and(&is_passed) {
            ledger.put_delivery(tracker, &marker, &Delivery::Due)?;
            count += 1;
        }
    }
    Ok(count)
}
