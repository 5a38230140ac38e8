//! Whose tickets the ledger knows: those of one repository or project, which the tracker itself names.

use stepmark_model::artifact::FileHash;

use super::{
    ApplyError, Deferred, Worker,
    admission::{self, Feedback},
    trial,
};
use crate::{
    breaker::{Breaker, Failure, Reason, Scope},
    ledger::{Lease, LedgerError, TrackerRecord},
    tracker::RequestKind,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TargetState {
    Same,
    /// It was another one's, or its address changed: what the ledger knows now belongs to the target, and a
    /// new plan is wanted.
    Changed,
    /// The tracker does not tell.
    Unknown(Deferred),
}

impl Worker<'_> {
    /// Asks the tracker which target it is, where the ledger does not know it or the configuration names
    /// another address. The tickets of another target are set aside, so that none of them is changed; they
    /// come back with it.
    pub(super) async fn settle_target(&mut self, lease: &Lease) -> Result<TargetState, ApplyError> {
        let (settings, address) = (self.settings, self.settings.target.address());
        let known = self.ledger.read()?.record(&settings.name)?;
        self.settle_configuration(lease, &known)?;
        if !known.wants_target(&address, self.clock.now()) {
            return Ok(TargetState::Same);
        }
        let route = self.tracker.route(RequestKind::Target, &[]);
        let cost = self.tracker.cost(RequestKind::Target, 0);
        if let Some(held) = self.admit_request(Some(lease), &route, &cost).await? {
            return Ok(TargetState::Unknown(held));
        }
        self.requests += 1;
        let told = self.tracker.target().await;
        let now = self.clock.now();
        let mut transaction = self.begin(Some(lease))?;
        let heard = Feedback { route: &route, failures: vec![told.as_ref().err()], budget: None };
        admission::tell(&mut *transaction, &heard, settings, now)?;
        let is_moved = known.elsewhere(&address).is_some();
        let target = match told {
            Ok(target) => target,
            Err(failure) => {
                transaction.commit()?;
                // Where the address is the one that it had, its own requests tell what is wrong.
                let is_known = known.target.is_some() && !is_moved;
                return Ok(if is_known {
                    TargetState::Same
                } else {
                    TargetState::Unknown(Deferred::NoTarget(failure))
                });
            }
        };
        let former = known.target.as_deref().filter(|former| *former != target);
        if let Some(former) = former {
            transaction.switch_target(&settings.name, former, &target)?;
            // What went wrong with the ticket of an artifact there says nothing of that one here.
            for (scope, _) in transaction.breakers()? {
                if matches!(&scope, Scope::Ticket { tracker, .. } if *tracker == settings.name) {
                    transaction.put_breaker(&scope, &Breaker::default())?;
                }
            }
        }
        let is_changed = is_moved || former.is_some();
        // Read again: the one that came back is another.
        let record = transaction.record(&settings.name)?;
        let (target, address, asked_at) = (Some(target), Some(address), Some(now));
        transaction.put_record(&settings.name, &TrackerRecord { target, address, asked_at, ..record })?;
        transaction.commit()?;
        Ok(if is_changed { TargetState::Changed } else { TargetState::Same })
    }

    /// Gives what was refused another try where the tracker is configured otherwise, or its credential is
    /// another, than when it was refused: the cause may have been there, and not in the artifact. What the
    /// former credential may not do says nothing of this one.
    fn settle_configuration(&mut self, lease: &Lease, known: &TrackerRecord) -> Result<(), LedgerError> {
        let name = self.settings.name.clone();
        let route = self.tracker.route(RequestKind::Target, &[]);
        let credential = self.tracker.credential_digest().unwrap_or(&route.credential);
        let told = format!("{:?} {credential}", self.settings.target);
        let configuration = Some(FileHash::of(told.as_bytes()).to_string());
        if known.configuration == configuration {
            return Ok(());
        }
        let mut transaction = self.begin(Some(lease))?;
        trial::bring_back(&mut *transaction, &name, |_| true)?;
        let scope = Scope::Credential { host: route.host, credential: route.credential };
        transaction.put_breaker(&scope, &Breaker::default())?;
        let record = TrackerRecord { configuration, ..transaction.record(&name)? };
        transaction.put_record(&name, &record)?;
        transaction.commit()
    }

    /// The reason why nothing of the tracker can be seen, where a ticket that is said to be gone is only out
    /// of sight: a credential that has lost its access is told that there is nothing.
    pub(super) async fn out_of_sight(&mut self, lease: &Lease) -> Result<Option<Failure>, ApplyError> {
        let route = self.tracker.route(RequestKind::Target, &[]);
        let cost = self.tracker.cost(RequestKind::Target, 0);
        if self.is_in_sight || self.admit_request(Some(lease), &route, &cost).await?.is_some() {
            return Ok(None);
        }
        self.requests += 1;
        match self.tracker.target().await {
            Ok(_) => {
                self.is_in_sight = true;
                Ok(None)
            }
            Err(failure) => {
                let reason = match failure.reason {
                    Reason::Gone => Reason::Forbidden,
                    reason => reason,
                };
                Ok(Some(Failure { reason, ..failure }))
            }
        }
    }
}
