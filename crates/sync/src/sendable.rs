//! The proof that a run and the work of one plan can be spawned on another thread: this compiles.

use crate::{
    Result,
    ledger::Ledger,
    plan::Plan,
    run::{ChangeListener, RunContext, RunEvent, run},
    worker::{Report, Worker},
};

fn running<'r>(
    context: RunContext<'r>,
    ledger: &'r mut dyn Ledger,
    changes: ChangeListener,
    observe: &'r mut (dyn FnMut(&RunEvent<'_>) + Send),
) -> impl Future<Output = ()> + Send {
    run(context, ledger, changes, observe)
}

fn applying<'w>(worker: &'w mut Worker<'_>, plan: &'w Plan) -> impl Future<Output = Result<Report>> + Send {
    worker.apply(plan)
}

fn surveying(worker: &mut Worker<'_>) -> impl Future + Send {
    worker.survey()
}

#[test]
fn futures_of_runs_and_workers_are_send() {
    let _run = running;
    let _apply = applying;
    let _survey = surveying;
}
