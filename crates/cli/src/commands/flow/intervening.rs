//! `stepmark flow retry`, `escalate`, `abort-task`, `accept`, `restore`

use clap::Subcommand;
use serde_json::json;
use stepmark_model::{artifact::ProjectPath, packs::MoveCall};
use stepmark_store::flows::Flows;

use super::{ReasonedFlow, ReasonedTask, TaskArgument, flow_id, named, report};
use crate::{
    exit::{Exit, Failure},
    output::Output,
};

#[derive(Debug, Subcommand)]
pub(super) enum Intervening {
    /// Let a task be tried again that failed; for people
    Retry {
        #[command(flatten)]
        task: TaskArgument,
        /// Allow so many attempts in all; without it one more than there were
        #[arg(long, value_name = "N")]
        max_attempts: Option<u64>,
        /// The reason
        #[arg(long)]
        reason: Option<String>,
    },
    /// Give a task that failed to a person
    Escalate(ReasonedTask),
    /// Give a task up: it fails, and its open attempt is cut off; for people
    AbortTask(ReasonedTask),
    /// Take records as they are that were edited by other means; for people
    Accept(ReasonedFlow),
    /// Bring records that were edited by other means back to what history tells; for people
    Restore(ReasonedFlow),
}

impl Intervening {
    pub(super) fn run(&self, flows: &Flows<'_>, output: &Output) -> Result<Exit, Failure> {
        let record = match self {
            Self::Retry { task, max_attempts, reason } => {
                let made = MoveCall::new("flow", "retry");
                let made = max_attempts.iter().fold(made, |made, most| made.with("max_attempts", *most));
                flows.make_of_task(named(&task.both(flows)?), &made, reason.as_deref())?
            }
            Self::Escalate(ReasonedTask { task, reason }) => flows.make_of_task(
                named(&task.both(flows)?),
                &MoveCall::new("flow", "escalate"),
                reason.as_deref(),
            )?,
            Self::AbortTask(ReasonedTask { task, reason }) => flows.make_of_task(
                named(&task.both(flows)?),
                &MoveCall::new("flow", "abort-task"),
                reason.as_deref(),
            )?,
            Self::Accept(ReasonedFlow { flow, reason }) => {
                let flow = flow_id(flows, flow)?;
                return Ok(decided(&flow, "accepted", &flows.accept(&flow, reason.as_deref())?, output));
            }
            Self::Restore(ReasonedFlow { flow, reason }) => {
                let flow = flow_id(flows, flow)?;
                return Ok(decided(&flow, "restored", &flows.restore(&flow, reason.as_deref())?, output));
            }
        };
        Ok(report::task(&record, output))
    }
}

fn decided(flow: &str, what: &str, paths: &[ProjectPath], output: &Output) -> Exit {
    output.json_or(
        "stepmark.flow-decided/1",
        || json!({"flow": flow, "decision": what, "records": paths}),
        || {
            paths.iter().for_each(|path| output.line(format_args!("{path}: {what}")));
            if paths.is_empty() {
                output.remark("no record was edited by other means");
            }
        },
    );
    Exit::Fine
}
