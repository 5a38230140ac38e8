//! What a run tells people: changes of state, not attempts.

use std::collections::{BTreeMap, BTreeSet};

use super::{Pass, PassError, RunEvent};
use crate::{
    breaker::{Failure, Reason, ScopeKind},
    plan::{ActionKind, Remark},
    ticket::{Marker, RemoteTicket},
    worker::{ApplyError, Entry, Fate, Held},
};

/// Something worth a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Another process is on duty; this one waits.
    StandsBy {
        /// Who.
        holder: String,
    },
    /// This process is on duty.
    OnDuty {
        /// The fencing number.
        number: u64,
    },
    /// Another process has taken over.
    LostDuty {
        /// Who.
        holder: String,
    },
    /// Somebody else works on the tracker now; what is to be done waits for that.
    Waits {
        /// Who.
        holder: String,
    },
    /// A ticket was made, changed or found.
    Done {
        /// What was done.
        kind: ActionKind,
        /// What people know the artifact by: its path and title.
        artifact: String,
        /// The ticket.
        remote: RemoteTicket,
        /// The fields that the tracker left out.
        missing: Vec<String>,
    },
    /// A ticket cannot be delivered, for a reason of its own.
    Trouble {
        /// What was wanted.
        kind: ActionKind,
        /// What people know the artifact by: its path and title.
        artifact: String,
        /// Why.
        why: String,
        /// What a person can do.
        remedy: Option<&'static str>,
    },
    /// The tracker cannot be used; artifacts change as before, and tickets follow later.
    Outage {
        /// Why.
        why: String,
        /// What a person can do.
        remedy: Option<&'static str>,
    },
    /// The tracker can be used again.
    Recovered,
    /// A pass could not be made; it is tried again.
    Failing {
        /// Why, with its causes.
        why: String,
    },
    /// Passes are made again.
    Works,
    /// How many artifacts get no ticket, or tickets need a look; `sync plan` says which.
    Remarks {
        /// How many.
        count: usize,
    },
    /// An artifact that no ticket can follow until somebody fixes it.
    LeftOut {
        /// Where it stands.
        path: String,
        /// Why, and what to do.
        why: String,
    },
    /// The run has ended.
    Stopped,
}

/// Hears all events of the run for one tracker, and tells what is new. It keeps one line for each ticket that is in trouble.
#[derive(Clone, Debug, Default)]
pub struct Narrator {
    outage: Option<(ScopeKind, Reason)>,
    troubles: BTreeMap<Marker, String>,
    failing: Option<String>,
    is_waiting: bool,
    remarks: usize,
    left_out: BTreeSet<(String, String)>,
}

impl Narrator {
    /// What is new.
    pub fn hear(&mut self, event: &RunEvent<'_>) -> Vec<Notice> {
        match event {
            RunEvent::StandsBy { held } => vec![Notice::StandsBy { holder: held.holder.clone() }],
            RunEvent::OnDuty { lease } => vec![Notice::OnDuty { number: lease.number }],
            RunEvent::LostDuty { held } => vec![Notice::LostDuty { holder: held.holder.clone() }],
            RunEvent::NoLedger { error } => self.failing(spelled(error)),
            RunEvent::PassFailed { error: PassError::Apply(ApplyError::LeaseHeld(held)) } => {
                let is_new = !std::mem::replace(&mut self.is_waiting, true);
                is_new.then(|| Notice::Waits { holder: held.0.holder.clone() }).into_iter().collect()
            }
            RunEvent::PassFailed { error } => self.failing(spelled(error)),
            RunEvent::Passed { pass, .. } => self.passed(pass),
            RunEvent::Stopped => vec![Notice::Stopped],
        }
    }

    fn failing(&mut self, why: String) -> Vec<Notice> {
        if self.failing.as_ref() == Some(&why) {
            return Vec::new();
        }
        self.failing = Some(why.clone());
        vec![Notice::Failing { why }]
    }

