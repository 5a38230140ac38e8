//! Leases over time, with clocks that go wrong.

use std::time::Duration;

use jiff::Timestamp;
use proptest::prelude::*;

use super::*;
use crate::{
    artifact::ProjectPath,
    journal::{Actor, ArtifactKey, Attribution},
};

const MINUTE: Duration = Duration::from_secs(60);

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

fn agent(session: &str) -> Attribution {
    let mut who = Attribution::of(format!("agent:{session}").parse::<Actor>().unwrap());
    who.session = Some(session.parse().unwrap());
    who
}

fn with_fence(mut who: Attribution, fence: u64) -> Attribution {
    who.fence = Some(fence);
    who
}

fn taken(current: Option<&Lease>, who: &Attribution, second: i64) -> Result<AcquiredLease, LeaseRefusal> {
    let path = ProjectPath::new("docs/prd.md").unwrap();
    take(current, (&ArtifactKey::of_path(&path), &path), who, (at(second), MINUTE), Claim::WhenFree)
}

#[test]
fn one_holds_it_until_its_time_is_over() {
    let (a, b) = (agent("a"), agent("b"));
    let first = taken(None, &a, 0).unwrap().lease;
    assert_eq!(first.fence, 1);
    assert!(matches!(taken(Some(&first), &b, 59), Err(LeaseRefusal::Held { fence: 1, .. })));
    let again = taken(Some(&first), &a, 30).unwrap();
    assert_eq!((again.is_renewed, again.lease.fence, again.lease.live(at(89)).is_some()), (true, 1, true));
    let path = ProjectPath::new("docs/prd.md").unwrap();
    let seized =
        take(Some(&first), (&ArtifactKey::of_path(&path), &path), &b, (at(1), MINUTE), Claim::Seize).unwrap();
    assert_eq!((seized.lease.fence, seized.taken_over.unwrap().1), (2, 1));
    let over = taken(Some(&first), &b, 60).unwrap();
    assert_eq!((over.lease.fence, over.taken_over.unwrap().0.session.as_deref()), (2, Some("a")));
    assert_eq!(Lease::read(&over.lease.to_bytes()), Some(over.lease.clone()));

    let free = release(Some(&over.lease), &b).unwrap();
    assert_eq!(Lease::read(&free.to_bytes()), Some(free.clone()));
    assert_eq!((free.fence, free.tenure.is_none()), (2, true));
    let next = taken(Some(&free), &a, 0).unwrap();
    assert_eq!((next.lease.fence, next.taken_over), (3, None), "its number never starts again");
    assert_eq!(release(Some(&free), &b), Err(LeaseRefusal::NotHeld));
    assert_eq!(renew(None, &b, at(0), MINUTE), Err(LeaseRefusal::NotHeld));
}

#[test]
fn numbers_decide_on_commits_and_clocks_do_not() {
    let (a, b) = (agent("a"), agent("b"));
    let first = taken(None, &a, 0).unwrap().lease;
    let second = taken(Some(&first), &b, 60).unwrap().lease;
    for (lease, who, second, is_admitted) in [
        (&first, a.clone(), 10, true),
        (&first, b.clone(), 10, false),
        (&first, b.clone(), 60, true),
        (&first, with_fence(b.clone(), 1), 10, true),
        (&first, with_fence(a.clone(), 1), 1000, true),
        (&second, with_fence(a.clone(), 1), 70, false),
        (&second, with_fence(a.clone(), 1), -1000, false),
        (&second, with_fence(a.clone(), 1), 1000, false),
        (&second, a.clone(), 70, false),
        (&second, with_fence(b.clone(), 2), -1000, true),
        (&second, with_fence(b.clone(), 3), 70, false),
    ] {
        assert_eq!(admits(Some(lease), &who, at(second)).is_ok(), is_admitted, "{who:?} at {second}");
    }
    assert_eq!(admits(None, &with_fence(a, 7), at(0)), Ok(()), "a number of another artifact");
    let refused = renew(Some(&second), &with_fence(agent("a"), 1), at(0), MINUTE);
    assert_eq!(refused, Err(LeaseRefusal::OldNumber { given: 1, current: 2 }));
}

