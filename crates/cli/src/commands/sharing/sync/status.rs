//! `stepmark sync status`

use clap::Args;
use jiff::Timestamp;
use serde_json::{Map, Value as Json};
use stepmark_sync::{
    Error, TrackerName,
    breaker::{Breaker, Scope},
    ledger::{Intent, Lease, LedgerReader},
    plan::{Plan, Remark},
    retry::Delivery,
    run::leader_lease_name,
    ticket::Marker,
    worker,
};

use super::{
    SyncContext, plan,
    plan::Subjects,
    report::{Groups, Outages, Told, is_of_tracker, of_failure, tries},
};
use crate::{
    exit::{Exit, Failure},
    output::{Output, spinner, wire::Open},
};

/// Show what is to be done, waits, is parked or in doubt, every breaker that is not closed, and which process
/// leads; the tracker is not asked
#[derive(Debug, Args)]
pub(super) struct Status {}

struct SyncState {
    links: usize,
    listed_at: Option<Timestamp>,
    intents: Vec<Intent>,
    deliveries: Vec<(Marker, Delivery)>,
    breakers: Vec<(Scope, Breaker)>,
    lease: Option<Lease>,
    leader: Option<Lease>,
    /// Set if the clock was set back since the latest time in the ledger.
    clock_was_ahead: Option<Timestamp>,
}

impl SyncState {
    fn read(ledger: &dyn LedgerReader, context: &SyncContext<'_>) -> Result<Self, Error> {
        let name = &context.settings.name;
        let now = context.clock.now();
        Ok(Self {
            links: ledger.links(name)?.len(),
            listed_at: ledger.record(name)?.listed_at,
            intents: ledger.intents(name)?,
            deliveries: ledger.deliveries(name)?,
            breakers: ledger.breakers()?,
            lease: ledger.lease(name.as_str())?.filter(|lease| lease.is_kept(now)),
            clock_was_ahead: worker::clock_was_ahead(ledger, name, now)?,
            leader: ledger.lease(&leader_lease_name(name))?.filter(|lease| lease.is_kept(now)),
        })
    }
}

impl SyncState {
    fn concerned(&self) -> impl Iterator<Item = &Marker> {
        let breakers = self.breakers.iter().filter_map(|(scope, _)| match scope {
            Scope::Ticket { marker, .. } => Some(marker),
            _ => None,
        });
        let deliveries = self.deliveries.iter().map(|(marker, _)| marker);
        self.intents.iter().map(|intent| &intent.marker).chain(deliveries).chain(breakers)
    }
}

impl Status {
    pub(super) fn run(&self, context: &SyncContext<'_>, output: &Output) -> Result<Exit, Failure> {
        let mut ledger = context.ledger_to_read()?;
        let snapshot = context.snapshot()?;
        let plan = context.plan_over(&snapshot, &mut *ledger, None)?;
        let mut subjects = Subjects::of(&snapshot);
        subjects.add(&plan);
        let ledger = ledger.read()?;
        let state = SyncState::read(&*ledger, context)?;
        for marker in state.concerned() {
            if !subjects.knows(marker)
                && let Some(ticket) = ledger.projected(&context.settings.name, marker)?
            {
                subjects.add_title(marker, ticket.title);
            }
        }
        let answer = || answer(context, &plan, &state);
        output.answer_or(answer, || show(context, &plan, &state, &subjects, output));
        Ok(Exit::Fine)
    }
}

