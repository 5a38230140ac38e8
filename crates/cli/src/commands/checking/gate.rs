//! `stepmark gate`

use std::{path::PathBuf, time::Duration};

use clap::{Args, Subcommand};
use stepmark_model::{
    artifact::ProjectPath,
    projection::gates::Closed,
    workflow::{StepId, StepMatch},
};
use stepmark_store::gates::{GateAnswer, Tier};

use super::lease::{Lease, until};
use crate::{
    exit::{Exit, Failure},
    output::{ListArguments, Output, table},
    project::Project,
};

/// Ask whether a step is done before going on
///
/// A gate is a small file that stands for a completed step, `.stepmark/gates/ARTIFACT/STEP.gate`. `test -f`
/// on it is a hint only: after a checkout or an edit the file is there and wrong. `gate check` compares.
#[derive(Debug, Args)]
pub(crate) struct Gate {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Ask whether a step is done: 0 means go on, 1 means stop
    ///
    /// Compares the gate with the artifact's size, times and inode; any change of the file closes its gates.
    Check(Check),
    /// List the gates of an artifact
    List {
        /// The artifact; without it the active one
        artifact: Option<PathBuf>,
        #[command(flatten)]
        list: ListArguments,
    },
    Lease(Lease),
}

#[derive(Debug, Args)]
#[command(override_usage = "stepmark gate check [OPTIONS] [ARTIFACT] <STEP>")]
struct Check {
    /// The artifact, then the step in any spelling: `step-03-success`, `3`, `03`; a step alone is one of the
    /// active artifact
    #[arg(required = true, num_args = 1..=2, value_name = "ARTIFACT|STEP")]
    words: Vec<String>,
    /// Read the artifact: is the step listed in a frontmatter that parses? This is the truth, whatever gates
    /// say
    #[arg(long)]
    verify: bool,
    /// The same, and take the artifact's lease, so that nobody else changes the answer; 3 when somebody else
    /// holds it
    #[arg(long)]
    exclusive: bool,
    /// How long the lease lasts; `lease.seconds` without it
    #[arg(long, requires = "exclusive", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    seconds: Option<u32>,
}

impl Gate {
    pub(crate) const fn takes_lease(&self) -> bool {
        match &self.task {
            Task::Check(check) => check.exclusive,
            Task::Lease(lease) => lease.takes_lease(),
            Task::List { .. } => false,
        }
    }

    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        match &self.task {
            Task::Check(check) => check.run(project, output),
            Task::Lease(lease) => lease.run(project, output),
            Task::List { artifact, list: wanted } => {
                list(project, output, &project.artifact_or_active(artifact.as_deref())?, wanted)
            }
        }
    }
}

impl Check {
    fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let (path, steps) = project.artifact_and_steps(&self.words)?;
        let [step] = steps else { return Err(Failure::new(Exit::Usage, "name one step")) };
        let workspace = &project.workspace;
        let answer = if self.exclusive {
            let configured = workspace.configuration().lease_duration();
            let duration = self.seconds.map_or(configured, |seconds| Duration::from_secs(seconds.into()));
            workspace.gates().check_exclusively(&path, step, duration)?
        } else if self.verify {
            workspace.gates().verify(&path, step)?
        } else {
            workspace.gates().check(&path, step)?
        };
        report(project, output, &answer);
        Ok(if answer.verdict.is_ok() { Exit::Fine } else { Exit::Findings })
    }
}

fn report(project: &Project, output: &Output, answer: &GateAnswer) {
    let GateAnswer { path, step, tier, verdict, gate, lease } = answer;
    if output.json {
        let closed = verdict.as_ref().err();
        let wire = serde_json::json!({
            "path": path.as_str(),
            "step": step,
            "open": verdict.is_ok(),
            "tier": *tier as u8,
            "reason": closed.map(|closed| closed.as_str()),
            "message": closed.map(ToString::to_string),
            "gate": gate,
            "fence": lease.as_ref().map(|lease| lease.fence),
            "lease_expires_at": lease.as_ref().and_then(|lease| lease.tenure.as_ref()).map(|tenure| tenure.expires_at),
        });
        output.json("stepmark.gate-check/1", wire);
        return;
    }
    match verdict {
        Ok(()) => output.remark(format_args!("{path}: `{step}` is done")),
        Err(closed) => {
            let is_open = matches!(closed, Closed::NotListed | Closed::NoGate { .. });
            match project.workspace.artifact(path).ok().filter(|_| is_open).as_ref().and_then(|artifact| {
                match artifact.workflow()?.chain.find(&StepId::parse(step)) {
                    StepMatch::Step { step, .. } => Some(step.name().to_owned()),
                    _ => None,
                }
            }) {
                Some(name) => output.line(format_args!("{path}: no: `{name}` is not done")),
                None => output.line(format_args!("{path}: no: `{step}`: {closed}")),
            }
        }
    }
    if let (Tier::Lease, Some(lease)) = (tier, lease) {
        output.remark(until(lease));
    }
}

fn list(
    project: &Project,
    output: &Output,
    path: &ProjectPath,
    wanted: &ListArguments,
) -> Result<Exit, Failure> {
    let mut stored = project.workspace.gates().of(path)?;
    let more = wanted.cut(&mut stored);
    let mut rows = Vec::new();
    for stored in &stored {
        let step = stored.gate.as_ref().map(|gate| gate.step.clone());
        let answer = step.as_ref().map(|step| project.workspace.gates().check(path, step)).transpose()?;
        rows.push((stored, answer));
    }
    if output.json {
        let gates: Vec<_> = rows
            .iter()
            .map(|(stored, answer)| {
                serde_json::json!({
                    "file": stored.file_name,
                    "gate": stored.gate,
                    "open": answer.as_ref().is_some_and(|answer| answer.verdict.is_ok()),
                })
            })
            .collect();
        let gates = wanted.keep_fields(gates)?;
        output.json(
            "stepmark.gates/1",
            serde_json::json!({"path": path.as_str(), "gates": gates, "more": more}),
        );
    } else if rows.is_empty() {
        output.remark(format_args!("{path} has no gates"));
    } else {
        let cells = rows.iter().map(|(stored, answer)| {
            let event = stored.gate.as_ref().and_then(|gate| gate.event);
            vec![
                stored.gate.as_ref().map_or_else(|| stored.file_name.clone(), |gate| gate.step.clone()),
                match answer.as_ref().map(|answer| &answer.verdict) {
                    Some(Ok(())) => "open".to_owned(),
                    Some(Err(closed)) => closed.as_str().to_owned(),
                    None => "damaged".to_owned(),
                },
                event.map_or_else(|| "-".to_owned(), |event| event.to_string()),
            ]
        });
        output.line(table(&["STEP", "GATE", "EVENT"], cells));
        if more > 0 {
            output.remark(format_args!("and {more} more"));
        }
    }
    Ok(Exit::Fine)
}
