//! The law of retries.

use jiff::Timestamp;
use proptest::{collection::vec, prelude::*};

use super::{Delivery, Jitter, RetrySettings};
use crate::{
    breaker::{Failure, Reason},
    moment,
    ticket::{TicketDigest, sample::ticket},
};

const SETTINGS: RetrySettings = RetrySettings { attempts: 4, wait_ms: 1000, longest_wait_seconds: 3 };

fn now() -> Timestamp {
    Timestamp::from_second(1_700_000_000).unwrap()
}

fn digest(id: &str) -> TicketDigest {
    ticket(id, |_| {}).digest()
}

fn fail(delivery: Delivery, reason: Reason, draw: u64) -> Delivery {
    delivery.failed(Failure::new(reason, ""), digest("a"), now(), Jitter(draw), &SETTINGS)
}

#[test]
fn waits_double_up_to_a_bound_and_end() {
    let mut delivery = Delivery::Due;
    for (attempts, wait) in [(1, 1000), (2, 2000), (3, 3000)] {
        delivery = fail(delivery, Reason::ServerError, u64::MAX);
        assert_eq!(delivery.attempts(), attempts);
        assert_eq!(delivery.until(), Some(moment::after(now(), wait)));
        assert!(!delivery.is_due(digest("a"), now()));
        assert!(delivery.is_due(digest("a"), moment::after(now(), wait)));
    }
    let parked = fail(delivery, Reason::Timeout, 0);
    assert!(matches!(&parked, Delivery::Parked { attempts: 4, last, .. } if last.reason == Reason::Timeout));
    assert!(!parked.is_due(digest("a"), Timestamp::MAX));
}

#[test]
fn probes_of_an_outage_do_not_count() {
    let mut delivery = fail(Delivery::Due, Reason::Unreachable, 0);
    for _ in 0..100 {
        delivery = delivery.postponed(Failure::new(Reason::Unreachable, ""), now());
        assert_eq!((delivery.attempts(), delivery.until()), (1, Some(now())));
    }
}

#[test]
fn what_is_not_its_fault_does_not_count() {
    let mut delivery = fail(Delivery::Due, Reason::ServerError, 0);
    for reason in [Reason::PrimaryLimit, Reason::Forbidden, Reason::Quota, Reason::TicketLimit] {
        delivery = fail(delivery, reason, u64::MAX);
        assert_eq!((delivery.attempts(), delivery.until()), (1, Some(now())), "{reason:?}");
    }
}

#[test]
fn what_was_refused_is_tried_again_when_it_has_changed() {
    for (reason, is_due) in [(Reason::Invalid, true), (Reason::Gone, false)] {
        let parked = fail(Delivery::Due, reason, 0);
        assert!(!parked.is_due(digest("a"), Timestamp::MAX), "{reason:?}");
        assert_eq!(parked.is_due(digest("b"), now()), is_due, "{reason:?}");
    }
    let parked = (0..4).fold(Delivery::Due, |delivery, _| fail(delivery, Reason::Conflict, 0));
    let changed = parked.failed(Failure::new(Reason::Conflict, ""), digest("b"), now(), Jitter(0), &SETTINGS);
    assert_eq!(changed.attempts(), 1);
}

#[test]
fn the_tracker_s_word_is_obeyed() {
    for (reason, wait, expected) in [
        (Reason::ServerError, 2_000, 2_000),
        (Reason::PrimaryLimit, 2_000, 2_000),
        (Reason::PrimaryLimit, u64::MAX, 86_400_000),
    ] {
        let failure = Failure { wait_until: Some(moment::after(now(), wait)), ..Failure::new(reason, "") };
        let delivery = Delivery::Due.failed(failure, digest("a"), now(), Jitter(0), &SETTINGS);
        assert_eq!(delivery.until(), Some(moment::after(now(), expected)));
    }
}

proptest! {
    /// Whatever fails, it is either tried again within bounds or parked after the allowed attempts, and stays
    /// as it was when stored.
    #[test]
    fn ends_within_bounds(events in vec((0..Reason::ALL.len(), any::<u64>(), proptest::option::of(0_u64..100_000)), 1..40)) {
        let mut delivery = Delivery::Due;
        for (reason, draw, wait) in events {
            let wait_until = wait.map(|wait| moment::after(now(), wait));
            let failure = Failure { wait_until, ..Failure::new(Reason::ALL[reason], "x") };
            delivery = delivery.failed(failure, digest("a"), now(), Jitter(draw), &SETTINGS);
            match &delivery {
                Delivery::Waiting { attempts, until, .. } => {
                    prop_assert!(*attempts < SETTINGS.attempts);
                    let waits = moment::between(now(), *until);
                    prop_assert!(waits <= wait.unwrap_or(0).max(3000) && waits >= wait.unwrap_or(0));
                }
                Delivery::Parked { .. } => break,
                Delivery::Due => prop_assert!(false, "a failure is never forgotten"),
            }
            let stored = serde_json::to_string(&delivery).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Delivery>(&stored).unwrap(), &delivery);
        }
    }
}
