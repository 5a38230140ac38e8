//! `stepmark flow attempt`, `checkpoint`, `diff`, `rollback` and `merge`.

use clap::{Args, Subcommand};

use super::{
    ReasonedFlow, TaskArgument, agent, flow_id, named,
    report::{self, Answer},
};
use crate::{
    exit::{Exit, Failure},
    output::Output,
    project::Project,
};
use stepmark_model::{
    flows::{AttemptEnd, FlowRecord, MergePlan, OutputSummary},
    spelling::{argument, listed},
};
use stepmark_store::flows::Flows;

/// Begin and end attempts at tasks, and look at them
#[derive(Debug, Args)]
pub(super) struct AttemptCommand {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Take a task: the next one, or the one that is named
    Start {
        #[command(flatten)]
        task: TaskArgument,
        /// The agent; without it the actor of the command, if it is an agent
        #[arg(long, value_name = "ID")]
        agent: Option<String>,
        /// The runtime of the agent
        #[arg(long)]
        runtime: Option<String>,
    },
    /// End the open attempt at a task: it waits for its verification
    End(End),
    /// Say that the agent of the open attempt is alive, so that the attempt does not count as crashed
    Beat {
        #[command(flatten)]
        task: TaskArgument,
        /// The agent; without it the actor of the command, if it is an agent
        #[arg(long, value_name = "ID")]
        agent: Option<String>,
    },
    /// List the attempts at a task, those that were cut off too
    List(TaskArgument),
    /// Show an attempt with its verification
    Show {
        #[command(flatten)]
        task: TaskArgument,
        /// The attempt; without it the last
        #[arg(long, value_name = "ID")]
        attempt: Option<String>,
    },
}

/// The end of an attempt.
#[derive(Debug, Args)]
struct End {
    #[command(flatten)]
    task: TaskArgument,
    /// The attempt; another one than the open one is refused
    #[arg(long, value_name = "ID")]
    attempt: Option<String>,
    /// The agent; without it the actor of the command, if it is an agent
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// Its exit status; any but 0 counts as a crash
    #[arg(long, default_value_t = 0)]
    exit_status: i64,
    /// The outcome
    #[arg(long, default_value = "")]
    result: String,
    /// A file that was changed; once for each
    #[arg(long = "changed", value_name = "PATH")]
    files_changed: Vec<String>,
    /// What tests said
    #[arg(long)]
    tests: Option<String>,
    /// Notes
    #[arg(long, default_value = "")]
    notes: String,
}

impl AttemptCommand {
    pub(super) fn run(&self, flows: &Flows<'_>, project: &Project, output: &Output) -> Result<Exit, Failure> {
        match &self.what {
            What::Start { task, agent: named, runtime } => {
                claim(flows, task, agent(project, named.as_deref()), runtime.as_deref(), output)
            }
            What::End(end) => {
                let summary = OutputSummary {
                    result: end.result.clone(),
                    files_changed: end.files_changed.clone(),
                    tests: end.tests.clone().map_or_else(Default::default, Into::into),
                    notes: end.notes.clone(),
                };
                let told = AttemptEnd {
                    attempt_id: end.attempt.clone(),
                    agent: agent(project, end.agent.as_deref()),
                    exit_status: Some(end.exit_status),
                    summary,
                };
                let record = flows.end_attempt(named(&end.task.both(flows)?), &told)?;
                if record.status() == "VERIFYING" {
                    report::warn_without_checkpoint(flows, &record, output);
                }
                Ok(report::task(&record, output))
            }
            What::Beat { task, agent: who } => {
                let agent = agent(project, who.as_deref());
                Ok(report::task(&flows.beat(named(&task.both(flows)?), agent.as_deref())?, output))
            }
            What::List(task) => {
                let record = find(flows, task)?;
                Ok(report::attempts(&record, output))
            }
            What::Show { task, attempt } => match task.attempt() {
                // The id that `list` prints.
                Some((task, id)) => show(&find(flows, &task)?, Some(&id), output),
                None => show(&find(flows, task)?, attempt.as_deref(), output),
            },
        }
    }

    pub(super) const fn writes(&self) -> bool {
        matches!(self.what, What::Start { .. } | What::End(_) | What::Beat { .. })
    }
}

pub(super) fn claim(
    flows: &Flows<'_>,
    task: &TaskArgument,
    agent: Option<String>,
    runtime: Option<&str>,
    output: &Output,
) -> Result<Exit, Failure> {
    let agent = agent.ok_or_else(|| {
        Failure::new(Exit::Usage, "no agent is named")
            .with_help("give --agent ID, or say who acts with --actor agent:ID or STEPMARK_ACTOR")
    })?;
    let (flow, task) = task.parts(flows)?;
    Ok(report::task(&flows.claim((&flow, task.as_deref()), &agent, runtime)?, output))
}

fn find(flows: &Flows<'_>, task: &TaskArgument) -> Result<FlowRecord, Failure> {
    let (flow, task) = task.both(flows)?;
    let state = flows.state(&flow)?;
    let found = state.task(&task).map_err(stepmark_store::Error::from)?;
    Ok(found.clone())
}

fn show(record: &FlowRecord, attempt: Option<&str>, output: &Output) -> Result<Exit, Failure> {
    let is_wanted = |id: &str| attempt.is_none_or(|wanted| wanted == id);
    let all = record.attempts().into_iter().chain(record.open_attempt());
    let found = all.rev().find(|own| is_wanted(&own.attempt_id));
    let found = found.ok_or_else(|| {
        Failure::new(Exit::Findings, format!("`{}` has no such attempt", record.id()))
            .with_help(format!("`stepmark flow attempt list {}` lists them", record.id()))
    })?;
    let verifications = record.verifications();
    let judged = verifications.iter().find(|judged| judged.attempt_id == found.attempt_id);
    output.answer(|| Answer::Attempt { task: record.id(), attempt: &found, verification: judged });
    output.line(report::attempt_line(&found, judged));
    if let Some(summary) = &found.output_summary {
        for (name, text) in [("result", &summary.result), ("notes", &summary.notes)] {
            if !text.is_empty() {
                output.line(format_args!("  {name}: {text}"));
            }
        }
    }
    for reason in judged.iter().flat_map(|judged| &judged.failure_reasons) {
        output.line(format_args!("  {reason}"));
    }
    Ok(Exit::Fine)
}

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
                output.answer(|| Answer::Diff { flow: &flow, task: &task, files: &files, patch: &patch });
                output.line(&patch);
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