#[test]
fn a_lease_of_a_clock_that_ran_ahead_holds_nobody_up() {
    let (a, b) = (agent("a"), agent("b"));
    let year: i64 = 365 * 24 * 3600;
    for (taken_at, is_held) in [(0, true), (9 * 60, true), (3600, false), (74 * year, false), (-1, true)] {
        let lease = taken(None, &a, taken_at).unwrap().lease;
        assert_eq!(admits(Some(&lease), &b, at(0)).is_err(), is_held, "{taken_at}");
        assert_eq!(taken(Some(&lease), &b, 0).is_err(), is_held, "{taken_at}");
        assert_eq!(admits(Some(&lease), &a, at(0)), Ok(()), "{taken_at}");
        let renewed = renew(Some(&lease), &a, at(0), MINUTE).unwrap();
        assert!(renewed.live(at(59)).is_some() && renewed.live(at(60)).is_none());
    }
    // Whatever a file says of itself, and one of an earlier version, which says nothing.
    let lease = taken(None, &a, 74 * year).unwrap().lease;
    for lasts_seconds in [Some(u64::MAX), None] {
        let tenure = lease.tenure.clone().map(|tenure| LeaseTerm { lasts_seconds, ..tenure });
        let lease = Lease::read(&lease.with_tenure(tenure).to_bytes()).unwrap();
        assert!(lease.live(at(0)).is_none() && lease.live(at(74 * year)).is_some());
    }
}

#[test]
fn times_at_the_ends_of_the_calendar_are_no_failure() {
    let (a, b) = (agent("a"), agent("b"));
    let path = ProjectPath::new("docs/prd.md").unwrap();
    let key = ArtifactKey::of_path(&path);
    for now in [Timestamp::MIN, Timestamp::MAX] {
        for duration in [Duration::ZERO, MINUTE, Duration::MAX] {
            let lease = take(None, (&key, &path), &a, (now, duration), Claim::WhenFree).unwrap().lease;
            let tenure = lease.tenure.as_ref().unwrap();
            assert!(tenure.lasts_seconds.unwrap() <= LONGEST.as_secs());
            let _either = admits(Some(&lease), &b, now);
            assert!(renew(Some(&lease), &a, now, duration).is_ok());
        }
    }
}

#[test]
fn outside_of_sessions_a_name_may_commit_but_not_take_again() {
    let ada = Attribution::of(Actor::human("Ada"));
    let lease = taken(None, &ada, 0).unwrap().lease;
    assert_eq!(admits(Some(&lease), &ada, at(1)), Ok(()));
    assert!(taken(Some(&lease), &ada, 1).is_err(), "another process of hers may be at work");
    assert!(taken(Some(&lease), &with_fence(ada.clone(), 1), 1).unwrap().is_renewed);
    assert!(release(Some(&lease), &ada).is_ok());
    let nobody = Attribution::default();
    let lease = taken(None, &nobody, 0).unwrap().lease;
    assert!(admits(Some(&lease), &nobody, at(1)).is_err());
    assert!(admits(Some(&lease), &with_fence(nobody, 1), at(1)).is_ok());
}

proptest! {
    /// Whatever the clock does: of all who ever held the lease and show their number, one is admitted at
    /// most.
    #[test]
    fn never_two_holders(steps in prop::collection::vec((0_usize..4, -500_i64..500, 0_u8..3), 1..60)) {
        let mut lease: Option<Lease> = None;
        let mut numbers: Vec<(usize, u64)> = Vec::new();
        for (who, second, action) in steps {
            let attribution = agent(&who.to_string());
            match action {
                0 => if let Ok(done) = taken(lease.as_ref(), &attribution, second) {
                    let last = lease.as_ref().map_or(0, |lease| lease.fence);
                    prop_assert!(done.lease.fence == last + 1 || done.is_renewed && done.lease.fence == last);
                    numbers.push((who, done.lease.fence));
                    lease = Some(done.lease);
                },
                1 => if let Ok(done) = release(lease.as_ref(), &attribution) { lease = Some(done) },
                _ => if let Ok(done) = renew(lease.as_ref(), &attribution, at(second), MINUTE) { lease = Some(done) },
            }
            let admitted: std::collections::HashSet<usize> = numbers
                .iter()
                .filter(|(who, number)| admits(lease.as_ref(), &with_fence(agent(&who.to_string()), *number), at(second)).is_ok())
                .map(|(who, _)| *who)
                .collect();
            prop_assert!(admitted.len() <= 1, "{admitted:?}");
        }
    }
}
