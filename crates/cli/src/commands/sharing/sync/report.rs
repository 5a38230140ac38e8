//! The report of a worker.

use jiff::Timestamp;
use stepmark_model::artifact::ProjectPath;
use stepmark_sync::{
    breaker::{Failure, Scope, ScopeKind},
    plan::Remark,
    retry::Delivery,
    ticket::{FieldDifference, Marker, RemoteTicket},
    worker::{ActionOutcome, Deferred, Entry, Report},
};

use super::{SyncContext, plan, plan::Subjects};

use crate::{
    exit::Exit,
    output::{Output, spinner, wire::Open},
};

pub(super) fn show(context: &SyncContext<'_>, report: &Report, subjects: &Subjects, output: &Output) -> Exit {
    if output.json {
        let remarks = subjects.remarks.iter().chain(new_remarks(report, subjects));
        output.answer(|| Answer::Apply {
            requests: report.requests,
            entries: report.entries.iter().map(|entry| EntryRow::of(entry, subjects)).collect(),
            remarks: remarks.map(Open).collect(),
            obstacles: &report.obstacles,
            look_again_at: report.look_again_at,
        });
    } else {
        let is_interrupted = context.stop.is_asked();
        // Waits for the pace were not wanted.
        let is_not_begun = |outcome: &ActionOutcome| match outcome {
            ActionOutcome::Deferred(Deferred::Stopped) => true,
            ActionOutcome::Deferred(Deferred::TooFast { .. }) => is_interrupted,
            _ => false,
        };
        let (mut outages, mut groups) = (Outages::default(), Groups::default());
        for entry in &report.entries {
            if let Some((cause, until)) = outage(&entry.outcome) {
                outages.add(cause, until);
                continue;
            }
            if is_not_begun(&entry.outcome) {
                continue;
            }
            let name = subjects.name(&entry.marker);
            let head = format!("{:<15} {:<9} ", entry.kind.name(), entry.outcome.name());
            match said(&entry.outcome) {
                Some(said) => output.line(format_args!("{head}{name}{said}")),
                None => {
                    let (told, until) = told(&entry.outcome, head, subjects);
                    groups.add(told, name, until);
                }
            }
        }
        groups.lines().for_each(|line| output.line(line));
        let stopped = report.entries.iter().filter(|entry| is_not_begun(&entry.outcome)).count();
        if stopped > 0 {
            output.line(format_args!(
                "interrupted: {} not begun; `stepmark sync apply` goes on with what is left",
                spinner::count(stopped, "action")
            ));
        }
        plan::warn(new_remarks(report, subjects), output);
        if let Some(until) = report.look_again_at {
            output.remark(format_args!(
                "run `stepmark sync apply` again after {until:.0}: whether another machine made the same tickets shows only then"
            ));
        }
        let waiting: usize = outages.0.iter().map(|outage| outage.tickets).sum();
        for outage in &outages.0 {
            output.line(format_args!("{}: {outage}", context.settings.name));
        }
        // If nothing else happened, that line is enough.
        if waiting == 0 || waiting < report.entries.len() {
            let actions = spinner::count(report.entries.len(), "action");
            output.remark(format_args!("{actions}, {}", spinner::count(report.requests, "request")));
        }
    }
    exit(report)
}

fn new_remarks<'r>(report: &'r Report, subjects: &Subjects) -> impl Iterator<Item = &'r Remark> {
    report.remarks.iter().filter(|remark| !subjects.remarks.contains(remark))
}

/// Told once for all tickets that it holds back.
pub(super) struct Outage<'r> {
    cause: &'r Failure,
    tickets: usize,
    /// Of the first of them, as far as that is known.
    until: Option<Timestamp>,
}

/// In the order in which they were met.
#[derive(Default)]
pub(super) struct Outages<'r>(pub(super) Vec<Outage<'r>>);

impl<'r> Outages<'r> {
    pub(super) fn add(&mut self, cause: &'r Failure, until: Option<Timestamp>) {
        let same =
            |own: &&mut Outage<'_>| (own.cause.reason, &own.cause.detail) == (cause.reason, &cause.detail);
        match self.0.iter_mut().find(same) {
            Some(own) => {
                own.tickets += 1;
                own.until = [own.until, until].into_iter().flatten().min();
            }
            None => self.0.push(Outage { cause, tickets: 1, until }),
        }
    }
}

impl std::fmt::Display for Outage<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (reason, detail) = (self.cause.reason, &self.cause.detail);
        let verb = if self.tickets == 1 { "waits" } else { "wait" };
        write!(out, "{reason}: {detail}; {} {verb}", spinner::count(self.tickets, "ticket"))?;
        if let Some(until) = self.until {
            write!(out, " until {until:.0}")?;
        }
        self.cause.reason.remedy().map_or(Ok(()), |remedy| write!(out, "; {remedy}"))
    }
}

