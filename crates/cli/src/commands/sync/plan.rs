//! `stepmark sync plan`

use std::{collections::BTreeMap, path::PathBuf};

use clap::Args;
use stepmark_sync::plan::{Action, Plan as Planned, Remark};

use super::{
    Scene, plan_file,
    subjects::{Subjects, subjects},
};
use crate::{
    exit::{Exit, Failure},
    output::{Output, on_one_line, wording},
};

/// Show what would be done, without asking the tracker
#[derive(Debug, Args)]
pub(super) struct Plan {
    /// Look through the tracker first: finds what people changed, duplicates, and tickets without a link
    #[arg(long)]
    survey: bool,
    /// Write the plan to a file, for `stepmark sync apply FILE`
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Plan {
    pub(super) fn run(&self, scene: &Scene<'_>, output: &Output) -> Result<Exit, Failure> {
        let plan = if self.survey {
            let (mut ledger, tracker) = (scene.ledger()?, scene.tracker(Some(output))?);
            let tickets = scene.survey(&mut ledger, &tracker)?;
            scene.plan_with(&mut ledger, Some((&tracker, &tickets)))?
        } else {
            scene.plan(&mut *scene.ledger_to_read()?)?
        };
        if let Some(file) = &self.out {
            plan_file::write(file, &plan)?;
        }
        if output.json {
            let schema = stepmark_sync::plan::PLAN_SCHEMA;
            output.json(schema, serde_json::to_value(&plan).unwrap_or_default());
        } else {
            show(&plan, output);
        }
        Ok(Exit::Fine)
    }
}

/// Shows a plan to people.
pub(super) fn show(plan: &Planned, output: &Output) {
    let names = subjects(plan);
    for action in &plan.actions {
        output.line(format_args!("{:<15} {}", action.kind.name(), subject(action, &names)));
        for difference in &action.differences {
            let short = |value: &serde_json::Value| -> String {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let line = on_one_line(&text);
                if line.chars().count() > 60 { line.chars().take(59).chain(['…']).collect() } else { line }
            };
            let (before, after) = (short(&difference.before), short(&difference.after));
            output.remark(format_args!("    {}: {before} → {after}", difference.field));
        }
    }
    warn(&plan.remarks, output);
    if plan.needs_survey && !plan.actions.is_empty() {
        output.remark(
            "the tracker was not looked through yet: `apply` does that first, and links what it finds",
        );
    }
    let unchanged = wording::count(plan.unchanged, "ticket");
    output.remark(format_args!(
        "{} to do, {unchanged} unchanged",
        wording::count(plan.actions.len(), "action")
    ));
}

fn subject(action: &Action, names: &Subjects) -> String {
    let remote = action.remote.as_ref().map(|remote| format!(" {}", remote.key)).unwrap_or_default();
    format!("{}{remote}", names.name(&action.marker))
}

/// Tells what a person should know. What holds for many artifacts is told once.
pub(super) fn warn(remarks: &[Remark], output: &Output) {
    let mut left_out: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for remark in remarks {
        match remark {
            Remark::LeftOut { path, reason, .. } => left_out.entry(reason).or_default().push(path),
            other => output.warning(told(other)),
        }
    }
    for (reason, paths) in left_out {
        match paths.as_slice() {
            [path] => output.warning(format_args!("{path} gets no ticket: {reason}")),
            _ => {
                let shown = paths.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
                let more = paths.len().saturating_sub(SHOWN);
                let more = if more == 0 { String::new() } else { format!(" and {more} more") };
                output.warning(format_args!(
                    "{} artifacts get no ticket: {reason} ({shown}{more})",
                    paths.len()
                ));
            }
        }
    }
}

/// What keeps artifacts from being followed by tickets that somebody believes to be there: told wherever tickets are.
pub(super) fn problems(remarks: &[Remark]) -> Vec<Remark> {
    remarks
        .iter()
        .filter(|remark| matches!(remark, Remark::LeftOut { is_problem: true, .. } | Remark::ManyGone { .. }))
        .cloned()
        .collect()
}

/// How many artifacts are named that get no ticket for the same reason.
const SHOWN: usize = 3;

/// What a person should know.
fn told(remark: &Remark) -> String {
    let keys = |tickets: &[stepmark_sync::ticket::RemoteTicket]| {
        tickets.iter().map(|ticket| ticket.key.as_str()).collect::<Vec<_>>().join(", ")
    };
    match remark {
        Remark::Drift { marker, remote, differences } => {
            let fields: Vec<&str> = differences.iter().map(|told| told.field.as_str()).collect();
            format!("{} of `{marker}` was changed by hand: {}", remote.key, fields.join(", "))
        }
        Remark::Duplicates { marker, kept, others } => format!(
            "{} have the marker of `{marker}`, whose ticket is {}; people wrote in them, or `duplicates: report` is configured: close \
             what is not wanted",
            keys(others),
            kept.key
        ),
        Remark::Orphan { marker, remote } => {
            format!("the artifact of {} (`{marker}`) is gone; `prune: close` closes it", remote.key)
        }
        Remark::Excluded { marker, remote } => {
            format!(
                "{} of `{marker}` stays as it is, since `artifacts` of the tracker leaves its artifact out",
                remote.key
            )
        }
        Remark::ManyGone { gone, tickets } => format!(
            "the artifacts of {gone} of {tickets} tickets are gone, so none of these is closed: `stepmark sync apply --yes` closes them"
        ),
        Remark::Missing { marker, remote } => {
            format!("{} of `{marker}` is not among the tickets of the tracker", remote.key)
        }
        Remark::Moved { from } => format!(
            "its tickets are in {from}, and the configuration names another place: `apply` asks the tracker whether that is the same one under \
             another name, and leaves the former tickets alone where it is not"
        ),
        Remark::LeftOut { path, reason, .. } => format!("{path} gets no ticket: {reason}"),
    }
}
