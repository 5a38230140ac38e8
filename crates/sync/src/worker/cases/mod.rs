//! Cases of workers.

mod interleavings;
mod machines;

use super::{
    ActionOutcome, Deferred, Report,
    scripted::{Fault, World, poll_times},
};
use crate::{
    ErrorKind,
    breaker::{Reason, ScopeKind},
    ledger::{Ledger as _, LedgerReader},
    plan::{ActionKind, Plan, Remark},
    retry::Delivery,
    ticket::sample::marker,
    tracker::RequestKind::{Create, List, Read, Target, Update},
};

fn read<T>(world: &World, question: impl FnOnce(&dyn LedgerReader) -> T) -> T {
    let mut ledger = world.ledger.inner.clone();
    let reader = ledger.read().unwrap();
    question(&*reader)
}

fn outcomes(report: &Report) -> Vec<(&str, &ActionOutcome)> {
    let told = report.entries.iter();
    told.map(|entry| (entry.marker.artifact().as_str().trim_start_matches("id:"), &entry.outcome)).collect()
}

fn is_done(outcome: &ActionOutcome) -> bool {
    matches!(outcome, ActionOutcome::Done { .. })
}

#[tokio::test(start_paused = true)]
async fn tickets_are_made_once_and_then_nothing_is_asked() {
    let world = World::new("", &["a", "b", "c", "d"]);
    let report = world.sync().await;
    assert!(report.is_complete() && report.requests == 5, "{report:?}");
    assert_eq!(
        world.take_requests(),
        [(List, 0), (Create, 3), (List, 0), (Create, 1), (List, 0)],
        "it looks first, and after what it made"
    );
    let report = world.sync().await;
    assert_eq!((report.entries.len(), report.requests, world.take_requests().len()), (0, 0, 0));
    assert!(read(&world, |ledger| ledger.intents(&world.settings.name).unwrap()).is_empty());
    assert!(read(&world, |ledger| ledger.breakers().unwrap()).is_empty());
}

#[tokio::test(start_paused = true)]
async fn many_edits_become_one_update_and_what_is_gone_is_closed() {
    let mut world = World::new("    prune: close\n", &["a", "b"]);
    world.sync().await;
    world.take_requests();
    for title in ["One", "Two"] {
        world.artifacts.get_mut("a").unwrap().title = title.to_owned();
    }
    world.artifacts.remove("b");
    assert!(world.sync().await.is_complete());
    assert_eq!(world.take_requests(), [(Update, 2)]);
    assert_eq!(world.tracker.of("a")[0].1.ticket.title, "Two");
    assert!(!world.tracker.of("b")[0].1.ticket.state.is_open());
    assert_eq!(world.sync().await.requests, 0);
}

#[tokio::test(start_paused = true)]
async fn children_hang_below_parents_that_were_made_in_the_same_run() {
    let mut world = World::new("", &["z"]);
    world.add("a", Some("z"));
    assert!(world.sync().await.is_complete());
    assert_eq!(world.take_requests(), [(List, 0), (Create, 1), (List, 0), (Create, 1), (List, 0)]);
    assert_eq!(world.tracker.of("a")[0].1.parent, Some(world.tracker.of("z")[0].0.to_string()));
}

#[tokio::test(start_paused = true)]
async fn a_child_waits_for_its_parent() {
    let mut world = World::new("", &["z"]);
    world.add("a", Some("z"));
    world.faults(&[Fault::None, Fault::Refused(Reason::Invalid)]);
    let report = world.sync().await;
    let [
        ("z", ActionOutcome::Failed { delivery: Delivery::Parked { .. }, .. }),
        ("a", ActionOutcome::Deferred(held)),
    ] = outcomes(&report)[..]
    else {
        panic!("{report:?}")
    };
    assert_eq!(*held, Deferred::NoParent { parent: marker("z") });
}

