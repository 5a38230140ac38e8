//! The outcome of a round, and the state of a store as the ledger knows it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;
use stepmark_sync::{
    TrackerName,
    breaker::{Circuit, Failure},
    ledger::{LedgerError, LedgerReader},
    retry::Delivery,
    ticket::{Marker, TicketDigest},
};

use super::{ledger_digest, marker, route, whole};
use crate::target::{Target, Unit, UnitKey};

#[derive(Clone, Debug, Default)]
pub struct DeliveryReport {
    pub delivered: usize,
    pub held: usize,
    /// Units that failed before, and wait or are parked.
    pub postponed: usize,
    /// Units that hold a secret, and are given to nobody.
    pub withheld: usize,
    pub forgotten: usize,
    /// Units that are no more, and that the store cannot take away.
    pub left_over: usize,
    pub failures: Vec<Failure>,
    /// The breaker is open until then, for this reason.
    pub refused: Option<(Timestamp, Failure)>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct StoreState {
    /// Units that are due, or were given.
    pub units: usize,
    /// Those that it was last seen to hold.
    pub held: usize,
    /// Those that it lacks, each with the reason where it failed.
    pub behind: Vec<Behind>,
    /// The last failure, where nothing has succeeded since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_until: Option<Timestamp>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Behind {
    pub key: String,
    pub label: String,
    pub attempts: u32,
    /// The time at which it is tried again; `None` where that is with the next round, or never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// True where it is tried no more.
    pub is_parked: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

pub fn state_of(
    ledger: &dyn LedgerReader,
    (name, target): (&TrackerName, &dyn Target),
    project: &str,
    due: &[&Unit],
) -> Result<StoreState, LedgerError> {
    let links: BTreeMap<Marker, Option<TicketDigest>> =
        ledger.links(name)?.into_iter().map(|link| (link.marker, link.digest)).collect();
    let deliveries: BTreeMap<Marker, Delivery> = ledger.deliveries(name)?.into_iter().collect();
    let failed = marker(project, &whole()).ok().and_then(|marker| deliveries.get(&marker));
    let failure = failed.and_then(Delivery::last).map(|failure| failure.detail.clone());
    let mut state = StoreState { failure, ..StoreState::default() };
    for unit in due {
        let (Some(form), Ok(marker)) = (target.form(unit), marker(project, &unit.key())) else { continue };
        state.units += 1;
        match links.get(&marker) == Some(&Some(ledger_digest(&form))) {
            true => state.held += 1,
            false => state.behind.push(behind(unit, &unit.key(), deliveries.get(&marker))),
        }
    }
    let circuit = Circuit::load(&route(name), |scope| ledger.breaker(scope))?;
    let open = circuit.breakers().filter_map(|(_, breaker)| breaker.outage().map(|outage| outage.until));
    state.open_until = open.max();
    Ok(state)
}

fn behind(unit: &Unit, key: &UnitKey, delivery: Option<&Delivery>) -> Behind {
    let label = unit.record.as_ref().map_or(&unit.label, |record| &record.content);
    Behind {
        key: key.to_string(),
        label: crate::context::plain(label, 80),
        attempts: delivery.map_or(0, Delivery::attempts),
        until: delivery.and_then(Delivery::until),
        is_parked: matches!(delivery, Some(Delivery::Parked { .. })),
        failure: delivery.and_then(Delivery::last).map(|failure| failure.detail.clone()),
    }
}
