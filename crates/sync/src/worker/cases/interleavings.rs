//! Whatever happens in whatever order, in the end every artifact has one ticket that says what it should.

use proptest::prelude::*;

use crate::worker::scripted::{Fault, World, poll_times};
use crate::{breaker::Reason, ledger::Ledger as _, retry::Delivery};

#[derive(Clone, Debug)]
enum Step {
    /// The artifact gets another title, or is there again.
    Edit(u8, u8),
    Remove(u8),
    Pass(u16),
    /// A worker begins; it dies after so many polls, and so many transactions of it go well.
    Work {
        faults: Vec<Fault>,
        polls: usize,
        good: Option<u32>,
    },
}

fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        3 => Just(Fault::None),
        2 => Just(Fault::LostBefore),
        2 => Just(Fault::LostAfter),
        1 => Just(Fault::NoLabels),
        2 => prop::sample::select(Reason::ALL.to_vec()).prop_map(Fault::Refused),
        1 => prop::sample::select(Reason::ALL.to_vec()).prop_map(Fault::First),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let faults = prop::collection::vec(fault(), 0..5);
    let work = (faults, 1_usize..30, prop::option::of(0_u32..12));
    prop_oneof![
        3 => (0_u8..5, 0_u8..3).prop_map(|(id, title)| Step::Edit(id, title)),
        1 => (0_u8..5).prop_map(Step::Remove),
        2 => (1_u16..4000).prop_map(Step::Pass),
        4 => work.prop_map(|(faults, polls, good)| Step::Work { faults, polls, good }),
    ]
}

/// A child of `a0` stands beside its parent.
fn edit(world: &mut World, id: u8, title: u8) {
    let name = format!("a{id}");
    world.add(&name, (id == 3).then_some("a0"));
    world.artifacts.get_mut(&name).unwrap().title = format!("Title {title}");
}

async fn take(world: &mut World, worker: usize, step: Step) {
    match step {
        Step::Edit(id, title) => edit(world, id, title),
        Step::Remove(id) => drop(world.artifacts.remove(&format!("a{id}"))),
        Step::Pass(seconds) => world.pass(seconds.into()).await,
        Step::Work { faults, polls, good } => {
            world.faults(&faults);
            *world.ledger.good.lock().unwrap() = good;
            let (plan, holder) = (world.plan(None), format!("w{worker}"));
            let work = Box::pin(world.apply(&plan, (&holder, 0)));
            let mut work = work;
            // That it failed or died is what is tried here.
            let _outcome = poll_times(work.as_mut(), polls).await;
            drop(work);
            world.faults(&[]);
            *world.ledger.good.lock().unwrap() = None;
        }
    }
}

/// Without faults from now on; what is parked is given another try, and many that are gone are closed, as a
/// person would say.
async fn heal(world: &mut World) {
    world.settings.prunes_many = true;
    for _ in 0..40 {
        world.pass(2 * 60 * 60).await;
        let mut ledger = world.ledger.inner.clone();
        let name = &world.settings.name;
        let deliveries = ledger.read().unwrap().deliveries(name).unwrap();
        for (marker, delivery) in deliveries {
            if let Delivery::Parked { digest, .. } = delivery {
                let (of, now) =
                    ((name, &[(marker, digest)][..]), crate::worker::WorkerClock::now(&world.clock));
                crate::worker::retry(&mut ledger, of, crate::worker::LostLink::Forgotten, "person", now)
                    .unwrap();
            }
        }
        let plan = world.plan(None);
        let is_settled = ledger.read().unwrap().intents(name).unwrap().is_empty();
        if plan.actions.is_empty() && is_settled {
            return;
        }
        world.apply(&plan, ("healer", 0)).await.unwrap();
    }
    panic!("it does not converge: {:?}", world.plan(None).actions);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn everything_converges_without_duplicates(steps in prop::collection::vec(step(), 1..25)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.unwrap().block_on(async {
            let keys = "    prune: close\n    look_up_wait_seconds: 60\n    breaker: {failures: 2}\n";
            let mut world = World::new(keys, &["a0"]);
            for (worker, step) in steps.into_iter().enumerate() {
                take(&mut world, worker, step).await;
            }
            heal(&mut world).await;
            for id in 0..5 {
                let name = format!("a{id}");
                let tickets = world.tracker.of(&name);
                match world.artifacts.get(&name) {
                    Some(artifact) => {
                        assert_eq!(tickets.len(), 1, "{name}");
                        assert_eq!(tickets[0].1.ticket.title, artifact.title);
                        assert!(tickets[0].1.ticket.state.is_open());
                    }
                    None => assert!(tickets.len() <= 1 && tickets.iter().all(|(_, kept)| !kept.ticket.state.is_open())),
                }
            }
        });
    }
}
