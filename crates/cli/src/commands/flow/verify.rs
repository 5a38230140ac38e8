//! `stepmark flow verify`, and running the checks of a graph: commands of a shell, in the folder of the
//! project.
#![expect(clippy::disallowed_methods, reason = "an edge module: the checks of a graph are started here")]

use std::{
    io::{self, PipeReader, Read as _},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use clap::{Args, ValueEnum};
use sha2::{Digest as _, Sha256};

use super::{TaskArgument, report};
use crate::{
    exit::{Exit, Failure},
    output::Output,
    project::Project,
};
use stepmark_model::{
    artifact::FileHash,
    flows::{Check, CheckResult, Decision, Judgement},
};
use stepmark_store::flows::Flows;

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
                run_checks(flows, (flow, task), |check| run(project.root().path(), check, limit))?
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
    state.check_graph().map_err(stepmark_store::Error::from)?;
    let record = state.task(task).map_err(stepmark_store::Error::from)?;
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

/// Lines and bytes.
const TAIL: (usize, usize) = (20, 4096);

/// Keeps the digest and the end of the output. Kills the check, which has failed, if it or its children may
/// still print after `limit`.
pub(super) fn run(folder: &Path, check: &Check, limit: Duration) -> Result<CheckResult, Failure> {
    let failed = |error| Failure::new(Exit::Io, format!("cannot run the check `{}`: {error}", check.name));
    let (mut child, printed) = start(folder, &check.command).map_err(failed)?;
    let (ended, digest) = mpsc::channel();
    thread::spawn(move || ended.send(digest_of(printed)));
    let (status, printed) = match digest.recv_timeout(limit) {
        Ok(printed) => (Some(child.wait().map_err(failed)?), Some(printed.map_err(failed)?)),
        Err(_) => {
            // It stays in our group of processes, so that ^C ends it, too: what it has started itself cannot
            // print any more when we have ended.
            child.kill().map_err(failed)?;
            child.wait().map_err(failed)?;
            (None, None)
        }
    };
    Ok(CheckResult {
        name: check.name.clone(),
        command: check.command.clone(),
        passed: status.is_some_and(|status| status.success()),
        required: check.required,
        exit_status: status.and_then(|status| status.code()).map(i64::from),
        output_digest: printed.as_ref().map(|(digest, _)| digest.to_string()),
        tail: printed.map(|(_, tail)| tail).unwrap_or_default(),
    })
}

fn start(folder: &Path, command: &str) -> io::Result<(Child, PipeReader)> {
    let (shell, option) = if cfg!(windows) { ("cmd", "/C") } else { ("/bin/sh", "-c") };
    let (printed, output) = io::pipe()?;
    let mut started = Command::new(shell);
    started.args([option, command]).current_dir(folder).stdin(Stdio::null());
    started.stderr(output.try_clone()?).stdout(output);
    // Our ends for writing go with `started`: the output ends when all who print have ended.
    Ok((started.spawn()?, printed))
}

fn digest_of(mut printed: PipeReader) -> io::Result<(FileHash, String)> {
    let (mut hash, mut part, mut last) = (Sha256::new(), [0; 1 << 16], Vec::new());
    loop {
        match printed.read(&mut part)? {
            0 => break,
            length => {
                hash.update(&part[..length]);
                last.extend_from_slice(&part[..length]);
                last.drain(..last.len().saturating_sub(TAIL.1));
            }
        }
    }
    let text = String::from_utf8_lossy(&last);
    let lines: Vec<&str> = text.lines().collect();
    let tail = lines[lines.len().saturating_sub(TAIL.0)..].join("\n");
    Ok((FileHash::from_digest(hash.finalize().into()), tail))
}

#[cfg(all(test, unix))]
#[expect(clippy::panic, reason = "tests say which command failed")]
mod tests {
    use super::*;

    fn ran(command: &str) -> CheckResult {
        let check = Check { name: "c".to_owned(), command: command.to_owned(), required: true };
        run(Path::new("/"), &check, Duration::from_millis(300)).unwrap_or_else(|_| panic!("{command}"))
    }

    #[test]
    fn says_how_it_ended_and_keeps_a_digest() {
        let one = ran("echo out; echo err >&2");
        assert!(one.passed && one.exit_status == Some(0), "{one:?}");
        assert_eq!(one.output_digest, Some(FileHash::of(b"out\nerr\n").to_string()));
        assert_eq!(ran("exit 3").exit_status, Some(3));
        assert!(!ran("kill -9 $$").passed);
    }

    #[test]
    fn ends_what_takes_too_long() {
        for command in ["exec sleep 3", "sleep 3; true", "exec yes", "sleep 3 &"] {
            let late = ran(command);
            assert_eq!((late.passed, late.exit_status, late.output_digest), (false, None, None), "{command}");
        }
    }
}