/// Only if it held a ticket back; with the time of the next try.
fn outage(outcome: &ActionOutcome) -> Option<(&Failure, Option<Timestamp>)> {
    let (cause, until) = match outcome {
        ActionOutcome::Failed { failure, delivery } => (failure, delivery.until()),
        ActionOutcome::Deferred(Deferred::NotListed(failure) | Deferred::NoTarget(failure)) => {
            (failure, None)
        }
        ActionOutcome::Deferred(Deferred::Refused { cause, until, .. }) => (cause, Some(*until)),
        ActionOutcome::Deferred(Deferred::Waiting { last, until }) => (last, Some(*until)),
        _ => return None,
    };
    is_of_tracker(cause).then_some((cause, until))
}

pub(super) fn is_of_tracker(failure: &Failure) -> bool {
    failure.reason.consequence().scope != ScopeKind::Ticket
}

fn exit(report: &Report) -> Exit {
    if report.is_complete() {
        return Exit::Fine;
    }
    let is_remote = |entry: &Entry| {
        matches!(entry.outcome, ActionOutcome::InDoubt { .. }) || outage(&entry.outcome).is_some()
    };
    if report.entries.iter().any(is_remote) { Exit::Remote } else { Exit::Findings }
}

/// `None` if it was not done.
fn said(outcome: &ActionOutcome) -> Option<String> {
    Some(match outcome {
        ActionOutcome::Done { remote, missing } if missing.is_empty() => format!(" {}", remote.key),
        ActionOutcome::Done { remote, missing } => {
            let fields: Vec<&str> = missing.iter().map(|field| field.field.as_str()).collect();
            format!(" {}, but the tracker left out: {}", remote.key, fields.join(", "))
        }
        ActionOutcome::Found { remote, duplicates } if duplicates.is_empty() => format!(" {}", remote.key),
        ActionOutcome::Found { remote, duplicates } => {
            let keys: Vec<&str> = duplicates.iter().map(|other| other.key.as_str()).collect();
            format!(" {}; others with its marker: {}", remote.key, keys.join(", "))
        }
        ActionOutcome::NotThere => String::new(),
        ActionOutcome::Failed { .. } | ActionOutcome::InDoubt { .. } | ActionOutcome::Deferred(_) => {
            return None;
        }
    })
}

/// With the time until which it waits.
fn told(outcome: &ActionOutcome, head: String, subjects: &Subjects) -> (Told, Option<Timestamp>) {
    match outcome {
        ActionOutcome::Failed { failure, .. } | ActionOutcome::InDoubt { failure } => {
            (of_failure(head, ": ", failure), None)
        }
        ActionOutcome::Deferred(Deferred::Parked { attempts, last }) => {
            (of_failure(head, &format!(": it is parked after {}: ", tries(*attempts)), last), None)
        }
        ActionOutcome::Deferred(Deferred::Waiting { last, until }) => {
            (of_failure(head, ": it failed and is tried again then: ", last), Some(*until))
        }
        ActionOutcome::Deferred(Deferred::NoParent { parent }) => {
            let parent = subjects.name(parent);
            let why = format!(": the ticket of {parent}, below which it hangs, is not there yet");
            (Told::of_tickets(head, why), None)
        }
        ActionOutcome::Deferred(Deferred::Refused { scope: Scope::Ticket { .. }, until, cause }) => {
            (of_failure(head, ": it is left alone: ", cause), Some(*until))
        }
        ActionOutcome::Deferred(Deferred::LinkedElsewhere { key, owner }) => {
            let owner = subjects.name(owner);
            (Told::of_tickets(head, format!(": {key} is the ticket of {owner}")), None)
        }
        ActionOutcome::Deferred(held) => (Told::of_tickets(head, format!(": {held}")), None),
        ActionOutcome::Done { .. } | ActionOutcome::Found { .. } | ActionOutcome::NotThere => {
            (Told::of_tickets(head, String::new()), None)
        }
    }
}

/// For several tickets, what is true of all: the detail may name one.
pub(super) fn of_failure(head: String, between: &str, failure: &Failure) -> Told {
    let Failure { reason, detail, .. } = failure;
    let remedy = reason.remedy().map(|remedy| format!("; {remedy}")).unwrap_or_default();
    let of_one = format!("{between}{reason}: {detail}{remedy}");
    let of_several =
        if reason.names_ticket() { format!("{between}{reason}{remedy}") } else { of_one.clone() };
    Told { head, noun: "ticket", of_one, of_several }
}

pub(super) fn tries(attempts: u32) -> String {
    if attempts == 1 { "1 try".to_owned() } else { format!("{attempts} tries") }
}

