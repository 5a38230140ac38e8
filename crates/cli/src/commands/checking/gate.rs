//! `stepmark gate`

use std::{path::PathBuf, time::Duration};

use clap::{Args, Subcommand};
use jiff::Timestamp;
use stepmark_model::{
    artifact::ProjectPath,
    journal::ArtifactKey,
    lease::{Claim, LONGEST, Lease as Record, LeaseTerm},
    projection::gates::{Closed, GateStep, superfluous},
    workflow::{StepId, StepMatch},
};
use stepmark_store::gates::GateAnswer;

use crate::{
    exit::{Exit, Failure},
    output::{ListArguments, Output, Row, table},
    project::Project,
};

/// Ask whether a step is done before going on
///
/// `gate check` reads the artifact. With `gates: true` in the configuration each completed step also has a
/// small file, `.stepmark/gates/ARTIFACT/STEP.gate`. `test -f` on it is a hint only: after a checkout or an
/// edit it is wrong until `stepmark project`.
#[derive(Debug, Args)]
pub(crate) struct Gate {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Ask whether a step is done: 0 means go on, 1 means stop
    ///
    /// Reads the artifact: is the step listed in a frontmatter that parses?
    Check(Check),
    /// List the completed steps of an artifact with their gates
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
    /// What every check does; kept for scripts
    #[arg(long, hide = true)]
    verify: bool,
    /// Also take the artifact's lease, so that nobody else changes the answer; 3 when somebody else
    /// holds it
    #[arg(long)]
    exclusive: bool,
    /// How long the lease lasts; `lease.seconds` without it
    #[arg(long, requires = "exclusive", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    seconds: Option<u32>,
}

answers! { Answer<'a>
    /// `gate check`: whether a step is done
    "stepmark.gate-check/2" Check {
        path: &'a ProjectPath, step: &'a str, open: bool, reason: Option<&'a str>, message: Option<String>,
        fence: Option<u64>, lease_expires_at: Option<Timestamp>,
    }
    /// `gate list`: the completed steps of an artifact with their gates
    "stepmark.gates/2" List { path: &'a ProjectPath, gates: Vec<Row<GateRow>>, more: usize }
    /// `gate lease`: who holds an artifact
    "stepmark.gate-lease/1" Lease {
        path: &'a ProjectPath, artifact: Option<&'a ArtifactKey>, state: &'static str, fence: Option<u64>,
        holder: Option<String>, session: Option<&'a str>, taken_at: Option<Timestamp>,
        expires_at: Option<Timestamp>, taken_over_from: Option<String>,
    }
    struct GateRow { step: Option<String>, file: Option<String>, open: bool }
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
            let configured = workspace.configuration().lease.seconds;
            let duration = self.seconds.map_or(configured, |seconds| Duration::from_secs(seconds.into()));
            workspace.gates().check_exclusively(&path, step, duration)?
        } else {
            workspace.gates().verify(&path, step)?
        };
        report(project, output, &answer);
        Ok(if answer.verdict.is_ok() { Exit::Fine } else { Exit::Findings })
    }
}

fn report(project: &Project, output: &Output, answer: &GateAnswer) {
    let GateAnswer { path, step, verdict, lease } = answer;
    if output.json {
        let closed = verdict.as_ref().err();
        return output.answer(|| Answer::Check {
            path,
            step,
            open: verdict.is_ok(),
            reason: closed.map(|closed| closed.as_str()),
            message: closed.map(ToString::to_string),
            fence: lease.as_ref().map(|lease| lease.fence),
            lease_expires_at: lease.as_ref().and_then(|lease| Some(lease.tenure.as_ref()?.expires_at)),
        });
    }
    match verdict {
        Ok(()) => output.remark(format_args!("{path}: `{step}` is done")),
        Err(closed) => {
            let artifact = project.workspace.artifact(path).ok().filter(|_| *closed == Closed::NotListed);
            let named = artifact.as_ref().and_then(|artifact| {
                match artifact.workflow()?.chain.find(&StepId::parse(step)) {
                    StepMatch::Step { step, .. } => Some(step.name()),
                    _ => None,
                }
            });
            match named {
                Some(name) => output.line(format_args!("{path}: no: `{name}` is not done")),
                None => output.line(format_args!("{path}: no: `{step}`: {closed}")),
            }
        }
    }
    if let Some(lease) = lease {
        output.remark(until(lease));
    }
}

fn list(
    project: &Project,
    output: &Output,
    path: &ProjectPath,
    wanted: &ListArguments,
) -> Result<Exit, Failure> {
    let gates = project.workspace.gates();
    let (steps, stored) = (gates.steps(path)?, gates.of(path)?);
    let row = |step: &GateStep| {
        let file = step.file_name();
        (Some(step.name.clone()), stored.contains(&file).then_some(file))
    };
    let left = superfluous(&steps, &stored).into_iter().map(|file| (None, Some(file)));
    let mut rows: Vec<(Option<String>, Option<String>)> = steps.iter().map(row).chain(left).collect();
    let more = wanted.cut(&mut rows);
    if output.json {
        let gate = |(step, file): &(Option<String>, _)| GateRow {
            step: step.clone(),
            file: Clone::clone(file),
            open: step.is_some(),
        };
        let gates = wanted.keep_fields(rows.iter().map(gate))?;
        output.answer(|| Answer::List { path, gates, more });
    } else if rows.is_empty() {
        output.remark(format_args!("{path} lists no completed step"));
    } else {
        let cells = rows.into_iter().map(|(step, file)| {
            let state = if step.is_some() { "open" } else { "not listed" };
            let [step, file] = [step, file].map(|cell| cell.unwrap_or_else(|| "-".to_owned()));
            vec![step, state.to_owned(), file]
        });
        output.line(table(&["STEP", "GATE", "FILE"], cells));
        wanted.remark_more(more, output);
    }
    Ok(Exit::Fine)
}

