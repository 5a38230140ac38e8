//! Cases of tickets that come back after they were refused for a cause of the tracker's.

use super::super::scripted::{Fault, World};
use crate::{
    breaker::{Failure, Reason},
    ledger::Ledger as _,
    retry::Delivery,
    ticket::sample::marker,
    tracker::RequestKind::{Create, List, Target, Update},
};

async fn refused(reason: Reason) -> World {
    let world = World::new("", &["a", "b", "c"]);
    world.tracker.content(|content| content.refuses = Some(reason));
    world.sync().await;
    world.take_requests();
    world
}

fn count(world: &World, is_counted: impl Fn(&Delivery) -> bool) -> usize {
    let mut ledger = world.ledger.inner.clone();
    let deliveries = ledger.read().unwrap().deliveries(&world.settings.name).unwrap();
    deliveries.iter().filter(|(_, delivery)| is_counted(delivery)).count()
}

fn parked(world: &World) -> usize {
    count(world, |delivery| matches!(delivery, Delivery::Parked { .. }))
}

#[tokio::test(start_paused = true)]
async fn one_ticket_tries_its_cause_each_hour_and_brings_the_others_back() {
    let world = refused(Reason::Invalid).await;
    assert_eq!(parked(&world), 3);
    for (minutes, expected) in
        [(59, &[][..]), (1, &[(List, 0), (Create, 1)]), (59, &[]), (1, &[(List, 0), (Create, 1)])]
    {
        world.pass(minutes * 60).await;
        world.sync().await;
        assert_eq!(world.take_requests(), expected, "{minutes}");
        assert_eq!(parked(&world), 3);
    }
    world.tracker.content(|content| content.refuses = None);
    world.pass(60 * 60).await;
    let mut report = world.sync().await;
    assert_eq!((report.brought_back, report.is_followed_by_more(), parked(&world)), (2, true, 0));
    report.add(world.sync().await);
    assert!(report.is_complete() && report.entries.len() == 3, "each is told of once: {report:?}");
}

/// Another cause has a trial of its own, and brings only its own tickets back.
#[tokio::test(start_paused = true)]
async fn each_cause_is_tried_by_itself() {
    let world = refused(Reason::Invalid).await;
    let (mut ledger, name) = (world.ledger.inner.clone(), &world.settings.name);
    let mut writer = ledger.write().unwrap();
    let Delivery::Parked { attempts, since, last, digest } = writer.delivery(name, &marker("c")).unwrap()
    else {
        panic!()
    };
    let last = Failure { detail: "another".to_owned(), ..last };
    writer.put_delivery(name, &marker("c"), &Delivery::Parked { attempts, since, last, digest }).unwrap();
    writer.commit().unwrap();
    world.tracker.content(|content| content.refuses = None);
    world.faults(&[Fault::None, Fault::First(Reason::Invalid)]);
    world.pass(60 * 60).await;
    let report = world.sync().await;
    let outcomes: Vec<&str> =
        ["a", "b", "c"].map(|id| report.of(&marker(id)).unwrap().outcome.name()).to_vec();
    assert_eq!((outcomes, report.brought_back), (vec!["failed", "deferred", "done"], 0), "{report:?}");
}

#[tokio::test(start_paused = true)]
async fn another_configuration_or_credential_brings_back_what_was_refused() {
    for reason in [Reason::Invalid, Reason::Forbidden, Reason::Unauthorized] {
        let mut world = refused(reason).await;
        world.tracker.content(|content| content.refuses = None);
        world.pass(60).await;
        world.sync().await;
        assert_eq!(world.take_requests(), [], "{reason:?}: nothing has changed");
        // The same variable, with another token.
        world.tracker.credential = "two";
        assert!(world.sync().await.is_complete(), "{reason:?}");
    }
    for reason in [Reason::Gone, Reason::Unmarked, Reason::Touched] {
        let mut world = refused(reason).await;
        world.tracker.credential = "two";
        world.sync().await;
        assert_eq!(parked(&world), 3, "{reason:?} is a matter of the ticket");
    }
    let mut world = refused(Reason::Invalid).await;
    let of_file = World::at("elsewhere", "");
    world.tracker.content(|content| content.refuses = None);
    world.settings.target = of_file.settings.target;
    assert!(world.sync().await.is_of_another_target && parked(&world) == 0, "it is configured otherwise");
}

#[tokio::test(start_paused = true)]
async fn what_is_out_of_sight_is_not_gone() {
    // What the tracker says of itself, and whether the ticket is taken for gone.
    for (told, is_gone) in [
        (Fault::None, true),
        (Fault::Refused(Reason::Gone), false),
        (Fault::Refused(Reason::Forbidden), false),
        (Fault::Refused(Reason::Unauthorized), false),
        (Fault::Refused(Reason::ServerError), false),
    ] {
        let mut world = World::new("", &["a", "b"]);
        world.sync().await;
        for id in ["a", "b"] {
            world.artifacts.get_mut(id).unwrap().title = "New".to_owned();
        }
        world.take_requests();
        world.faults(&[Fault::Refused(Reason::Gone), told]);
        world.sync().await;
        assert_eq!(world.take_requests(), [(Update, 2), (Target, 0)], "{told:?}: it is asked once");
        assert_eq!(parked(&world), if is_gone { 2 } else { 0 }, "{told:?}");
        world.pass(2 * 60 * 60).await;
        assert_eq!(world.sync().await.is_complete(), !is_gone, "{told:?}");
    }
}
