//! `stepmark sync apply`

use std::path::PathBuf;

use clap::Args;
use jiff::SignedDuration;
use stepmark_sync::{
    ledger::{Intent, IntentAction, SqliteLedger},
    plan::{ActionKind, Plan, Stale},
    tracker::Tracker,
    worker::{Report, wants_look},
};

use super::{
    SyncContext, plan,
    plan::{Subjects, subjects},
    plan_file, report,
};
use crate::{
    exit::{Exit, Failure},
    output::{Output, spinner, with_progress},
};

/// Carry out the plan; where there is nothing to do, the tracker is not asked
///
/// With FILE exactly that plan is carried out, or nothing, and the difference to today's plan is shown (3).
/// What a tracker refuses is tried again by a later call; ends with 5 where the tracker cannot be used now,
/// and with 1 where something else is left.
#[derive(Debug, Args)]
pub(super) struct Apply {
    /// A plan that `stepmark sync plan --out` wrote
    file: Option<PathBuf>,
    /// Look through the tracker first, so that what people changed is written again
    #[arg(long, conflicts_with = "file")]
    survey: bool,
    /// Close the tickets of artifacts that are gone, however many they are
    #[arg(long)]
    pub(super) yes: bool,
}

/// Plans of one call: the next one updates what was found and creates what was not there.
const ROUNDS: usize = 5;

impl Apply {
    pub(super) fn run(&self, context: &SyncContext<'_>, output: &Output) -> Result<Exit, Failure> {
        if let Some(file) = &self.file {
            let plan = plan_file::read(file)?;
            let mut ledger = context.ledger()?;
            let tracker = context.tracker(Some(output))?;
            // Equal, but the new plan knows the checkout.
            let plan = confirmed(context, &plan, &mut ledger, &*tracker)?;
            let done = of_this_target(execute(context, &plan, &mut ledger, &*tracker, output)?)?;
            let applied = Applied { report: done, subjects: subjects(&plan) };
            return Ok(applied.show(context, output));
        }
        Ok(until_settled(context, self.survey, output)?.show(context, output))
    }
}

#[derive(Default)]
struct Applied {
    report: Report,
    subjects: Subjects,
}

impl Applied {
    /// Artifacts that no ticket can follow change the exit code, too.
    fn show(&self, context: &SyncContext<'_>, output: &Output) -> Exit {
        let exit = report::show(context, &self.report, &self.subjects, output);
        plan::warn(&self.subjects.remarks, output);
        if exit == Exit::Fine && !plan::problems(&self.subjects.remarks).is_empty() {
            Exit::Findings
        } else {
            exit
        }
    }
}

/// Plans and applies until another plan would do no more. Opens no tracker if there is nothing to do.
fn until_settled(context: &SyncContext<'_>, survey: bool, output: &Output) -> Result<Applied, Failure> {
    let mut all = Applied::default();
    let mut known_before = context.ledger_to_read()?;
    tell_wait(context, &known_before.read()?.intents(&context.settings.name)?, output);
    let wants_look = wants_look(&*known_before.read()?, &context.settings, context.clock.now())?;
    let plan = context.plan(&mut *known_before)?;
    all.subjects.add(&plan);
    if !survey && !wants_look && plan.actions.is_empty() {
        return Ok(all);
    }
    let (mut ledger, tracker) = (context.ledger()?, context.tracker(Some(output))?);
    for round in 0..ROUNDS {
        let plan = if survey && round == 0 {
            let tickets = context.survey(&mut ledger, &*tracker)?;
            context.plan_with(&mut ledger, Some((&*tracker, &tickets)))?
        } else {
            context.plan(&mut ledger)?
        };
        all.subjects.add(&plan);
        let done = execute(context, &plan, &mut ledger, &*tracker, output)?;
        let goes_on = done.is_followed_by_more();
        all.report.add(done);
        if !goes_on || context.stop.is_asked() {
            break;
        }
    }
    Ok(all)
}

/// Without this line it would seem to hang: the outcome of a dead process is certain only after a while.
fn tell_wait(context: &SyncContext<'_>, in_doubt: &[Intent], output: &Output) {
    let creations = in_doubt.iter().filter(|intent| intent.action == IntentAction::Create);
    let wait = SignedDuration::from_secs(context.settings.look_up_wait_seconds.into());
    let certain_at =
        creations.map(|intent| intent.begun_at.saturating_add(wait).unwrap_or(intent.begun_at)).max();
    if let Some(until) = certain_at.filter(|until| context.clock.now() < *until) {
        output.warning(format_args!(
            "nobody knows whether what was begun last was done; it is looked up, which may take until {until:.0}"
        ));
    }
}

/// Refuses a plan made for another repository or project; the ledger is right by then.
pub(super) fn of_this_target(done: Report) -> Result<Report, Failure> {
    if !done.is_of_another_target {
        return Ok(done);
    }
    let message =
        "the configuration names another repository or project than that of the tickets; nothing was done";
    Err(Failure::new(Exit::Conflict, message)
        .with_help("what is known of its tickets is in place now: plan and run it again"))
}

pub(super) fn execute(
    context: &SyncContext<'_>,
    plan: &Plan,
    ledger: &mut SqliteLedger,
    tracker: &dyn Tracker,
    output: &Output,
) -> Result<Report, Failure> {
    let count = spinner::count(plan.actions.len(), "action");
    with_progress(&|done| format!("{done} of {count}"), output.quiet, &context.done, || {
        context.work(ledger, tracker, async |worker| Ok(worker.apply(plan).await?))
    })
}

/// The plan must equal the one that would be made now.
fn confirmed(
    context: &SyncContext<'_>,
    plan: &Plan,
    ledger: &mut SqliteLedger,
    tracker: &dyn Tracker,
) -> Result<Plan, Failure> {
    if plan.tracker != context.settings.name {
        let message = format!("this plan is for `{}`, not for `{}`", plan.tracker, context.settings.name);
        return Err(Failure::new(Exit::Usage, message).with_help("name the tracker with `--tracker`"));
    }
    let mut now = context.plan(ledger)?;
    let mut stale = plan.stale(&now);
    if !stale.is_empty() {
        // It may have been made with a look through the tracker.
        let tickets = context.survey(ledger, tracker)?;
        now = context.plan_with(ledger, Some((tracker, &tickets)))?;
        stale = plan.stale(&now);
    }
    if stale.is_empty() {
        return Ok(now);
    }
    let name = |kind: Option<ActionKind>| kind.map_or("nothing", ActionKind::name);
    let mut failure = Failure::new(Exit::Conflict, "the plan does not hold any more; nothing was done")
        .with_help("make a new one: `stepmark sync plan --out FILE`");
    let mut subjects = subjects(plan);
    subjects.add(&now);
    let cause = |stale: &Stale| {
        format!("{}: planned {}, now {}", subjects.name(&stale.marker), name(stale.planned), name(stale.now))
    };
    failure.causes = stale.iter().map(cause).collect();
    Err(failure)
}
