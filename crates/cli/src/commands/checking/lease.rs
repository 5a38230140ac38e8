//! `stepmark gate lease`

use std::{path::PathBuf, time::Duration};

use clap::{Args, Subcommand};
use jiff::Timestamp;
use stepmark_model::{
    artifact::ProjectPath,
    journal::ArtifactKey,
    lease::{Claim, LONGEST, Lease as Record, LeaseTerm},
};

use crate::{
    exit::{Exit, Failure},
    output::Output,
    project::Project,
};

/// Keep others from changing an artifact for a while
///
/// A lease belongs to a session, and carries a number that grows with every holder. Commits of the session
/// are admitted; a commit with STEPMARK_FENCE set to an old number is refused, and so is one of anybody else
/// while the lease lives (3).
#[derive(Debug, Args)]
pub(crate) struct Lease {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
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
        matches!(self.task, Task::Take { .. } | Task::Renew(_))
    }

    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let workspace = &project.workspace;
        let (path, lease, taken_over) = match &self.task {
            Task::Take { term, force } => {
                let path = project.artifact_path(&term.artifact)?;
                let claim = if *force { Claim::Seize } else { Claim::WhenFree };
                let taken = workspace.leases().take(&path, term.duration(project), claim)?;
                (path, Some(taken.lease), taken.taken_over)
            }
            Task::Renew(term) => {
                let path = project.artifact_path(&term.artifact)?;
                let lease = workspace.leases().renew(&path, term.duration(project))?;
                (path, Some(lease), None)
            }
            Task::Release { artifact } => {
                let path = project.artifact_path(artifact)?;
                let lease = workspace.leases().release(&path)?;
                (path, Some(lease), None)
            }
            Task::Show { artifact } => {
                let path = project.artifact_path(artifact)?;
                let lease = workspace.leases().get(&path)?.lease;
                (path, lease, None)
            }
        };
        report(project, output, &path, lease.as_ref(), taken_over.as_ref());
        Ok(Exit::Fine)
    }
}

answers! { Answer<'a>
    /// `gate lease`: who holds an artifact
    "stepmark.gate-lease/1" Lease {
        path: &'a ProjectPath, artifact: Option<&'a ArtifactKey>, state: &'static str, fence: Option<u64>,
        holder: Option<String>, session: Option<&'a str>, taken_at: Option<Timestamp>,
        expires_at: Option<Timestamp>, taken_over_from: Option<String>,
    }
}

fn report(
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
pub(super) fn until(lease: &Record) -> String {
    let holder = lease.tenure.as_ref().map_or_else(String::new, |tenure| {
        let session =
            tenure.session.as_ref().map(|session| format!(" in session {session}")).unwrap_or_default();
        format!("leased to {}{session} until {}, ", tenure.holder, tenure.expires_at)
    });
    format!("{holder}number {fence} (STEPMARK_FENCE={fence})", fence = lease.fence)
}
