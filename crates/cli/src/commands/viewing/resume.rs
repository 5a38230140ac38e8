//! `stepmark resume`

use std::path::PathBuf;

use clap::Args;
use stepmark_model::{
    artifact::ProjectPath,
    resume::{
        InterruptedSession, NoResumePoint, OpenDelegation, ResumeAnswer, ResumeDecision, ResumePoint,
        ResumeReport, SourceReport, SourceResult, StateSource, Tier,
    },
    summary::ArtifactSummary,
    tracked_artifact::TrackedArtifact,
};
use stepmark_store::resuming::{ResumeChoice, Resumption};
use stepmark_view::observation::{Entry, transition_command};

use super::next::tell_steps;
use crate::{
    commands::sessions::session,
    exit::{Exit, Failure},
    output::Output,
    project::Project,
};

/// The most artifacts that are listed.
const FIRST: usize = 10;

/// Show where to go on, from which source, and which sources are not trusted
///
/// Tier 1 reads the frontmatter. Where that is damaged, tier 2 takes the last checkpoint, if it is in the
/// history of what is checked out and not outdated; else tier 3 asks the journal, all checkpoints, git,
/// delegations and other sessions. Nothing is written.
#[derive(Debug, Args)]
pub(crate) struct Resume {
    /// The artifact; without it the active one of the configuration, else the last one worked on that is not
    /// finished
    artifact: Option<PathBuf>,
    /// Look at this tier at least: 1 (frontmatter), 2 (checkpoint) or 3 (everything)
    #[arg(long, value_name = "N", default_value = "1")]
    tier: Tier,
}

impl Resume {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let path = match &self.artifact {
            Some(given) => project.known_path(given)?,
            None => match choose(project, output)? {
                Ok(path) => path,
                Err(exit) => return Ok(exit),
            },
        };
        let Resumption { report, verdict } = project.workspace.resume(&path, self.tier)?;
        match verdict {
            ResumeDecision::Answer(answer) => {
                output.answer(|| answered(&report, &answer));
                tell((project, output), &report, &answer)?;
                Ok(Exit::Fine)
            }
            ResumeDecision::CannotTell { reason, mut help } => {
                let is_waiting = |artifact: TrackedArtifact| artifact.waits_for_import();
                if project.workspace.artifact(&path).is_ok_and(is_waiting) {
                    NoResumePoint::NOT_IMPORTED.clone_into(&mut help);
                }
                output.answer(|| {
                    Answer::Resume(Told::Unclear { report: Looked::of(&report), answer: false, why: &reason })
                });
                let message = format!("cannot tell where to go on with `{path}`: {reason}");
                Err(Failure::new(Exit::Findings, message).with_help(help))
            }
        }
    }
}

/// `Err` is the exit code without one. Unlike the commands that change an artifact, this considers
/// everybody's work: a new session takes up what another one left.
fn choose(project: &Project, output: &Output) -> Result<Result<ProjectPath, Exit>, Failure> {
    let unfinished = match project.workspace.history().artifact_to_resume(None)? {
        ResumeChoice::One(path) => return Ok(Ok(path)),
        ResumeChoice::Unclear(paths) => paths,
    };
    output.answer(|| {
        Answer::Resume(Told::Several {
            artifact: None,
            answer: false,
            unfinished: unfinished.iter().take(FIRST).collect(),
            total_unfinished: unfinished.len(),
        })
    });
    if unfinished.is_empty() {
        output.remark("nothing is unfinished");
        return Ok(Err(Exit::Fine));
    }
    Err(project.several_unfinished(&unfinished, Exit::Findings)?)
}

