//! Deliveries to a store that fails, forgets, and whose deliverer is killed.

use std::collections::BTreeMap;

use jiff::Timestamp;
use proptest::{collection::vec, prelude::*};
use stepmark_model::artifact::FileHash;
use stepmark_sync::{
    breaker::{Failure, Reason},
    ledger::{Ledger, SqliteLedger},
    retry::Jitter,
};

use super::{Deliverer, DeliveryReport, state_of, try_again};
use crate::{
    Edge, Memory, MemoryKind,
    store::cases::{memory_of, superseded, told},
    target::{Held, MemoryStore, Target, Unit, UnitKey},
};

/// A store that keeps what it is given, and counts how often.
#[derive(Default)]
struct Scripted {
    held: BTreeMap<UnitKey, String>,
    given: BTreeMap<UnitKey, usize>,
    /// The content that it never takes.
    refuses: &'static str,
    /// The outcomes of the next requests: 0 works, 1 fails, 2 works but its answer is lost.
    script: Vec<u8>,
}

impl Scripted {
    fn next(&mut self) -> u8 {
        self.script.pop().unwrap_or(0)
    }
}

fn broken() -> Failure {
    Failure::new(Reason::Timeout, "scripted")
}

impl MemoryStore for Scripted {
    fn recall(&mut self, _: &str, _: usize, _: Timestamp) -> Result<Vec<String>, Failure> {
        Ok(Vec::new())
    }

    fn edges_of(&mut self, _: &str) -> Result<Option<Vec<Edge>>, Failure> {
        Ok(None)
    }
}

impl Target for Scripted {
    fn form(&self, unit: &Unit) -> Option<String> {
        Some(unit.record.as_ref()?.content.clone())
    }

    fn held(&mut self) -> Result<Held, Failure> {
        if self.next() == 1 {
            return Err(broken());
        }
        Ok(self.held.iter().map(|(key, digest)| (key.clone(), vec![digest.clone()])).collect())
    }

    fn batch(&self) -> usize {
        2
    }

    fn put(&mut self, units: &[&Unit]) -> Result<(), Failure> {
        if units.iter().any(|unit| self.form(unit).is_some_and(|form| form == self.refuses)) {
            return Err(Failure::new(Reason::ServerError, "refused"));
        }
        let outcome = self.next();
        if outcome != 1 {
            for unit in units {
                let form = self.form(unit).unwrap();
                self.held.insert(unit.key(), FileHash::of(form.as_bytes()).to_string()[..32].to_owned());
                *self.given.entry(unit.key()).or_default() += 1;
            }
        }
        if outcome == 0 { Ok(()) } else { Err(broken()) }
    }

    fn forget(&mut self, keys: &[&UnitKey]) -> Result<bool, Failure> {
        keys.iter().for_each(|key| drop(self.held.remove(key)));
        Ok(true)
    }
}

fn memory() -> Memory {
    let texts = ["one", "two", "three", "four", "five"];
    memory_of(&[(0..).zip(texts).map(|(at, text)| told(text, MemoryKind::Decision, "s1", at)).collect()])
}

fn round(
    (ledger, target): (&mut dyn Ledger, &mut Scripted),
    units: &[Unit],
    second: i64,
    batches: usize,
) -> DeliveryReport {
    let now = move || Timestamp::from_second(1_800_000_000 + second).unwrap();
    let (mut chance, mut left) = (|| Jitter(0), batches);
    let mut progress = |_, _| {
        left = left.saturating_sub(1);
        left > 0
    };
    let mut deliverer = Deliverer {
        store: "kuzu".parse().unwrap(),
        project: "p",
        holder: "test",
        now: &now,
        chance: &mut chance,
        progress: &mut progress,
    };
    let due: Vec<&Unit> = units.iter().filter(|unit| unit.record.is_some()).collect();
    deliverer.deliver((ledger, target), &due).unwrap()
}

fn lacking(ledger: &mut dyn Ledger, target: &Scripted, units: &[Unit]) -> usize {
    let due: Vec<&Unit> = units.iter().collect();
    let state = state_of(&*ledger.read().unwrap(), (&"kuzu".parse().unwrap(), target), "p", &due).unwrap();
    state.behind.len()
}

#[test]
fn each_is_given_once_and_a_deleted_store_is_filled_again() {
    let (mut ledger, mut target, units) =
        (SqliteLedger::in_memory().unwrap(), Scripted::default(), memory().units().unwrap());
    assert_eq!(lacking(&mut ledger, &target, &units), 5);
    assert_eq!(round((&mut ledger, &mut target), &units, 0, usize::MAX).delivered, 5);
    let again = round((&mut ledger, &mut target), &units, 1, usize::MAX);
    assert_eq!((again.delivered, again.held, lacking(&mut ledger, &target, &units)), (0, 5, 0));
    target.held.clear();
    assert_eq!(round((&mut ledger, &mut target), &units, 2, usize::MAX).delivered, 5);
    // A ledger that was lost gives nothing again.
    assert_eq!(round((&mut SqliteLedger::in_memory().unwrap(), &mut target), &units, 3, usize::MAX).held, 5);
}