    fn passed(&mut self, pass: &Pass) -> Vec<Notice> {
        self.is_waiting = false;
        let mut notices: Vec<Notice> = self.failing.take().map(|_| Notice::Works).into_iter().collect();
        let mut troubles = BTreeMap::new();
        let mut outage: Option<(ScopeKind, &Failure)> = None;
        for entry in &pass.report.entries {
            match cause(&entry.fate) {
                Cause::None => notices.extend(done(entry, name(pass, &entry.marker))),
                Cause::Tracker(kind, failure) => {
                    // The widest says most.
                    if outage.is_none_or(|(widest, _)| kind < widest) {
                        outage = Some((kind, failure));
                    }
                }
                Cause::Ticket(why, remedy) => {
                    if self.troubles.get(&entry.marker) != Some(&why) {
                        let (kind, artifact) = (entry.kind, name(pass, &entry.marker));
                        notices.push(Notice::Trouble { kind, artifact, why: why.clone(), remedy });
                    }
                    troubles.insert(entry.marker.clone(), why);
                }
                Cause::Time => {}
            }
        }
        self.troubles = troubles;
        let works = pass.report.requests > 0 && outage.is_none();
        match outage {
            Some((kind, failure)) if self.outage != Some((kind, failure.reason)) => {
                self.outage = Some((kind, failure.reason));
                let why = format!("{}: {}", failure.reason, failure.detail);
                notices.push(Notice::Outage { why, remedy: failure.reason.remedy() });
            }
            None if works && self.outage.take().is_some() => notices.insert(0, Notice::Recovered),
            _ => {}
        }
        let left_out: BTreeSet<(String, String)> = pass.remarks.iter().filter_map(problem).collect();
        let new = left_out.difference(&self.left_out).cloned();
        notices.extend(new.map(|(path, why)| Notice::LeftOut { path, why }));
        self.left_out = left_out;
        if self.remarks != pass.remarks.len() {
            self.remarks = pass.remarks.len();
            notices.push(Notice::Remarks { count: self.remarks });
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

/// An error with its causes, on one line.
fn spelled(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// What an action that was not done waits for.
enum Cause<'f> {
    /// It was done.
    None,
    /// The tracker.
    Tracker(ScopeKind, &'f Failure),
    /// Something about its ticket.
    Ticket(String, Option<&'static str>),
    /// Only for time to pass.
    Time,
}

fn cause(fate: &Fate) -> Cause<'_> {
    match fate {
        Fate::Done { .. } | Fate::Found { .. } | Fate::NotThere => Cause::None,
        Fate::Failed { failure, .. } | Fate::InDoubt { failure } => {
            of_failure(failure, failure.reason.to_string())
        }
        Fate::Held(held) => match held {
            Held::Waiting { last, .. } => of_failure(last, last.reason.to_string()),
            Held::Refused { cause, .. } => of_failure(cause, cause.reason.to_string()),
            Held::NotListed(failure) | Held::NoTarget(failure) => {
                let kind = match failure.reason.consequence().scope {
                    ScopeKind::Ticket => ScopeKind::Endpoint,
                    kind => kind,
                };
                Cause::Tracker(kind, failure)
            }
            Held::Parked { last, .. } => Cause::Ticket(held.to_string(), last.reason.remedy()),
            Held::Unknown | Held::LinkedElsewhere { .. } => Cause::Ticket(held.to_string(), None),
            Held::TooFast { .. }
            | Held::Contended { .. }
            | Held::NoParent { .. }
            | Held::Unlisted { .. }
            | Held::Stopped
            | Held::Stale => Cause::Time,
        },
    }
}

/// A failure that is the tracker's concerns all tickets.
fn of_failure(failure: &Failure, reason: String) -> Cause<'_> {
    match failure.reason.consequence().scope {
        ScopeKind::Ticket => Cause::Ticket(format!("{reason}: {}", failure.detail), failure.reason.remedy()),
        kind => Cause::Tracker(kind, failure),
    }
}

fn name(pass: &Pass, marker: &Marker) -> String {
    pass.names.get(marker).cloned().unwrap_or_else(|| marker.to_string())
}

fn done(entry: &Entry, artifact: String) -> Option<Notice> {
    let (remote, missing) = match &entry.fate {
        Fate::Done { remote, missing } => (remote, missing.as_slice()),
        Fate::Found { remote, .. } => (remote, [].as_slice()),
        _ => return None,
    };
    let missing = missing.iter().map(|field| field.field.clone()).collect();
    Some(Notice::Done { kind: entry.kind, artifact, remote: remote.clone(), missing })
}