fn show(context: &SyncContext<'_>, plan: &Plan, state: &SyncState, subjects: &Subjects, output: &Output) {
    plan::warn(&plan::told_everywhere(&plan.remarks), output);
    let name = |marker: &Marker| subjects.name(marker);
    let counts: Vec<String> =
        plan.counts().iter().map(|(kind, count)| format!("{count} to {}", kind.name())).collect();
    let counts = if counts.is_empty() { "nothing to do".to_owned() } else { counts.join(", ") };
    let tickets = spinner::count(state.links, "ticket");
    output.line(format_args!("{}: {tickets}, {counts}", context.settings.name));
    if let Some(noted) = state.clock_was_ahead {
        output.warning(format_args!(
            "the clock of this machine was ahead and has been set back: the ledger holds what happened at {noted:.0}; nothing waits for that"
        ));
    }
    let mut groups = Groups::default();
    for intent in &state.intents {
        let Intent { action, begun_at, .. } = intent;
        let told = |them| format!(": to {action}{them} was begun at {begun_at:.0}");
        let (head, of_one, of_several) = ("in doubt   ".to_owned(), told(" it"), told(" them"));
        groups.add(Told { head, noun: "ticket", of_one, of_several }, name(&intent.marker), None);
    }
    let mut outages = Outages::default();
    for (marker, delivery) in &state.deliveries {
        let Some(last) = delivery.last() else { continue };
        let until = delivery.until();
        if until.is_some() && is_of_tracker(last) {
            outages.add(last, until);
            continue;
        }
        let head = if until.is_some() { "waiting    " } else { "parked     " };
        let after = format!(", after {}: ", tries(delivery.attempts()));
        groups.add(of_failure(head.to_owned(), &after, last), name(marker), until);
    }
    groups.lines().for_each(|line| output.line(line));
    outages.0.iter().for_each(|outage| output.line(format_args!("waiting    {outage}")));
    for (scope, breaker) in &state.breakers {
        let scope = match scope {
            Scope::Ticket { marker, .. } => name(marker),
            scope => format!("`{scope}`"),
        };
        match breaker.outage() {
            None => {
                let last = match breaker {
                    Breaker::Closed { last_failure: Some(last), .. } => {
                        format!(", the last one: {}: {}", last.reason, last.detail)
                    }
                    _ => String::new(),
                };
                output.remark(format_args!("closed     {scope}, with failures{last}"));
            }
            Some(outage) => {
                let cause = format!("{}: {}", outage.cause.reason, outage.cause.detail);
                output.line(format_args!(
                    "open       {scope} since {:.0}, tried again after {:.0}: {cause}",
                    outage.since, outage.until
                ));
                if let Some(remedy) = outage.cause.reason.remedy() {
                    output.remark(format_args!("           {remedy}"));
                }
            }
        }
    }
    match &state.leader {
        Some(lease) => output.line(format_args!("leader     {} until {}", lease.holder, lease.until)),
        None => output
            .remark("no process keeps the tickets in step: `stepmark sync run`, or `apply` now and then"),
    }
    if let Some(lease) = &state.lease {
        output.line(format_args!("at work    {} until {:.0}", lease.holder, lease.until));
    }
}

answers! { Answer<'a>
    /// `sync status`: tickets, and what waits
    "stepmark.sync-status/2" Status {
        tracker: Open<&'a TrackerName>, tickets: usize, unchanged: usize,
        /// The number of actions of each kind
        to_do: Map<String, Json>,
        remarks: Open<&'a [Remark]>, listed_at: Option<Timestamp>, in_doubt: Vec<IntentRow<'a>>,
        deliveries: Vec<DeliveryRow<'a>>, breakers: Vec<BreakerRow<'a>>, clock_was_ahead: Option<Timestamp>,
        lease: Option<LeaseRow<'a>>, leader: Option<LeaseRow<'a>>,
    }
    struct IntentRow<'a> { marker: Open<&'a Marker>, action: String, begun_at: Timestamp }
    struct DeliveryRow<'a> { marker: Open<&'a Marker>, delivery: Open<&'a Delivery> }
    struct BreakerRow<'a> { scope: String, breaker: Open<&'a Breaker> }
    struct LeaseRow<'a> { holder: &'a str, number: u64, until: Timestamp }
}

fn answer<'a>(context: &'a SyncContext<'_>, plan: &'a Plan, state: &'a SyncState) -> Answer<'a> {
    let intent = |Intent { marker, action, begun_at, .. }: &'a Intent| IntentRow {
        marker: Open(marker),
        action: action.to_string(),
        begun_at: *begun_at,
    };
    let deliveries = state.deliveries.iter();
    let deliveries =
        deliveries.map(|(marker, delivery)| DeliveryRow { marker: Open(marker), delivery: Open(delivery) });
    let breakers = state.breakers.iter();
    let breakers =
        breakers.map(|(scope, breaker)| BreakerRow { scope: scope.to_string(), breaker: Open(breaker) });
    let lease =
        |lease: &'a Lease| LeaseRow { holder: &lease.holder, number: lease.number, until: lease.until };
    let counts = plan.counts();
    Answer::Status {
        tracker: Open(&context.settings.name),
        tickets: state.links,
        unchanged: plan.unchanged,
        to_do: counts.iter().map(|(kind, count)| (kind.name().to_owned(), (*count).into())).collect(),
        remarks: Open(&plan.remarks),
        listed_at: state.listed_at,
        in_doubt: state.intents.iter().map(intent).collect(),
        deliveries: deliveries.collect(),
        breakers: breakers.collect(),
        clock_was_ahead: state.clock_was_ahead,
        lease: state.lease.as_ref().map(lease),
        leader: state.leader.as_ref().map(lease),
    }
}
