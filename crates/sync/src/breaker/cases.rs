//! The law of breakers, as tables and as properties.

use jiff::Timestamp;
use proptest::{collection::vec, prelude::*};

use super::{
    Admission, Breaker, BreakerSettings, Circuit, Failure, Reason, Retry, Route, RouteAdmission, Scope,
    ScopeKind, Trip,
};
use crate::{moment, ticket::sample::marker};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + seconds).unwrap()
}

fn failure(reason: Reason) -> Failure {
    Failure::new(reason, "said so")
}

fn until(reason: Reason, seconds: i64) -> Failure {
    Failure { wait_until: Some(at(seconds)), ..failure(reason) }
}

const SETTINGS: BreakerSettings = BreakerSettings {
    failures: 3,
    window_seconds: 60,
    wait_seconds: 30,
    longest_wait_seconds: 600,
    person_wait_seconds: 3600,
    probes: 1,
    successes: 1,
    probe_seconds: 20,
};

fn open_until(breaker: &Breaker) -> Option<i64> {
    match breaker {
        Breaker::Open(outage) => Some(outage.until.as_second() - at(0).as_second()),
        _ => None,
    }
}

#[test]
fn the_reason_decides_scope_trip_and_retry() {
    use Reason::*;
    for (reasons, scope, trip, retry) in [
        (
            &[Unreachable, Timeout, ServerError, Unreadable][..],
            ScopeKind::Host,
            Trip::Counted,
            Retry::Counted,
        ),
        (&[Unauthorized, Forbidden], ScopeKind::Credential, Trip::NeedsPerson, Retry::Postponed),
        (&[PrimaryLimit, SecondaryLimit], ScopeKind::Credential, Trip::AtOnce, Retry::Postponed),
        (&[Quota], ScopeKind::Host, Trip::AtOnce, Retry::Postponed),
        (&[EndpointLimit], ScopeKind::Endpoint, Trip::AtOnce, Retry::Postponed),
        (&[TicketLimit], ScopeKind::Ticket, Trip::AtOnce, Retry::Postponed),
        (&[Conflict], ScopeKind::Ticket, Trip::Never, Retry::Counted),
        (&[Gone, Invalid], ScopeKind::Ticket, Trip::Never, Retry::Parked),
    ] {
        for reason in reasons {
            let consequence = reason.consequence();
            assert_eq!(
                (consequence.scope, consequence.trip, consequence.retry),
                (scope, trip, retry),
                "{reason:?}"
            );
            let needs_person = trip == Trip::NeedsPerson || retry == Retry::Parked;
            assert_eq!(reason.remedy().is_some(), needs_person, "{reason:?}");
        }
    }
}

#[test]
fn opens_after_failures_in_a_row() {
    let fail =
        |breaker: Breaker, second| breaker.failed(&failure(Reason::ServerError), at(second), &SETTINGS);
    let twice = fail(fail(Breaker::default(), 0), 1);
    assert_eq!(open_until(&twice), None);
    assert_eq!(open_until(&fail(twice.clone(), 2)), Some(32));
    assert_eq!(open_until(&fail(fail(twice.clone().succeeded(&SETTINGS), 2), 3)), None, "a success between");
    assert_eq!(open_until(&fail(twice, 62)), None, "the others are too long ago");
}

#[test]
fn opens_for_as_long_as_the_reason_asks() {
    for (failure, expected) in [
        (failure(Reason::Unauthorized), Some(3600)),
        (failure(Reason::SecondaryLimit), Some(60)),
        (until(Reason::SecondaryLimit, 7), Some(7)),
        (until(Reason::PrimaryLimit, 500), Some(500)),
        (until(Reason::PrimaryLimit, 5000), Some(600)),
        (until(Reason::PrimaryLimit, -5), Some(0)),
        (until(Reason::ServerError, 45), Some(45)),
        (until(Reason::ServerError, 5), Some(30)),
        (failure(Reason::Quota), Some(30)),
        (failure(Reason::ServerError), None),
        (failure(Reason::Invalid), None),
    ] {
        let breaker = Breaker::default().failed(&failure, at(0), &SETTINGS);
        assert_eq!(open_until(&breaker), expected, "{failure:?}");
    }
}

