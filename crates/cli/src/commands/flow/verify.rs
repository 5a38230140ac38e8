//! `stepmark flow verify`

use std::time::Duration;

use clap::{Args, ValueEnum};
use stepmark_model::flows::{Check, CheckResult, Decision, Judgement};
use stepmark_store::flows::{FlowError, Flows};

use super::{TaskArgument, check_runner, report};
use crate::{
    exit::{Exit, Failure},
    output::Output,
    project::Project,
};

/// Judge the last attempt at a task: required checks decide, then the verifier
///
/// What failed is tried again where the graph says so and attempts are left. One judgement an attempt.
#[derive(Debug, Args)]
pub(super) struct Verify {
    #[command(flatten)]
    task: TaskArgument,
    /// The attempt; another one than the last one is refused
    #[arg(long, value_name = "ID")]
    attempt: Option<String>,
    /// Run the checks of the graph in the project, and nothing else
    #[arg(long)]
    run: bool,
    /// Give up a check after so many seconds: it has failed then
    #[arg(long, value_name = "SECONDS", default_value_t = 3600, requires = "run")]
    timeout: u64,
    /// The result of a check: NAME=pass or NAME=fail; once for each
    #[arg(long = "check", value_name = "NAME=RESULT", conflicts_with = "run")]
    checks: Vec<String>,
    /// The decision of the verifier, who is the actor of the command
    #[arg(long)]
    decision: Option<DecisionWord>,
    /// Why the verifier decides so; once for each
    #[arg(long = "because", value_name = "TEXT")]
    reasons: Vec<String>,
    /// From 0 to 1
    #[arg(long)]
    confidence: Option<f64>,
    /// Let the attempt pass whatever checks and verifier say; for people
    #[arg(long = "override", requires = "reason")]
    is_override: bool,
    /// The reason, for history
    #[arg(long)]
    reason: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DecisionWord {
    Pass,
    SoftFail,
    HardFail,
}

impl Verify {
    pub(super) fn run(&self, flows: &Flows<'_>, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let (flow, task) = self.task.both(flows)?;
        let (flow, task) = (&*flow, &*task);
        if self.confidence.is_some_and(|confidence| !(0.0..=1.0).contains(&confidence)) {
            return Err(Failure::new(Exit::Usage, "--confidence is a number from 0 to 1"));
        }
        let checks = match self.run {
            true => {
                let limit = Duration::from_secs(self.timeout);
                run_checks(flows, (flow, task), |check| {
                    check_runner::run(project.root().path(), check, limit)
                })?
            }
            false => self.checks.iter().map(|given| told(given)).collect::<Result<_, _>>()?,
        };
        let judgement = Judgement {
            attempt_id: self.attempt.clone(),
            checks,
            decision: self.decision.map(|word| match word {
                DecisionWord::Pass => Decision::Pass,
                DecisionWord::SoftFail => Decision::SoftFail,
                DecisionWord::HardFail => Decision::HardFail,
            }),
            reasons: self.reasons.clone(),
            confidence: self.confidence,
            is_override: self.is_override,
            ..Judgement::default()
        };
        let record = flows.verify((flow, task), &judgement, self.reason.as_deref())?;
        report::task(&record, output);
        if record.status() == "SUCCESS" {
            report::warn_without_checkpoint(flows, &record, output);
        }
        Ok(if record.status() == "SUCCESS" { Exit::Fine } else { Exit::Findings })
    }
}

fn told(given: &str) -> Result<CheckResult, Failure> {
    let (name, passed) = match given.rsplit_once('=') {
        Some((name, "pass")) => (name, true),
        Some((name, "fail")) => (name, false),
        _ => {
            return Err(Failure::new(Exit::Usage, format!("`{given}` is no result of a check"))
                .with_help("write --check NAME=pass or --check NAME=fail"));
        }
    };
    let name = name.to_owned();
    Ok(CheckResult {
        name,
        command: String::new(),
        passed,
        required: true,
        exit_status: None,
        output_digest: None,
        tail: String::new(),
    })
}

fn run_checks(
    flows: &Flows<'_>,
    (flow, task): (&str, &str),
    run: impl Fn(&Check) -> Result<CheckResult, Failure>,
) -> Result<Vec<CheckResult>, Failure> {
    let state = flows.state(flow)?;
    state.check_graph().map_err(FlowError::from)?;
    let record = state.task(task).map_err(FlowError::from)?;
    if record.status() != "VERIFYING" {
        return Ok(Vec::new());
    }
    if !flows.may_run_checks(&state.graph) {
        let graph = &state.graph.id;
        let message = format!(
            "the checks of the graph `{graph}` came with the repository, and nobody allowed them here"
        );
        return Err(Failure::new(Exit::Findings, message).with_help(format!(
            "they are commands of a shell: `stepmark flow graph show {graph}` shows them, `stepmark flow graph allow {graph}` lets this clone run them"
        )));
    }
    let checks = state.graph.task(task).map(|task| task.checks.as_slice()).unwrap_or_default();
    checks.iter().map(run).collect()
}
