//! `stepmark flow checkpoint`, `diff`, `rollback`, `merge`

use clap::Subcommand;
use serde_json::json;
use stepmark_model::{flows::MergePlan, spelling::argument, spelling::listed};
use stepmark_store::flows::Flows;

use super::{ReasonedFlow, TaskArgument, flow_id, named, report};
use crate::{
    exit::{Exit, Failure},
    output::Output,
};

#[derive(Debug, Subcommand)]
pub(super) enum Git {
    /// Commit what a task has changed so far on its branch `exec/FLOW/TASK`; the work tree stays as it is
    Checkpoint {
        #[command(flatten)]
        task: TaskArgument,
        /// The message
        #[arg(short, long, default_value = "Checkpoint")]
        message: String,
    },
    /// Show what a task has changed, by its checkpoints
    Diff {
        #[command(flatten)]
        task: TaskArgument,
    },
    /// Bring the branch of a task back to one of its checkpoints
    Rollback {
        #[command(flatten)]
        task: TaskArgument,
        /// The commit
        #[arg(long)]
        to: String,
    },
    /// Merge the work of a complete flow: prepare, approve, apply
    Merge {
        #[command(subcommand)]
        what: Merge,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum Merge {
    /// Make the integration commits; no branch names them yet
    Prepare {
        /// The flow
        flow: String,
        /// The branch; without it the one that is checked out
        #[arg(long, value_name = "BRANCH")]
        into: Option<String>,
        /// Leave out what attempts without a checkpoint did
        #[arg(long)]
        without_checkpoint: bool,
    },
    /// Approve the commits that were prepared; for people
    Approve(ReasonedFlow),
    /// Refuse the commits that were prepared; for people
    Reject(ReasonedFlow),
    /// Put the approved commits onto their branch
    Apply {
        /// The flow
        flow: String,
    },
}

impl Git {
    pub(super) fn run(&self, flows: &Flows<'_>, output: &Output) -> Result<Exit, Failure> {
        let record = match self {
            Self::Checkpoint { task, message } => {
                let task = task.both(flows)?;
                let record = flows.checkpoint(named(&task), message)?;
                let (files, _) = flows.diff(named(&task))?;
                report::checkpoint(&record, &files, output);
                record
            }
            Self::Rollback { task, to } => flows.rollback(named(&task.both(flows)?), to)?,
            Self::Diff { task } => {
                let (flow, task) = task.both(flows)?;
                let (files, patch) = flows.diff((&flow, &task))?;
                output.json_or(
                    "stepmark.flow-diff/1",
                    || json!({"flow": flow, "task": task, "files": files, "patch": patch}),
                    || output.line(&patch),
                );
                return Ok(Exit::Fine);
            }
            Self::Merge { what } => return merge(what, flows, output),
        };
        Ok(report::task(&record, output))
    }

    pub(super) const fn writes(&self) -> bool {
        !matches!(self, Self::Diff { .. })
    }
}

fn merge(what: &Merge, flows: &Flows<'_>, output: &Output) -> Result<Exit, Failure> {
    let state = match what {
        Merge::Prepare { flow, into, without_checkpoint } => {
            flows.prepare_merge(&flow_id(flows, flow)?, into.as_deref(), *without_checkpoint)?
        }
        Merge::Approve(ReasonedFlow { flow, reason }) => {
            flows.make(&flow_id(flows, flow)?, "merge-approve", reason.as_deref())?
        }
        Merge::Reject(ReasonedFlow { flow, reason }) => {
            flows.make(&flow_id(flows, flow)?, "merge-reject", reason.as_deref())?
        }
        Merge::Apply { flow } => flows.apply_merge(&flow_id(flows, flow)?)?,
    };
    let plan: MergePlan = state.flow.part("merge");
    if !plan.left_out.is_empty() {
        output.warning(format_args!("the merge leaves out what {} did", listed(&plan.left_out)));
    }
    let exit = report::flow(&state, None, output);
    let flow = argument(state.flow.id());
    match what {
        Merge::Prepare { .. } => output.remark(format_args!("a person approves it: `stepmark flow merge approve {flow}`")),
        Merge::Approve(_) => output.remark(format_args!(
            "`stepmark flow merge apply {flow}` merges it; its branch must not be checked out (`git switch --detach`)"
        )),
        Merge::Reject(_) | Merge::Apply { .. } => {}
    }
    Ok(exit)
}
