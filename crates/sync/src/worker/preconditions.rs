//! The preconditions of an action, checked inside the transaction that notes its intent.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::{ActionOutcome, Deferred, trial::Trials};
use crate::{
    breaker::{Admission, Scope},
    configuration::TrackerSettings,
    ledger::{IntentAction, LedgerError, LedgerReader, Link},
    plan::{Action, ActionKind},
    retry::Delivery,
    ticket::{Marker, RemoteTicket, Ticket},
};

#[derive(Debug)]
pub(super) struct Item<'p> {
    pub(super) action: &'p Action,
    pub(super) ticket: &'p Ticket,
    /// The ticket that it is about; `None` for a new one.
    pub(super) remote: Option<RemoteTicket>,
    /// The ticket as it was last written.
    pub(super) before: Option<Ticket>,
    pub(super) parent: Option<RemoteTicket>,
    /// True where an earlier change of it is in doubt.
    pub(super) was_in_doubt: bool,
}

/// The values that actions are compared with.
pub(super) struct Ground<'g> {
    pub(super) ledger: &'g dyn LedgerReader,
    pub(super) settings: &'g TrackerSettings,
    pub(super) expected: &'g BTreeSet<&'g Marker>,
    /// The requests that were begun and not ended.
    pub(super) intents: &'g BTreeMap<Marker, IntentAction>,
    pub(super) now: Timestamp,
}

impl Ground<'_> {
    /// The action as it is to be asked for, or why it is not.
    pub(super) fn check<'p>(
        &self,
        action: &'p Action,
        trials: &mut Trials,
    ) -> Result<Result<Item<'p>, Deferred>, LedgerError> {
        let name = &self.settings.name;
        let link = self.ledger.link(name, &action.marker)?;
        if !agrees(action, link.as_ref()) {
            return Ok(Err(Deferred::Stale));
        }
        let Some(ticket) = &action.ticket else { return Ok(Err(Deferred::Unknown)) };
        let intent = self.intents.get(&action.marker);
        if action.kind == ActionKind::Create && intent == Some(&IntentAction::Create) {
            // It was looked up before, and that did not settle it.
            return Ok(Err(Deferred::Stale));
        }
        if let Some(held) = self.delivery(action, ticket, trials)? {
            return Ok(Err(held));
        }
        let parent = match &ticket.parent {
            None => None,
            Some(parent) => match self.ledger.link(name, parent)? {
                Some(link) => Some(link.remote),
                None if self.expected.contains(parent) => {
                    return Ok(Err(Deferred::NoParent { parent: parent.clone() }));
                }
                // It has no ticket here, and will have none.
                None => None,
            },
        };
        let (remote, before) = match action.kind {
            ActionKind::CloseDuplicate => (action.remote.clone(), None),
            _ => (link.map(|link| link.remote), self.ledger.projected(name, &action.marker)?),
        };
        let was_in_doubt = intent == Some(&IntentAction::Update);
        Ok(Ok(Item { action, ticket, remote, before, parent, was_in_doubt }))
    }

    fn delivery(
        &self,
        action: &Action,
        ticket: &Ticket,
        trials: &mut Trials,
    ) -> Result<Option<Deferred>, LedgerError> {
        let name = &self.settings.name;
        let scope = Scope::Ticket { tracker: name.clone(), marker: action.marker.clone() };
        let breaker = self.ledger.breaker(&scope)?.unwrap_or_default();
        if let (_, Admission::Refused { until, cause }) = breaker.admit(self.now, &self.settings.breaker) {
            return Ok(Some(Deferred::Refused { scope, until, cause }));
        }
        // A duplicate has no delivery of its own.
        if action.kind == ActionKind::CloseDuplicate {
            return Ok(None);
        }
        let delivery = self.ledger.delivery(name, &action.marker)?;
        if delivery.is_due(ticket.digest(), self.now) || trials.takes(&delivery, self.now) {
            return Ok(None);
        }
        Ok(match delivery {
            Delivery::Due => None,
            Delivery::Waiting { until, last, .. } => Some(Deferred::Waiting { until, last }),
            Delivery::Parked { attempts, last, .. } => Some(Deferred::Parked { attempts, last }),
        })
    }
}

fn agrees(action: &Action, link: Option<&Link>) -> bool {
    let wanted = action.remote.as_ref().map(|remote| remote.id.as_str());
    let known = link.map(|link| link.remote.id.as_str());
    match action.kind {
        ActionKind::LookUp | ActionKind::Create => link.is_none(),
        ActionKind::Adopt => link.is_none() && wanted.is_some(),
        // Whichever ticket counts is not a duplicate.
        ActionKind::CloseDuplicate => wanted.is_some() && wanted != known,
        ActionKind::Update | ActionKind::Close | ActionKind::Prune => {
            wanted.is_some() && wanted == known && link.is_some_and(|link| link.digest == action.base)
        }
    }
}

impl From<Deferred> for ActionOutcome {
    fn from(held: Deferred) -> Self {
        Self::Deferred(held)
    }
}
