//! The proof that a run and the work of one plan can be spawned on another thread, for every ledger, tracker and clock: this compiles.

use crate::{
    ledger::{Ledger, MemoryLedger},
    plan::Plan,
    run::{ChangeListener, Crew, RunEvent, run},
    tracker::{DryTracker, Tracker},
    worker::{ApplyError, Report, WallClock, Worker, WorkerClock},
};

fn running<'r, L: Ledger, T: Tracker, C: WorkerClock>(
    crew: Crew<'r, L, T, C>,
    ledger: &'r mut L,
    changes: ChangeListener,
    observe: &'r mut (dyn FnMut(&RunEvent<'_>) + Send),
) -> impl Future<Output = ()> + Send {
    run(crew, ledger, changes, observe)
}

fn applying<'w, L: Ledger, T: Tracker, C: WorkerClock>(
    worker: &'w mut Worker<'_, L, T, C>,
    plan: &'w Plan,
) -> impl Future<Output = Result<Report, ApplyError>> + Send {
    worker.apply(plan)
}

fn surveying<L: Ledger, T: Tracker, C: WorkerClock>(worker: &mut Worker<'_, L, T, C>) -> impl Future + Send {
    worker.survey()
}

#[test]
fn futures_of_runs_and_workers_are_send() {
    let _run = running::<MemoryLedger, DryTracker, WallClock>;
    let _apply = applying::<MemoryLedger, DryTracker, WallClock>;
    let _survey = surveying::<MemoryLedger, DryTracker, WallClock>;
}
