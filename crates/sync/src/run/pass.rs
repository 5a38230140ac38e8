//! One look at everything, and what follows from it.

use std::{collections::BTreeMap, error::Error};

use super::RunContext;
use crate::{
    plan::{Action, Plan, PlanInputs, Remark},
    retry::Chance,
    ticket::Marker,
    worker::{ApplyError, Report, Worker, WorkerSettings, wants_look},
};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pass {
    pub report: Report,
    pub remarks: Vec<Remark>,
    /// The number of tickets that said what they should.
    pub unchanged: usize,
    pub names: BTreeMap<Marker, String>,
}

#[derive(Debug, thiserror::Error)]
pub enum PassError {
    #[error("the artifacts cannot be read")]
    Artifacts(#[source] Box<dyn Error + Send + Sync>),
    #[error(transparent)]
    Apply(#[from] ApplyError),
}

/// Returns what people know an artifact by: its path and title, or the title alone where it is gone.
fn name(action: &Action) -> String {
    let title = action.ticket.as_ref().map(|ticket| ticket.title.as_str());
    match (&action.path, title) {
        (Some(path), Some(title)) => format!("{path} ({title})"),
        (Some(path), None) => path.to_string(),
        (None, Some(title)) => title.to_owned(),
        (None, None) => action.marker.to_string(),
    }
}

/// The number of plans that are made for one pass: what belongs to another target is set aside, what is found
/// is updated, and what was not there is created, by the next one.
const ROUNDS: usize = 5;

impl RunContext<'_> {
    /// Reads the artifacts, plans, and carries it out, until another plan would do no more. Where nothing is
    /// to be done, nothing is written.
    pub(super) async fn pass(&mut self) -> Result<Pass, PassError> {
        let mut pass = Pass::default();
        for round in 0..ROUNDS {
            let (plan, wants_look) = self.plan(&mut pass)?;
            pass.unchanged = plan.unchanged;
            pass.remarks.clone_from(&plan.remarks);
            pass.names.extend(plan.actions.iter().map(|action| (action.marker.clone(), name(action))));
            if self.stop.is_asked() || round == 0 && plan.actions.is_empty() && !wants_look {
                break;
            }
            let done = self.execute(&plan).await?;
            let goes_on = done.is_followed_by_more();
            pass.report.requests += done.requests;
            pass.report.listing_due = done.listing_due;
            if !goes_on || round + 1 == ROUNDS {
                pass.report.entries.extend(done.entries);
                break;
            }
            // What the next round takes up again is not a thing that waits.
            pass.report.entries.extend(done.entries);
        }
        Ok(pass)
    }

    /// Returns what is to be done, and whether the tracker is to be asked even where that is nothing: a
    /// request was begun of which nobody knows how it ended, or its tickets are to be listed.
    fn plan(&mut self, pass: &mut Pass) -> Result<(Plan, bool), PassError> {
        let snapshot = (self.snapshot)().map_err(PassError::Artifacts)?;
        let (settings, now) = (self.settings, self.clock.now());
        let ledger = self.ledger.read().map_err(ApplyError::from)?;
        let grounds = PlanInputs { snapshot: &snapshot, settings, ledger: &*ledger, survey: None };
        let plan = Plan::make(&grounds).map_err(ApplyError::from)?;
        let record = ledger.record(&settings.name).map_err(ApplyError::from)?;
        pass.report.listing_due = record.listing_due(settings.look_up_wait_ms(), now);
        Ok((plan, wants_look(&*ledger, settings, now).map_err(ApplyError::from)?))
    }

    async fn execute(&mut self, plan: &Plan) -> Result<Report, ApplyError> {
        let mut draw = || (self.draw)();
        let who = (self.holder, &mut draw as &mut Chance<'_>);
        let worker =
            Worker::new(&mut *self.ledger, (self.tracker, self.settings), self.clock, self.project, who);
        let patience_ms = u64::from(self.settings.run.patience_seconds) * 1000;
        // As long as a request may be under way, and then as long as another process waits anyway.
        let lease_ms = self.settings.look_up_wait_ms() + self.settings.run.lease_ms();
        let work = WorkerSettings { lease_ms, patience_ms };
        worker.with(work).heeding(self.stop.clone()).apply(plan).await
    }
}
