//! `stepmark flow attempt`

use clap::{Args, Subcommand};
use serde_json::json;
use stepmark_model::flows::{AttemptEnd, FlowRecord, OutputSummary};
use stepmark_store::flows::Flows;

use super::{TaskArgument, agent, named, report};
use crate::{
    exit::{Exit, Failure},
    output::Output,
    project::Project,
};

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
    let found = state.task(&task).map_err(stepmark_store::flows::FlowError::from)?;
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
    output.json_or(
        "stepmark.flow-attempt/1",
        || json!({"task": record.id(), "attempt": found, "verification": judged}),
        || {
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
        },
    );
    Ok(Exit::Fine)
}