answers! { Answer<'a>
    /// `sync apply`: what was done
    "stepmark.sync-apply/2" Apply {
        requests: usize, entries: Vec<EntryRow<'a>>, remarks: Vec<Open<&'a Remark>>, obstacles: &'a [String],
        look_again_at: Option<Timestamp>,
    }
    struct EntryRow<'a> {
        action: &'static str, marker: Open<&'a Marker>, path: Option<&'a ProjectPath>, outcome: &'static str,
        ticket: Option<Open<&'a RemoteTicket>>, missing: Open<&'a [FieldDifference]>,
        duplicates: Open<&'a [RemoteTicket]>, failure: Option<Open<&'a Failure>>,
        delivery: Option<Open<&'a Delivery>>, deferred: Option<String>,
    }
}

impl<'a> EntryRow<'a> {
    fn of(entry: &'a Entry, subjects: &'a Subjects) -> Self {
        let mut row = Self {
            action: entry.kind.name(),
            marker: Open(&entry.marker),
            path: subjects.path(&entry.marker),
            outcome: entry.outcome.name(),
            ticket: None,
            missing: Open(&[]),
            duplicates: Open(&[]),
            failure: None,
            delivery: None,
            deferred: None,
        };
        match &entry.outcome {
            ActionOutcome::Done { remote, missing } => {
                (row.ticket, row.missing) = (Some(Open(remote)), Open(&**missing));
            }
            ActionOutcome::Found { remote, duplicates } => {
                (row.ticket, row.duplicates) = (Some(Open(remote)), Open(&**duplicates));
            }
            ActionOutcome::Failed { failure, delivery } => {
                (row.failure, row.delivery) = (Some(Open(failure)), Some(Open(delivery)));
            }
            ActionOutcome::InDoubt { failure } => row.failure = Some(Open(failure)),
            ActionOutcome::Deferred(why) => row.deferred = Some(why.to_string()),
            ActionOutcome::NotThere => {}
        }
        row
    }
}

const NAMED: usize = 3;

/// In the words for one ticket, and for several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) head: String,
    pub(super) noun: &'static str,
    /// Behind the name of one; may say more than is true of all.
    pub(super) of_one: String,
    pub(super) of_several: String,
}

impl Told {
    pub(super) fn of_tickets(head: String, said: String) -> Self {
        Self { head, noun: "ticket", of_one: said.clone(), of_several: said }
    }
}

#[derive(Debug)]
struct Group {
    told: Told,
    names: Vec<String>,
    until: Option<Timestamp>,
}

/// In the order in which they were met.
#[derive(Debug, Default)]
pub(super) struct Groups(Vec<Group>);

impl Groups {
    /// `until` is the time to which it waits.
    pub(super) fn add(&mut self, told: Told, name: String, until: Option<Timestamp>) {
        let is_same = |group: &&mut Group| {
            let own = &group.told;
            (&own.head, own.noun, &own.of_several) == (&told.head, told.noun, &told.of_several)
        };
        match self.0.iter_mut().find(is_same) {
            Some(group) => {
                group.names.push(name);
                group.until = [group.until, until].into_iter().flatten().min();
            }
            None => self.0.push(Group { told, names: vec![name], until }),
        }
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(Group::line)
    }
}

impl Group {
    fn line(&self) -> String {
        let Told { head, noun, of_one, of_several } = &self.told;
        let until = self.until.map(|until| format!(" until {until:.0}")).unwrap_or_default();
        match self.names.as_slice() {
            [name] => format!("{head}{name}{until}{of_one}"),
            names => {
                let count = spinner::count(names.len(), noun);
                format!("{head}{count}{until}{of_several} ({})", named(names))
            }
        }
    }
}

pub(super) fn named(names: &[String]) -> String {
    let first = names.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(cause: &str) -> Told {
        Told::of_tickets("parked ".to_owned(), format!(": {cause}"))
    }

    #[test]
    fn one_cause_is_one_line() {
        let mut groups = Groups::default();
        let late = Some(Timestamp::from_second(90).unwrap());
        for number in 0..33 {
            groups.add(told("no type `Tale`"), format!("{number}.md"), late);
        }
        groups.add(told("another"), "a.md".to_owned(), None);
        groups.add(told("no type `Tale`"), "b.md".to_owned(), Some(Timestamp::UNIX_EPOCH));
        groups.add(Told { head: "waiting ".to_owned(), ..told("another") }, "c.md".to_owned(), late);
        assert_eq!(
            groups.lines().collect::<Vec<_>>(),
            [
                "parked 34 tickets until 1970-01-01T00:00:00Z: no type `Tale` (0.md, 1.md, 2.md and 31 more)",
                "parked a.md: another",
                "waiting c.md until 1970-01-01T00:01:30Z: another",
            ]
        );
    }

    #[test]
    fn what_differs_between_two_is_not_said_of_both() {
        let mut groups = Groups::default();
        for key in ["#1", "#2"] {
            let of_one = format!(": no marker in {key}");
            groups.add(Told { of_one, ..told("no marker") }, key.to_owned(), None);
        }
        assert_eq!(groups.lines().collect::<Vec<_>>(), ["parked 2 tickets: no marker (#1, #2)"]);
    }
}