#[test]
fn many_failures_are_one_outage() {
    let first = Breaker::default().failed(&until(Reason::SecondaryLimit, 60), at(0), &SETTINGS);
    let again = first.clone().failed(&failure(Reason::SecondaryLimit), at(1), &SETTINGS);
    assert_eq!(again, first);
    assert_eq!(open_until(&again.failed(&until(Reason::SecondaryLimit, 90), at(2), &SETTINGS)), Some(90));
    assert_eq!(first.clone().succeeded(&SETTINGS), first, "a request from before it opened");
}

#[test]
fn one_probe_decides_and_waits_grow() {
    let mut breaker = Breaker::default().failed(&failure(Reason::Quota), at(0), &SETTINGS);
    let mut now = 0;
    for wait in [30, 60, 120, 240, 480, 600, 600] {
        let (still, refused) = breaker.admit(at(now + wait - 1), &SETTINGS);
        assert!(
            matches!(refused, Admission::Refused { until, .. } if until == at(now + wait)),
            "{refused:?}"
        );
        now += wait;
        let (half, probe) = still.admit(at(now), &SETTINGS);
        assert_eq!(probe, Admission::Probe);
        let (half, refused) = half.admit(at(now), &SETTINGS);
        assert!(
            matches!(refused, Admission::Refused { until, .. } if until == at(now + 20)),
            "one at a time"
        );
        breaker = half.failed(&failure(Reason::Quota), at(now), &SETTINGS);
    }
    let (half, _) = breaker.admit(at(now + 600), &SETTINGS);
    assert!(half.succeeded(&SETTINGS).is_pristine());
}

#[test]
fn a_probe_whose_process_died_is_forgotten() {
    let open = Breaker::default().failed(&failure(Reason::Quota), at(0), &SETTINGS);
    let (half, _) = open.admit(at(30), &SETTINGS);
    assert_eq!(half.clone().admit(at(50), &SETTINGS).1, Admission::Probe);
    assert_eq!(half.released().admit(at(31), &SETTINGS).1, Admission::Probe);
}

#[test]
fn a_clock_that_was_set_back_does_not_close_the_way_for_ever() {
    let open = Breaker::default().failed(&failure(Reason::Quota), at(100_000), &SETTINGS);
    // A little: it may be the clock of another process.
    let refused = open.clone().admit(at(99_950), &SETTINGS).1;
    assert!(matches!(refused, Admission::Refused { until, .. } if until == at(100_030)), "{refused:?}");
    let (half, probe) = open.admit(at(0), &SETTINGS);
    assert_eq!(probe, Admission::Probe, "nobody knows how long it has been open");
    assert_eq!(half.admit(at(-1_000), &SETTINGS).1, Admission::Probe);
}

fn route(id: &str) -> Route {
    Route {
        host: "h".to_owned(),
        credential: "env TOKEN".to_owned(),
        endpoint: "PATCH /issues".to_owned(),
        tickets: vec![("gh".parse().unwrap(), marker(id))],
    }
}

fn circuit(open: &[(Scope, Breaker)]) -> Circuit {
    let find = |scope: &Scope| {
        Ok::<_, ()>(open.iter().find(|(own, _)| own == scope).map(|(_, breaker)| breaker.clone()))
    };
    Circuit::load(&route("a"), find).unwrap()
}

#[test]
fn a_failure_trips_its_own_scope_and_no_other() {
    for (reason, expected) in [
        (Reason::Quota, "host:h"),
        (Reason::Forbidden, "credential:h env TOKEN"),
        (Reason::EndpointLimit, "endpoint:h PATCH /issues"),
        (Reason::TicketLimit, "ticket:gh p/id:a"),
    ] {
        let mut circuit = circuit(&[]);
        circuit.failed(&failure(reason), at(0), &SETTINGS);
        let open = circuit.breakers().filter(|(_, breaker)| breaker.outage().is_some());
        assert_eq!(open.map(|(scope, _)| scope.to_string()).collect::<Vec<_>>(), [expected]);
        let refused = circuit.admit(at(1), &SETTINGS);
        assert!(matches!(&refused, RouteAdmission::Refused { scope, .. } if scope.to_string() == expected));
    }
}

#[test]
fn an_answer_shows_that_the_host_is_well() {
    let mut circuit = circuit(&[]);
    for _ in 0..2 {
        circuit.failed(&failure(Reason::Timeout), at(0), &SETTINGS);
    }
    circuit.failed(&failure(Reason::Invalid), at(0), &SETTINGS);
    assert!(circuit.breakers().all(|(_, breaker)| breaker.is_pristine()), "{circuit:?}");
}