#[test]
fn what_is_no_more_is_taken_away() {
    let (mut ledger, mut target) = (SqliteLedger::in_memory().unwrap(), Scripted::default());
    round((&mut ledger, &mut target), &memory().units().unwrap(), 0, usize::MAX);
    let one = told("one", MemoryKind::Decision, "s1", 0);
    let other = told("another", MemoryKind::Decision, "s1", 9);
    let units = memory_of(&[vec![one.clone(), other.clone(), superseded(&one, &other, 10)]]).units().unwrap();
    let report = round((&mut ledger, &mut target), &units, 1, usize::MAX);
    assert_eq!((report.forgotten, report.delivered, target.held.len()), (4, 1, 2));
    assert_eq!(units.iter().find(|unit| !unit.instead_of.is_empty()).unwrap().instead_of, ["one"]);
}

#[test]
fn a_store_that_keeps_failing_is_left_alone_until_a_person_tries_again() {
    let (mut ledger, mut target, units) =
        (SqliteLedger::in_memory().unwrap(), Scripted::default(), memory().units().unwrap());
    target.script = vec![1; 20];
    let reports: Vec<_> =
        (0..10).map(|second| round((&mut ledger, &mut target), &units, second, usize::MAX)).collect();
    assert!(reports[0].failures.len() == 1 && reports[9].failures.is_empty(), "{:?}", reports[9]);
    assert!(reports[9].refused.as_ref().is_some_and(|(_, cause)| cause.detail == "scripted"));
    target.script.clear();
    try_again(&mut ledger, &"kuzu".parse().unwrap()).unwrap();
    assert_eq!(round((&mut ledger, &mut target), &units, 11, usize::MAX).delivered, 5);
}

#[test]
fn rounds_that_fail_behind_a_good_look_open_the_breaker_and_park_nothing() {
    let (mut ledger, mut target, units) =
        (SqliteLedger::in_memory().unwrap(), Scripted::default(), memory().units().unwrap());
    target.script = [1, 0].repeat(20);
    let reports: Vec<_> =
        (0..10).map(|minute| round((&mut ledger, &mut target), &units, minute * 60, usize::MAX)).collect();
    assert!(reports.iter().any(|report| report.refused.is_some()), "{reports:?}");
    target.script.clear();
    assert_eq!(round((&mut ledger, &mut target), &units, 100_000, usize::MAX).delivered, 5);
}

#[test]
fn a_memory_that_is_never_taken_stands_in_the_way_of_no_other() {
    let (mut ledger, mut target, units) = (
        SqliteLedger::in_memory().unwrap(),
        Scripted { refuses: "three", ..Scripted::default() },
        memory().units().unwrap(),
    );
    let first = round((&mut ledger, &mut target), &units, 0, usize::MAX);
    assert_eq!((first.delivered, first.failures.len()), (4, 1), "{first:?}");
    let rounds = (1..20).map(|hour| round((&mut ledger, &mut target), &units, hour * 10_000, usize::MAX));
    assert_eq!(rounds.last().unwrap().postponed, 1, "it is parked");
    let text = format!("the key in\tconfig/{}{}.rs", "AKIA", "IOSFODNN7EXAMPLE");
    let units = memory_of(&[vec![told(&text, MemoryKind::Learning, "s1", 9)]]).units().unwrap();
    assert!(!units.iter().any(|unit| unit.record.is_none() && unit.has_secret()), "{units:?}");
    let report =
        round((&mut SqliteLedger::in_memory().unwrap(), &mut Scripted::default()), &units, 0, usize::MAX);
    assert_eq!((report.withheld, report.delivered), (1, 0));
}

proptest! {
    /// Whatever fails, and wherever a process is killed between two requests, in the end all is there, and
    /// nothing was given twice that the store had.
    #[test]
    fn nothing_is_lost_and_nothing_twice(script in vec(0..3_u8, 0..40), ends in vec(1..4_usize, 0..20)) {
        let (mut ledger, mut target, units) = (SqliteLedger::in_memory().unwrap(), Scripted::default(), memory().units().unwrap());
        target.script = script;
        let mut second = 0;
        for batches in ends {
            second += 40;
            round((&mut ledger, &mut target), &units, second, batches);
        }
        target.script.clear();
        for _ in 0..2 {
            second += 100_000;
            round((&mut ledger, &mut target), &units, second, usize::MAX);
        }
        prop_assert_eq!(target.held.len(), 5);
        prop_assert!(target.given.values().all(|times| *times == 1), "{:?}", target.given);
    }
}
