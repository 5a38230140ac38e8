//! A task as people name it.

use clap::Args;
use stepmark_store::flows::Flows;

use crate::exit::{Exit, Failure};

/// A task.
#[derive(Debug, Args)]
pub(super) struct TaskArgument {
    /// The flow, or FLOW.TASK
    #[arg(value_name = "FLOW")]
    flow: String,
    /// The task
    #[arg(value_name = "TASK")]
    task: Option<String>,
}

/// A flow, and why it is treated so.
#[derive(Debug, Args)]
pub(super) struct ReasonedFlow {
    /// The flow
    pub(super) flow: String,
    /// The reason
    #[arg(long)]
    pub(super) reason: Option<String>,
}

/// A task, and why it is treated so.
#[derive(Debug, Args)]
pub(super) struct ReasonedTask {
    #[command(flatten)]
    pub(super) task: TaskArgument,
    /// The reason
    #[arg(long)]
    pub(super) reason: Option<String>,
}

pub(super) fn flow_id(flows: &Flows<'_>, given: &str) -> Result<String, Failure> {
    Ok(flows.whole_ids((given, None))?.0)
}

pub(super) fn named((flow, task): &(String, String)) -> (&str, &str) {
    (flow, task)
}

impl TaskArgument {
    pub(super) fn parts(&self, flows: &Flows<'_>) -> Result<(String, Option<String>), Failure> {
        Ok(flows.whole_ids(match (&self.task, self.flow.split_once('.')) {
            (None, Some((flow, task))) => (flow, Some(task)),
            (task, _) => (&self.flow, task.as_deref()),
        })?)
    }

    pub(super) fn attempt(&self) -> Option<(Self, String)> {
        let (named, number) = self.flow.rsplit_once('.').filter(|_| self.task.is_none())?;
        let (flow, task) = named.split_once('.')?;
        let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| (Self { flow: flow.to_owned(), task: Some(task.to_owned()) }, self.flow.clone()))
    }

    pub(super) fn both(&self, flows: &Flows<'_>) -> Result<(String, String), Failure> {
        let (flow, task) = self.parts(flows)?;
        let task = task.ok_or_else(|| {
            Failure::new(Exit::Usage, "no task is named")
                .with_help(format!("`stepmark flow show {flow}` lists the tasks"))
        })?;
        Ok((flow, task))
    }
}