#[test]
fn no_probe_is_spent_where_another_breaker_refuses() {
    let open = |reason, second| Breaker::default().failed(&failure(reason), at(second), &SETTINGS);
    let [host, credential, ..] = route("a").scopes().try_into().map(|scopes: [Scope; 4]| scopes).unwrap();
    let mut circuit = circuit(&[(host, open(Reason::Quota, 0)), (credential, open(Reason::Forbidden, 0))]);
    let before = circuit.clone();
    assert!(
        matches!(circuit.admit(at(40), &SETTINGS), RouteAdmission::Refused { until, .. } if until == at(3600))
    );
    assert_eq!(circuit, before);
}

#[derive(Clone, Debug)]
enum Event {
    Ask,
    Succeed,
    Fail(usize, Option<i64>),
    Release,
}

fn events() -> impl Strategy<Value = Vec<(i64, Event)>> {
    let event = prop_oneof![
        3 => Just(Event::Ask),
        1 => Just(Event::Succeed),
        3 => (0..Reason::ALL.len(), proptest::option::of(-100_i64..10_000)).prop_map(|(at, wait)| Event::Fail(at, wait)),
        1 => Just(Event::Release),
    ];
    vec((0_i64..200, event), 0..60)
}

proptest! {
    /// Whatever happens: nothing passes while it is open, never more probes than allowed, no wait longer than
    /// allowed, what is stored is read as it was, and it closes when the tracker is well again.
    #[test]
    fn holds_whatever_happens(events in events(), probes in 1_u32..4, successes in 1_u32..4) {
        let settings = BreakerSettings { probes, successes, ..SETTINGS };
        let (mut breaker, mut now) = (Breaker::default(), 0);
        for (pause, event) in events {
            now += pause;
            breaker = match event {
                Event::Ask => {
                    let was = breaker.clone();
                    let (next, admission) = breaker.admit(at(now), &settings);
                    match (&was, &admission) {
                        (Breaker::Closed { .. }, admission) => prop_assert_eq!(admission, &Admission::Pass),
                        (Breaker::Open(outage), Admission::Probe) => prop_assert!(at(now) >= outage.until),
                        (_, Admission::Refused { until, .. }) => prop_assert!(*until > at(now)),
                        (was, admission) => prop_assert_eq!(admission, &Admission::Probe, "{:?}", was),
                    }
                    next
                }
                Event::Succeed => breaker.succeeded(&settings),
                Event::Release => breaker.released(),
                Event::Fail(reason, wait) => {
                    let wait_until = wait.map(|wait| at(now + wait));
                    breaker.failed(&Failure { wait_until, ..failure(Reason::ALL[reason]) }, at(now), &settings)
                }
            };
            if let Breaker::HalfOpen { probes, .. } = &breaker {
                prop_assert!(probes.len() <= settings.probes as usize);
            }
            if let Some(outage) = breaker.outage() {
                prop_assert!(moment::between(at(now), outage.until) <= 3_600_000);
            }
            let stored = serde_json::to_string(&breaker).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Breaker>(&stored).unwrap(), &breaker);
        }
        for _ in 0..=successes {
            now += 3600;
            breaker = breaker.admit(at(now), &settings).0.succeeded(&settings);
        }
        prop_assert!(breaker.is_pristine(), "{:?}", breaker);
    }
}

/// From the return of a server until its breaker is closed again, where requests are wanted every second:
/// seconds after outages of so many seconds, with the default settings. docs/benchmarks.md names them.
#[test]
fn a_breaker_closes_soon_after_its_server_is_back() {
    let settings = BreakerSettings::default();
    for (outage, recovery) in [(5, 29), (60, 34), (600, 334), (3600, 214)] {
        let mut breaker = Breaker::default();
        let mut second = 0;
        loop {
            let (next, admission) = breaker.admit(at(second), &settings);
            breaker = match admission {
                Admission::Refused { .. } => next,
                _ if second < outage => next.failed(&failure(Reason::ServerError), at(second), &settings),
                _ => next.succeeded(&settings),
            };
            if second >= outage && breaker.is_pristine() {
                break;
            }
            second += 1;
        }
        assert_eq!(second - outage, recovery, "after {outage} s");
        assert!(
            recovery <= outage + i64::from(settings.wait_seconds),
            "never longer than the outage and a wait"
        );
    }
}