fn tell(
    (project, output): (&Project, &Output),
    report: &ResumeReport,
    answer: &ResumeAnswer,
) -> Result<(), Failure> {
    let point = &answer.point;
    for caution in &answer.cautions {
        output.warning(caution);
    }
    output.remark(format_args!("{}  {}", report.artifact, point.progress_in_words()));
    if point.finished {
        output.remark("finished: there is no next step");
    }
    if let Some(status) = &point.next_status {
        output.line(format_args!("status → {status}"));
        let artifact = project.workspace.artifact(&report.artifact).ok();
        let of_kind = artifact
            .as_ref()
            .filter(|artifact| artifact.state().kind.is_some_and(|kind| !kind.commands.is_empty()));
        let command = of_kind.and_then(|artifact| Entry::of(&ArtifactSummary::of(artifact)).command);
        let command = command.unwrap_or_else(|| transition_command(&report.artifact, status));
        output.remark(format_args!("  {command}"));
        if let Some(file) = artifact.and_then(|artifact| project.workspace.guide(&artifact)) {
            output.line(format_args!("read {file}"));
        }
    }
    tell_steps(point, output);
    output.remark(format_args!("because: tier {}: {}", report.tier as u8, answer.why));
    // The reason is what one of them said.
    let others = report.sources.iter().filter(|one| !answer.why.contains(&one.result.to_string()));
    for source in others.filter(|_| report.tier > Tier::Frontmatter) {
        output.remark(format_args!("  {source}: {}", source.result));
    }
    for child in &report.delegations {
        let next = child.next.first().map(|next| format!(", next: {}", next.step)).unwrap_or_default();
        output.remark(format_args!("  delegated: {}{next}", child.path));
    }
    let known = match report.sessions.as_slice() {
        [] => Vec::new(),
        _ => project.workspace.history().ask(|history| history.sessions())?,
    };
    for session in &report.sessions {
        let is_running = known.iter().any(|known| known.id == session.id && session::is_running(known));
        let state = if is_running { "running" } else { "interrupted" };
        let place = session.artifact.as_ref().map(|path| format!(" {path}")).unwrap_or_default();
        output.remark(format_args!(
            "  {state} session: {} (last: {}{place}, {})",
            session.id, session.kind, session.at
        ));
    }
    Ok(())
}

answers! { Answer<'a>
    /// `resume`: where to go on, and what each source says
    "stepmark.resume/2" Resume (Told<'a>)
    // The sources that were looked at.
    struct Looked<'a> {
        artifact: &'a ProjectPath, tier: u8, sources: Vec<SourceRow<'a>>, distrusted: Vec<SourceRow<'a>>,
        delegations: &'a [OpenDelegation], interrupted_sessions: &'a [InterruptedSession],
        cautions: &'a [String],
    }
    struct Origin<'a> { source: StateSource, name: Option<&'a str> }
    struct SourceRow<'a> {
        source: StateSource, name: Option<&'a str>, verdict: &'static str, finding: String,
    }
    enum Told<'a> {
        Answer {
            #[serde(flatten)] report: Looked<'a>, answer: bool, from: Origin<'a>, why: &'a str,
            #[serde(flatten)] point: &'a ResumePoint,
        },
        Unclear { #[serde(flatten)] report: Looked<'a>, answer: bool, why: &'a str },
        Several {
            artifact: Option<&'a ProjectPath>, answer: bool, unfinished: Vec<&'a ProjectPath>,
            total_unfinished: usize,
        },
    }
}

fn answered<'a>(report: &'a ResumeReport, answer: &'a ResumeAnswer) -> Answer<'a> {
    Answer::Resume(Told::Answer {
        report: Looked { cautions: &answer.cautions, ..Looked::of(report) },
        answer: true,
        from: Origin { source: answer.source, name: answer.name.as_deref() },
        why: &answer.why,
        point: &answer.point,
    })
}

impl<'a> Looked<'a> {
    fn of(report: &'a ResumeReport) -> Self {
        let is_distrusted = |one: &&SourceReport| matches!(one.result, SourceResult::Distrusted { .. });
        let row = |source: &'a SourceReport| SourceRow {
            source: source.source,
            name: source.name.as_deref(),
            verdict: source.result.word(),
            finding: source.result.to_string(),
        };
        Self {
            artifact: &report.artifact,
            tier: report.tier as u8,
            sources: report.sources.iter().map(row).collect(),
            distrusted: report.sources.iter().filter(is_distrusted).map(row).collect(),
            delegations: &report.delegations,
            interrupted_sessions: &report.sessions,
            cautions: &report.cautions,
        }
    }
}