#[tokio::test(start_paused = true)]
async fn a_creation_whose_answer_was_lost_is_looked_up_and_not_made_again() {
    for (fault, expected) in [(Fault::LostAfter, 1), (Fault::LostBefore, 0)] {
        let world = World::new("    look_up_wait_seconds: 60\n", &["a"]);
        world.faults(&[Fault::None, fault]);
        let report = world.sync().await;
        assert_eq!(world.tracker.of("a").len(), expected);
        world.take_requests();
        match fault {
            // The list after it shows it, and that it says what it should.
            Fault::LostAfter => {
                assert!(matches!(outcomes(&report)[..], [("a", ActionOutcome::Found { .. })]), "{report:?}")
            }
            _ => {
                assert!(
                    matches!(outcomes(&report)[..], [("a", ActionOutcome::InDoubt { .. })]),
                    "{report:?}"
                );
                assert_eq!(world.plan(None).counts(), [(ActionKind::LookUp, 1)]);
                let report = world.sync().await;
                let held = ActionOutcome::Deferred(Deferred::Unlisted {
                    until: crate::moment::at(1_700_000_060_000),
                });
                assert_eq!(outcomes(&report), [("a", &held)], "it may be on its way");
                world.pass(60).await;
                assert_eq!(outcomes(&world.sync().await), [("a", &ActionOutcome::NotThere)]);
            }
        }
        assert!(world.take_requests().iter().all(|(kind, _)| *kind == List));
        world.pass(10).await;
        assert!(world.sync().await.is_complete());
        assert!(world.plan(None).actions.is_empty());
        assert_eq!(world.tracker.of("a").len(), 1, "one ticket");
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_that_lags_is_waited_for() {
    let mut world = World::new("    look_up_wait_seconds: 60\n", &["a"]);
    world.tracker.lag_ms = 50_000;
    world.faults(&[Fault::None, Fault::LostAfter]);
    world.sync().await;
    let report = world.apply(&world.plan(None), ("a", 120_000)).await.unwrap();
    assert!(matches!(outcomes(&report)[..], [("a", ActionOutcome::Found { .. })]), "{report:?}");
    assert_eq!(world.tracker.of("a").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_change_whose_answer_was_lost_is_made_again() {
    let mut world = World::new("", &["a"]);
    world.sync().await;
    world.artifacts.get_mut("a").unwrap().title = "New".to_owned();
    world.faults(&[Fault::LostAfter]);
    world.sync().await;
    // Back to what is remembered; the ticket says otherwise.
    world.artifacts.get_mut("a").unwrap().title = "Artifact a".to_owned();
    world.faults(&[Fault::Refused(Reason::Conflict)]);
    for _ in 0..2 {
        world.pass(600).await;
        world.sync().await;
    }
    assert_eq!(world.tracker.of("a")[0].1.ticket.title, "Artifact a");
    assert!(world.plan(None).actions.is_empty());
}

#[tokio::test(start_paused = true)]
async fn each_reason_has_its_consequence() {
    for reason in Reason::ALL {
        let world = World::new("    breaker: {failures: 1}\n", &["a"]);
        world.faults(&[Fault::None, Fault::Refused(reason)]);
        let report = world.sync().await;
        let [("a", ActionOutcome::Failed { failure, delivery })] = outcomes(&report)[..] else {
            panic!("{report:?}")
        };
        assert_eq!(failure.reason, reason);
        assert!(world.tracker.of("a").is_empty());
        assert!(read(&world, |ledger| ledger.intents(&world.settings.name).unwrap()).is_empty());
        let open = read(&world, |ledger| ledger.breakers().unwrap());
        let open: Vec<ScopeKind> = open.iter().map(|(scope, _)| scope.kind()).collect();
        let is_parked = matches!(delivery, Delivery::Parked { .. });
        // One ticket of those that were refused for the same cause is tried each hour.
        let comes_back = !is_parked || matches!(reason, Reason::Invalid | Reason::Newer);
        match reason {
            Reason::Gone | Reason::Invalid | Reason::Unmarked | Reason::Touched | Reason::Newer => {
                assert!(is_parked && open.is_empty(), "{reason:?}");
            }
            Reason::Conflict => assert!(!is_parked && open.is_empty()),
            _ => assert_eq!((is_parked, open), (false, vec![reason.consequence().scope]), "{reason:?}"),
        }
        world.take_requests();
        world.pass(1).await;
        let report = world.sync().await;
        if reason == Reason::Conflict {
            continue;
        }
        assert!(
            matches!(outcomes(&report)[..], [("a", ActionOutcome::Deferred(_))]),
            "{reason:?}: {report:?}"
        );
        // That the tracker wants fewer creations says nothing of lists.
        let asked = world.take_requests();
        let is_of_creations = reason == Reason::EndpointLimit && asked == [(List, 0)];
        assert!(asked.is_empty() || is_of_creations, "{reason:?}: nothing is asked meanwhile");
        world.pass(2 * 60 * 60).await;
        let report = world.sync().await;
        assert_eq!(
            report.entries.iter().all(|entry| is_done(&entry.outcome)),
            comes_back,
            "{reason:?}: {report:?}"
        );
        assert!(read(&world, |ledger| ledger.breakers().unwrap()).is_empty(), "it closed: {reason:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn one_bad_ticket_of_a_batch_does_no_harm_to_the_others() {
    let world = World::new("    breaker: {failures: 1}\n", &["a", "b"]);
    world.faults(&[Fault::None, Fault::First(Reason::Invalid)]);
    let report = world.sync().await;
    let told = outcomes(&report);
    assert!(
        matches!(told[0], ("a", ActionOutcome::Failed { .. })) && told[1].0 == "b" && is_done(told[1].1),
        "{told:?}"
    );
    assert!(read(&world, |ledger| ledger.breakers().unwrap()).is_empty());
    // Parked until the artifact changes.
    let ActionOutcome::Deferred(Deferred::Parked { attempts: 1, .. }) = world.sync().await.entries[0].outcome
    else {
        panic!()
    };
}

#[tokio::test(start_paused = true)]
async fn deliveries_are_tried_a_bounded_number_of_times() {
    let world = World::new("    breaker: {failures: 1000}\n    retry: {attempts: 3}\n", &["a"]);
    world.faults(&[
        Fault::None,
        Fault::Refused(Reason::ServerError),
        Fault::None,
        Fault::Refused(Reason::ServerError),
        Fault::None,
        Fault::Refused(Reason::ServerError),
    ]);
    for _ in 0..5 {
        world.sync().await;
        world.pass(600).await;
    }
    assert_eq!(
        world.take_requests(),
        [(List, 0), (Create, 1), (List, 0), (Create, 1), (List, 0), (Create, 1)]
    );
    let parked = read(&world, |ledger| ledger.deliveries(&world.settings.name).unwrap());
    assert!(matches!(&parked[..], [(_, Delivery::Parked { attempts: 3, .. })]), "{parked:?}");
}

#[tokio::test(start_paused = true)]
async fn the_pace_is_kept_and_patience_ends() {
    let keys = "    pace:\n      credential: {write_interval_ms: 1000}\n";
    let mut world = World::new(keys, &["a", "b", "c"]);
    world.tracker.size = 1;
    let begun = tokio::time::Instant::now();
    let report = world.apply(&world.plan(None), ("a", 1500)).await.unwrap();
    let done = report.entries.iter().filter(|entry| is_done(&entry.outcome)).count();
    assert_eq!((done, begun.elapsed().as_millis()), (2, 1000), "{report:?}");
    assert!(matches!(report.entries[2].outcome, ActionOutcome::Deferred(Deferred::TooFast { .. })));
    world.pass(1).await;
    assert!(world.sync().await.is_complete());
}

#[tokio::test(start_paused = true)]
async fn two_never_work_at_once_and_a_lost_lease_writes_nothing() {
    let world = World::new("    look_up_wait_seconds: 10\n", &["a"]);
    let plan = world.plan(None);
    // `a` dies within its request, and keeps the lease.
    let mut first = Box::pin(world.apply(&plan, ("a", 0)));
    while world.tracker.of("a").is_empty() {
        assert!(poll_times(first.as_mut(), 1).await.is_none(), "it ended");
    }
    let held = world.apply(&plan, ("b", 0)).await.unwrap_err();
    assert!(matches!(held.kind, ErrorKind::Held { .. }), "{held}");
    world.pass(61).await;
    let report = world.apply(&world.plan(None), ("b", 0)).await.unwrap();
    assert!(matches!(outcomes(&report)[..], [("a", ActionOutcome::Found { .. })]), "{report:?}");
    // `a` wakes up, and its number is old.
    let fenced = first.await.unwrap_err();
    assert_eq!(fenced.kind, ErrorKind::Fenced, "{fenced}");
    assert!(world.sync().await.is_complete());
    assert_eq!(world.tracker.of("a").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_lost_ledger_adopts_and_reports_duplicates() {
    let mut world = World::new("    duplicates: report\n", &["a", "b"]);
    world.sync().await;
    // Somebody copied a ticket with its marker.
    let copy = world.tracker.of("a")[0].1.clone();
    world.tracker.content(|content| drop(content.tickets.insert(9, copy)));
    world.ledger = Default::default();
    world.add("c", None);
    world.take_requests();
    let report = world.sync().await;
    let found: Vec<_> = report
        .entries
        .iter()
        .filter_map(|entry| match &entry.outcome {
            ActionOutcome::Found { remote, duplicates } => Some((remote.key.as_str(), duplicates.len())),
            _ => None,
        })
        .collect();
    assert_eq!(found, [("#1", 0), ("#2", 0)]);
    let is_copy = |remark: &Remark| matches!(remark, Remark::Copy { remote, .. } if remote.key == "#9");
    assert!(report.remarks.iter().any(is_copy), "{:?}", report.remarks);
    assert!(report.is_followed_by_more() && report.is_complete(), "{report:?}");
    assert!(world.sync().await.is_complete());
    assert_eq!(
        world.take_requests(),
        [(Target, 0), (List, 0), (Create, 1), (List, 0)],
        "what says what it should is not asked for"
    );
    let survey: Vec<_> = world.tracker.content(|content| {
        let seen = content.tickets.iter();
        seen.map(|(number, kept)| crate::ticket::sample::observed(&kept.ticket, *number)).collect()
    });
    let plan = world.plan(Some(&survey));
    assert!(matches!(&plan.remarks[..], [Remark::Duplicates { others, .. }] if others[0].key == "#9"));
    world.settings.duplicates = crate::configuration::Duplicates::Close;
    let plan = world.plan(Some(&survey));
    assert_eq!(plan.counts(), [(ActionKind::CloseDuplicate, 1)]);
    assert!(world.apply(&plan, ("a", 0)).await.unwrap().is_complete());
    assert!(!world.tracker.of("a")[1].1.ticket.state.is_open());
    assert!(world.tracker.of("a")[0].1.ticket.state.is_open() && world.plan(None).actions.is_empty());
}

#[tokio::test(start_paused = true)]
async fn nothing_is_made_where_the_tracker_cannot_be_looked_through() {
    let world = World::new("", &["a"]);
    world.faults(&[Fault::Refused(Reason::ServerError)]);
    let report = world.sync().await;
    assert!(
        matches!(outcomes(&report)[..], [("a", ActionOutcome::Deferred(Deferred::NotListed(_)))]),
        "{report:?}"
    );
    assert!(world.tracker.of("a").is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_old_plan_does_no_harm() {
    let mut world = World::new("", &["a"]);
    let old = world.plan(None);
    world.sync().await;
    let stale = |report: Report| outcomes(&report) == [("a", &ActionOutcome::Deferred(Deferred::Stale))];
    assert!(stale(world.apply(&old, ("a", 0)).await.unwrap()), "no second ticket");
    world.artifacts.get_mut("a").unwrap().title = "New".to_owned();
    let old = world.plan(None);
    world.sync().await;
    assert!(stale(world.apply(&old, ("a", 0)).await.unwrap()));
    assert_eq!(world.tracker.of("a").len(), 1);
    let none = Plan::empty(world.settings.name.clone());
    assert_eq!(world.apply(&none, ("a", 0)).await.unwrap(), Report::default());
}

#[tokio::test(start_paused = true)]
async fn labels_that_a_tracker_drops_are_asked_for_once_more_and_no_longer() {
    let world = World::new("", &["a"]);
    world.faults(&[Fault::None, Fault::NoLabels, Fault::None, Fault::NoLabels]);
    assert!(world.sync().await.is_followed_by_more());
    let report = world.sync().await;
    assert!(
        matches!(&outcomes(&report)[..], [("a", ActionOutcome::Done { missing, .. })] if missing.len() == 1)
    );
    assert_eq!(world.sync().await.requests, 0);
    assert_eq!(world.take_requests(), [(List, 0), (Create, 1), (List, 0), (Update, 1)]);
}

#[tokio::test(start_paused = true)]
async fn a_ticket_that_was_found_after_its_artifact_had_gone_is_closed() {
    let mut world = World::new("    prune: close\n    look_up_wait_seconds: 60\n", &["a", "b"]);
    world.tracker.lag_ms = 50_000;
    world.faults(&[Fault::None, Fault::LostAfter]);
    world.sync().await;
    world.artifacts.remove("a");
    world.pass(60).await;
    world.take_requests();
    world.sync().await;
    assert!(world.sync().await.is_complete());
    // The other one was not begun before the first was seen.
    let asked = [(List, 0), (Create, 1), (List, 0), (Read, 1), (Update, 1)];
    assert_eq!(world.take_requests(), asked, "the other says what it should");
    let closed = &world.tracker.of("a")[0].1.ticket;
    assert!(!closed.state.is_open() && closed.title == "Artifact a");
    assert!(world.plan(None).actions.is_empty());
    // Closed before the ledger was lost: it is left as it is.
    let before = world.tracker.of("a");
    world.ledger = Default::default();
    world.add("c", None);
    for _ in 0..3 {
        world.sync().await;
    }
    let said = |kept: &[(u32, crate::worker::scripted::Kept)]| {
        kept.iter().map(|(number, kept)| (*number, kept.ticket.clone())).collect::<Vec<_>>()
    };
    assert_eq!(said(&world.tracker.of("a")), said(&before));
    assert!(world.plan(None).actions.is_empty());
}
