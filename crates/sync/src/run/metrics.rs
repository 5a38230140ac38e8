//! Counters of a run in the text form of Prometheus (its documentation, "Exposition formats", version 0.0.4).

use std::{
    collections::BTreeMap,
    fmt::{self, Write as _},
};

use jiff::Timestamp;

use super::{PassError, RunEvent};
use crate::{
    TrackerName,
    ledger::{LedgerError, LedgerReader},
    retry::Delivery,
    worker::ApplyError,
};

/// The counters of the runs of a process.
#[derive(Clone, Debug, Default)]
pub struct RunMetrics {
    runs: BTreeMap<TrackerName, RunCounts>,
}

#[derive(Clone, Debug, Default)]
struct RunCounts {
    is_leading: bool,
    passes: u64,
    failed_passes: u64,
    requests: u64,
    actions: BTreeMap<(&'static str, &'static str), u64>,
    last_pass: Option<(Timestamp, f64)>,
    /// The reason why the last pass could not be made.
    failing: Option<String>,
}

/// The counts of the ledger for a tracker at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LedgerCounts {
    /// The number of tickets that are linked.
    pub tickets: usize,
    /// The number of deliveries that wait for a time.
    pub waiting: usize,
    /// The number of deliveries that failed for good.
    pub parked: usize,
    /// The number of requests that were begun of which nobody knows how they ended.
    pub in_doubt: usize,
    /// The number of breakers, of all trackers, that are not closed.
    pub open_breakers: usize,
}

impl LedgerCounts {
    /// Returns what `ledger` says about `tracker`.
    ///
    /// # Errors
    /// When the ledger fails.
    pub fn read(ledger: &dyn LedgerReader, tracker: &TrackerName) -> Result<Self, LedgerError> {
        let deliveries = ledger.deliveries(tracker)?;
        let parked =
            deliveries.iter().filter(|(_, delivery)| matches!(delivery, Delivery::Parked { .. })).count();
        let breakers = ledger.breakers()?;
        Ok(Self {
            tickets: ledger.links(tracker)?.len(),
            waiting: deliveries.len() - parked,
            parked,
            in_doubt: ledger.intents(tracker)?.len(),
            open_breakers: breakers.iter().filter(|(_, breaker)| breaker.outage().is_some()).count(),
        })
    }
}

impl RunMetrics {
    /// Counts what happened in the run for `tracker`.
    pub fn count(&mut self, tracker: &TrackerName, event: &RunEvent<'_>) {
        let counts = self.runs.entry(tracker.clone()).or_default();
        match event {
            RunEvent::Leading { .. } => {
                counts.is_leading = true;
                counts.failing = None;
            }
            RunEvent::Standby { .. } => {
                counts.is_leading = false;
                counts.failing = None;
            }
            RunEvent::LostLead { .. } | RunEvent::Stopped => counts.is_leading = false,
            RunEvent::NoLedger { error } => counts.failing = Some(error.to_string()),
            // Somebody else works on it: that is no illness.
            RunEvent::PassFailed { error: PassError::Apply(ApplyError::LeaseHeld(_)) } => {}
            RunEvent::PassFailed { error } => {
                counts.failed_passes += 1;
                counts.failing = Some(error.to_string());
            }
            RunEvent::Passed { pass, at, took } => {
                counts.passes += 1;
                counts.failing = None;
                counts.requests += pass.report.requests as u64;
                counts.last_pass = Some((*at, took.as_secs_f64()));
                for entry in &pass.report.entries {
                    *counts.actions.entry((entry.kind.name(), entry.outcome.name())).or_default() += 1;
                }
            }
        }
    }

    /// Returns whether all runs work: a tracker that is down is no illness, a project or a ledger that cannot
    /// be read is one.
    ///
    /// # Errors
    /// With what is wrong.
    pub fn health(&self) -> Result<(), String> {
        let ill = self.runs.iter().find_map(|(name, counts)| Some((name, counts.failing.as_ref()?)));
        ill.map_or(Ok(()), |(name, why)| Err(format!("{name}: {why}")))
    }

