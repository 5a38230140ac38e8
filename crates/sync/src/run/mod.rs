//! A process that keeps tickets in step for as long as it lives.
//!
//! Flow: wait for the lead → a pass (read the artifacts, plan, carry out) → wait until something has changed,
//! a delivery is due, or it is time to look at everything again.
//!
//! Guarantees: of all processes of a project one leads for a tracker; when it dies, another takes over after
//! the lease. What happens meanwhile is one flag, however often it happens. Whatever fails is tried again;
//! nothing ends a run but its [`StopSignal`].
//!
//! [`StopSignal`]: crate::worker::StopSignal

mod runner;

use std::{
    collections::{BTreeMap, BTreeSet},
    future,
    time::Duration,
};

use jiff::Timestamp;
use stepmark_model::spelling::with_causes;
use tokio::sync::watch;

use crate::{
    Error, ErrorKind,
    breaker::{Failure, Reason, ScopeKind},
    ledger::Lease,
    plan::{ActionKind, Remark},
    ticket::{Marker, RemoteTicket},
    worker::{ActionOutcome, Deferred, Entry},
};

pub use runner::{Pass, RunContext, leader_lease_name, run};

pub use crate::configuration::RunSettings;

#[derive(Debug)]
pub enum RunEvent<'e> {
    Standby { holder: &'e str },
    Leading { lease: &'e Lease },
    // Another process took over: this one did not renew its lease in time.
    LostLead { holder: &'e str },
    // The lease could not be taken or renewed. It is retried.
    NoLedger { error: &'e Error },
    Passed { pass: &'e Pass, at: Timestamp, took: Duration },
    PassFailed { error: &'e Error },
    Stopped,
}

/// Coalesces: a million changes are as one, since everything is read again anyway.
#[derive(Clone, Debug)]
pub struct ChangeSignal(watch::Sender<()>);

#[derive(Clone, Debug)]
pub struct ChangeListener(watch::Receiver<()>);

impl Default for ChangeSignal {
    fn default() -> Self {
        Self(watch::Sender::new(()))
    }
}

impl ChangeSignal {
    pub fn tell(&self) {
        self.0.send_replace(());
    }

    pub fn listen(&self) -> ChangeListener {
        ChangeListener(self.0.subscribe())
    }
}

impl ChangeListener {
    /// Never ends once nobody can signal.
    pub async fn changed(&mut self) {
        if self.0.changed().await.is_err() {
            future::pending::<()>().await;
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatusChange {
    Standby { holder: String },
    Leading { number: u64 },
    LostLead { holder: String },
    // Another process works on the tracker; changes wait for it.
    Waits { holder: String },
    Done { kind: ActionKind, tickets: Vec<(String, RemoteTicket)>, missing: Vec<String> },
    // Tickets that cannot be delivered for one reason of their own.
    Trouble { kind: ActionKind, artifacts: Vec<String>, why: String, remedy: Option<&'static str> },
    // The tracker is unusable; tickets follow later.
    Outage { why: String, remedy: Option<&'static str> },
    Recovered,
    Failing { why: String },
    Works,
    // The number of artifacts without a ticket, and of tickets that need a look; `sync plan` says which.
    Remarks { count: usize },
    // Artifacts that no ticket can follow until somebody fixes them.
    LeftOut { paths: Vec<String>, why: String },
    Stopped,
}

/// Reports what is new. Keeps one line for each ticket in trouble.
#[derive(Clone, Debug, Default)]
pub struct ChangeReporter {
    outage: Option<(ScopeKind, Reason)>,
    troubles: BTreeMap<Marker, String>,
    failing: Option<String>,
    is_waiting: bool,
    remarks: usize,
    left_out: BTreeSet<(String, String)>,
}

impl ChangeReporter {
    pub fn observe(&mut self, event: &RunEvent<'_>) -> Vec<StatusChange> {
        match event {
            RunEvent::Standby { holder } => vec![StatusChange::Standby { holder: (*holder).to_owned() }],
            RunEvent::Leading { lease } => vec![StatusChange::Leading { number: lease.number }],
            RunEvent::LostLead { holder } => vec![StatusChange::LostLead { holder: (*holder).to_owned() }],
            RunEvent::NoLedger { error } => self.failing(with_causes(error)),
            RunEvent::PassFailed { error: Error { kind: ErrorKind::Held { holder, .. }, .. } } => {
                let is_new = !std::mem::replace(&mut self.is_waiting, true);
                is_new.then(|| StatusChange::Waits { holder: holder.clone() }).into_iter().collect()
            }
            RunEvent::PassFailed { error } => self.failing(with_causes(error)),
            RunEvent::Passed { pass, .. } => self.passed(pass),
            RunEvent::Stopped => vec![StatusChange::Stopped],
        }
    }

    fn failing(&mut self, why: String) -> Vec<StatusChange> {
        if self.failing.as_ref() == Some(&why) {
            return Vec::new();
        }
        self.failing = Some(why.clone());
        vec![StatusChange::Failing { why }]
    }

    fn passed(&mut self, pass: &Pass) -> Vec<StatusChange> {
        self.is_waiting = false;
        let mut notices: Vec<StatusChange> =
            self.failing.take().map(|_| StatusChange::Works).into_iter().collect();
        let (mut troubles, mut done) = (BTreeMap::new(), Vec::new());
        let mut outage: Option<(ScopeKind, &Failure)> = None;
        for entry in &pass.report.entries {
            match cause(&entry.outcome) {
                Cause::None => done
                    .extend(done_of(entry, name(pass, &entry.marker)).map(|notice| (notice, String::new()))),
                Cause::Tracker(kind, failure) => {
                    // The widest scope says most.
                    if outage.is_none_or(|(widest, _)| kind < widest) {
                        outage = Some((kind, failure));
                    }
                }
                Cause::Ticket { why, of_several, remedy } => {
                    if self.troubles.get(&entry.marker) != Some(&why) {
                        let artifacts = vec![name(pass, &entry.marker)];
                        let (kind, why) = (entry.kind, why.clone());
                        done.push((StatusChange::Trouble { kind, artifacts, why, remedy }, of_several));
                    }
                    troubles.insert(entry.marker.clone(), why);
                }
                Cause::Time => {}
            }
        }
        self.troubles = troubles;
        notices.extend(grouped(done));
        let works = pass.report.requests > 0 && outage.is_none();
        match outage {
            Some((kind, failure)) if self.outage != Some((kind, failure.reason)) => {
                self.outage = Some((kind, failure.reason));
                let why = format!("{}: {}", failure.reason, failure.detail);
                notices.push(StatusChange::Outage { why, remedy: failure.reason.remedy() });
            }
            None if works && self.outage.take().is_some() => notices.insert(0, StatusChange::Recovered),
            _ => {}
        }
        let left_out: BTreeSet<(String, String)> = pass.remarks.iter().filter_map(problem).collect();
        let new = left_out.difference(&self.left_out).cloned();
        notices.extend(grouped(
            new.map(|(path, why)| (StatusChange::LeftOut { paths: vec![path], why: why.clone() }, why))
                .collect(),
        ));
        self.left_out = left_out;
        if self.remarks != pass.remarks.len() {
            self.remarks = pass.remarks.len();
            notices.push(StatusChange::Remarks { count: self.remarks });
        }
        notices
    }
}

fn problem(remark: &Remark) -> Option<(String, String)> {
    match remark {
        Remark::LeftOut { path, reason, is_problem: true } => Some((path.clone(), reason.clone())),
        _ => None,
    }
}

enum Cause<'f> {
    None,
    Tracker(ScopeKind, &'f Failure),
    // Something about its ticket: in the words for it, and in those that are true of others with the same
    // reason.
    Ticket { why: String, of_several: String, remedy: Option<&'static str> },
    Time,
}

fn cause(outcome: &ActionOutcome) -> Cause<'_> {
    match outcome {
        ActionOutcome::Done { .. } | ActionOutcome::Found { .. } | ActionOutcome::NotThere => Cause::None,
        ActionOutcome::Failed { failure, .. } | ActionOutcome::InDoubt { failure } => {
            of_failure(failure, failure.reason.to_string())
        }
        ActionOutcome::Deferred(held) => match held {
            Deferred::Waiting { last, .. } => of_failure(last, last.reason.to_string()),
            Deferred::Refused { cause, .. } => of_failure(cause, cause.reason.to_string()),
            Deferred::NotListed(failure) | Deferred::NoTarget(failure) => {
                let kind = match failure.reason.consequence().scope {
                    ScopeKind::Ticket => ScopeKind::Endpoint,
                    kind => kind,
                };
                Cause::Tracker(kind, failure)
            }
            Deferred::Parked { last, .. } => of_ticket(held.to_string(), last),
            Deferred::Unknown | Deferred::LinkedElsewhere { .. } => {
                Cause::Ticket { why: held.to_string(), of_several: held.to_string(), remedy: None }
            }
            Deferred::TooFast { .. }
            | Deferred::Contended { .. }
            | Deferred::NoParent { .. }
            | Deferred::Unlisted { .. }
            | Deferred::Stopped
            | Deferred::Stale => Cause::Time,
        },
    }
}

fn of_failure(failure: &Failure, reason: String) -> Cause<'_> {
    match failure.reason.consequence().scope {
        ScopeKind::Ticket => of_ticket(format!("{reason}: {}", failure.detail), failure),
        kind => Cause::Tracker(kind, failure),
    }
}

fn of_ticket<'f>(why: String, failure: &Failure) -> Cause<'f> {
    let reason = failure.reason;
    let of_several = if reason.names_ticket() { reason.to_string() } else { why.clone() };
    Cause::Ticket { why, of_several, remedy: reason.remedy() }
}

fn name(pass: &Pass, marker: &Marker) -> String {
    pass.names.get(marker).cloned().unwrap_or_else(|| marker.to_string())
}

fn done_of(entry: &Entry, artifact: String) -> Option<StatusChange> {
    let (remote, missing) = match &entry.outcome {
        ActionOutcome::Done { remote, missing } => (remote, missing.as_slice()),
        ActionOutcome::Found { remote, .. } => (remote, [].as_slice()),
        _ => return None,
    };
    let missing = missing.iter().map(|field| field.field.clone()).collect();
    Some(StatusChange::Done { kind: entry.kind, tickets: vec![(artifact, remote.clone())], missing })
}

/// Merges notices with the same text; the string is the reason in the words for several.
fn grouped(notices: Vec<(StatusChange, String)>) -> Vec<StatusChange> {
    let mut groups: Vec<(StatusChange, String)> = Vec::new();
    for (notice, of_several) in notices {
        let mut same = groups.iter_mut().filter(|(_, why)| *why == of_several);
        if !same.any(|(group, why)| group.takes(&notice, why)) {
            groups.push((notice, of_several));
        }
    }
    groups.into_iter().map(|(notice, _)| notice).collect()
}

impl StatusChange {
    /// Merges `other` if it has the same reason `of_several`.
    fn takes(&mut self, other: &Self, of_several: &str) -> bool {
        match (self, other) {
            (
                Self::Done { kind, tickets, missing },
                Self::Done { kind: other_kind, tickets: more, missing: other_missing },
            ) if (*kind, &*missing) == (*other_kind, other_missing) => tickets.extend_from_slice(more),
            (
                Self::Trouble { kind, artifacts, why, .. },
                Self::Trouble { kind: other_kind, artifacts: more, why: other_why, .. },
            ) if kind == other_kind => {
                if why != other_why {
                    of_several.clone_into(why);
                }
                artifacts.extend_from_slice(more);
            }
            (Self::LeftOut { paths, .. }, Self::LeftOut { paths: more, .. }) => paths.extend_from_slice(more),
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod cases;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_million_changes_are_one() {
        let signal = ChangeSignal::default();
        let mut listener = signal.listen();
        for _ in 0..1_000_000 {
            signal.tell();
        }
        listener.changed().await;
        let next = tokio::time::timeout(std::time::Duration::from_millis(1), listener.changed());
        assert!(next.await.is_err(), "one change was left after it was heard of");
        // What is sent holds nothing, and the channel keeps one of it.
        assert_eq!(size_of_val(&*listener.0.borrow()), 0);
    }
}