/// Keep others from changing an artifact for a while
///
/// A lease belongs to a session, and carries a number that grows with every holder. Commits of the session
/// are admitted; a commit with STEPMARK_FENCE set to an old number is refused, and so is one of anybody else
/// while the lease lives (3).
#[derive(Debug, Args)]
pub(crate) struct Lease {
    #[command(subcommand)]
    task: LeaseTask,
}

#[derive(Debug, Subcommand)]
enum LeaseTask {
    /// Take the lease; ends with 3 when somebody else holds it
    Take {
        #[command(flatten)]
        term: Term,
        /// Take it from a holder that is gone, or whose clock was wrong; history tells
        #[arg(long)]
        force: bool,
    },
    /// Move the end of a lease that is held
    Renew(Term),
    /// Give the lease up; its number stays
    Release {
        /// The artifact
        artifact: PathBuf,
    },
    /// Show who holds it
    Show {
        /// The artifact
        artifact: PathBuf,
    },
}

#[derive(Debug, Args)]
struct Term {
    /// The artifact
    artifact: PathBuf,
    /// How long it lasts, 30 days at most; `lease.seconds` without it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=LONGEST.as_secs().cast_signed()))]
    seconds: Option<u32>,
}

impl Term {
    fn duration(&self, project: &Project) -> Duration {
        let configured = project.workspace.configuration().lease.seconds;
        self.seconds.map_or(configured, |seconds| Duration::from_secs(seconds.into()))
    }
}

impl Lease {
    pub(crate) const fn takes_lease(&self) -> bool {
        matches!(self.task, LeaseTask::Take { .. } | LeaseTask::Renew(_))
    }

    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let workspace = &project.workspace;
        let (path, lease, taken_over) = match &self.task {
            LeaseTask::Take { term, force } => {
                let path = project.artifact_path(&term.artifact)?;
                let claim = if *force { Claim::Seize } else { Claim::WhenFree };
                let taken = workspace.leases().take(&path, term.duration(project), claim)?;
                (path, Some(taken.lease), taken.taken_over)
            }
            LeaseTask::Renew(term) => {
                let path = project.artifact_path(&term.artifact)?;
                let lease = workspace.leases().renew(&path, term.duration(project))?;
                (path, Some(lease), None)
            }
            LeaseTask::Release { artifact } => {
                let path = project.artifact_path(artifact)?;
                let lease = workspace.leases().release(&path)?;
                (path, Some(lease), None)
            }
            LeaseTask::Show { artifact } => {
                let path = project.artifact_path(artifact)?;
                let lease = workspace.leases().get(&path)?.lease;
                (path, lease, None)
            }
        };
        tell(project, output, &path, lease.as_ref(), taken_over.as_ref());
        Ok(Exit::Fine)
    }
}

fn tell(
    project: &Project,
    output: &Output,
    path: &ProjectPath,
    lease: Option<&Record>,
    taken_over: Option<&(LeaseTerm, u64)>,
) {
    let tenure = lease.and_then(|lease| lease.tenure.as_ref());
    let is_live = lease.is_some_and(|lease| lease.live(project.workspace.now()).is_some());
    let state = match tenure {
        Some(_) if is_live => "held",
        Some(_) => "expired",
        None => "free",
    };
    if output.json {
        return output.answer(|| Answer::Lease {
            path,
            artifact: lease.map(|lease| &lease.artifact),
            state,
            fence: lease.map(|lease| lease.fence),
            holder: tenure.map(|tenure| tenure.holder.to_string()),
            session: tenure.and_then(|tenure| tenure.session.as_deref()),
            taken_at: tenure.map(|tenure| tenure.taken_at),
            expires_at: tenure.map(|tenure| tenure.expires_at),
            taken_over_from: taken_over.map(|(tenure, _)| tenure.holder.to_string()),
        });
    }
    if let Some((tenure, fence)) = taken_over {
        output.warning(format_args!("{path}: taken over from {}, whose number was {fence}", tenure.holder));
    }
    if tenure.is_some_and(|tenure| tenure.is_beyond(project.workspace.now())) {
        output.warning(format_args!(
            "{path}: its lease ends later than a lease can last: the clock was wrong when it was taken, and it counts as expired"
        ));
    }
    match lease {
        Some(lease) if tenure.is_some() => output.line(format_args!("{path}: {state}, {}", until(lease))),
        _ => output.line(format_args!("{path}: {state}")),
    }
}

/// `leased to agent:writer until 2026-11-22T10:00:00Z, number 3 (STEPMARK_FENCE=3)`
fn until(lease: &Record) -> String {
    let holder = lease.tenure.as_ref().map_or_else(String::new, |tenure| {
        let session =
            tenure.session.as_ref().map(|session| format!(" in session {session}")).unwrap_or_default();
        format!("leased to {}{session} until {}, ", tenure.holder, tenure.expires_at)
    });
    format!("{holder}number {fence} (STEPMARK_FENCE={fence})", fence = lease.fence)
}