    /// Everything as text for Prometheus; `ledger` has what the ledger says.
    pub fn expose(&self, ledger: &BTreeMap<TrackerName, LedgerCounts>) -> String {
        let mut page = Page::default();
        let runs = || self.runs.iter();
        page.metric("on_duty", "gauge", "Whether this process keeps the tickets of the tracker in step.");
        runs().for_each(|(name, run)| {
            page.sample("on_duty", &[("tracker", name.as_str())], u8::from(run.is_leading))
        });
        page.metric("passes_total", "counter", "Looks at all artifacts.");
        runs().for_each(|(name, run)| page.sample("passes_total", &[("tracker", name.as_str())], run.passes));
        page.metric("failed_passes_total", "counter", "Passes that could not be made.");
        runs().for_each(|(name, run)| {
            page.sample("failed_passes_total", &[("tracker", name.as_str())], run.failed_passes)
        });
        page.metric("requests_total", "counter", "Requests to the tracker.");
        runs().for_each(|(name, run)| {
            page.sample("requests_total", &[("tracker", name.as_str())], run.requests)
        });
        page.metric("actions_total", "counter", "Actions by what became of them.");
        for (name, run) in runs() {
            for ((action, outcome), count) in &run.actions {
                let labels = [("tracker", name.as_str()), ("action", action), ("outcome", outcome)];
                page.sample("actions_total", &labels, count);
            }
        }
        page.metric("last_pass_timestamp_seconds", "gauge", "When the last pass ended.");
        page.metric_values("last_pass_timestamp_seconds", runs(), |run| {
            run.last_pass.map(|(at, _)| at.as_second().to_string())
        });
        page.metric("last_pass_seconds", "gauge", "How long the last pass took.");
        page.metric_values("last_pass_seconds", runs(), |run| {
            run.last_pass.map(|(_, took)| took.to_string())
        });
        page.ledger(ledger);
        page.0
    }
}

/// A page of metrics.
#[derive(Default)]
struct Page(String);

impl Page {
    fn metric(&mut self, name: &str, kind: &str, help: &str) {
        self.line(format_args!("# HELP stepmark_sync_{name} {help}"));
        self.line(format_args!("# TYPE stepmark_sync_{name} {kind}"));
    }

    /// Names and actions are ASCII letters, digits, `-` and `_`: nothing needs to be escaped.
    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl fmt::Display) {
        let labels: Vec<String> =
            labels.iter().map(|(label, value)| format!("{label}=\"{value}\"")).collect();
        self.line(format_args!("stepmark_sync_{name}{{{}}} {value}", labels.join(",")));
    }

    fn metric_values<'r>(
        &mut self,
        metric: &str,
        runs: impl Iterator<Item = (&'r TrackerName, &'r RunCounts)>,
        value: impl Fn(&RunCounts) -> Option<String>,
    ) {
        for (name, run) in runs {
            if let Some(value) = value(run) {
                self.sample(metric, &[("tracker", name.as_str())], value);
            }
        }
    }

    fn ledger(&mut self, ledger: &BTreeMap<TrackerName, LedgerCounts>) {
        self.metric("tickets", "gauge", "Tickets that are linked to an artifact.");
        for (name, counts) in ledger {
            self.sample("tickets", &[("tracker", name.as_str())], counts.tickets);
        }
        self.metric("deliveries", "gauge", "Deliveries that are not done.");
        for (name, counts) in ledger {
            for (state, count) in
                [("waiting", counts.waiting), ("parked", counts.parked), ("in-doubt", counts.in_doubt)]
            {
                self.sample("deliveries", &[("tracker", name.as_str()), ("state", state)], count);
            }
        }
        self.metric("open_breakers", "gauge", "Breakers that are not closed, of all trackers.");
        if let Some(counts) = ledger.values().next() {
            self.line(format_args!("stepmark_sync_open_breakers {}", counts.open_breakers));
        }
    }

    fn line(&mut self, line: fmt::Arguments<'_>) {
        // Writing into a text cannot fail.
        let _whole = writeln!(self.0, "{line}");
    }
}
