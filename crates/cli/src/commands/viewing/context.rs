//! `stepmark show context`

use std::path::PathBuf;

use clap::Args;
use stepmark_model::{
    artifact::ProjectPath,
    workflow::{ContextAnswer, ContextCandidate, ContextOutcome},
};
use stepmark_store::workspace::Context as Found;

use crate::{
    exit::{Exit, Failure},
    output::Output,
    project::Project,
};

/// Show which artifact, workflow and configuration file apply, and why
///
/// The keys `active`, `main_config` and `config_source` are looked for in the artifact's frontmatter, in
/// `workflow.md` or `workflow.yaml` of its workflow, and in the configuration; the nearest to the artifact
/// wins. Ends with 1 when what wins cannot be used: nothing farther is taken instead.
#[derive(Debug, Args)]
pub(crate) struct Context {
    /// The artifact; without it the active one of the configuration
    artifact: Option<PathBuf>,
}

impl Context {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let path = self.artifact.as_deref().map(|given| project.artifact_path(given)).transpose()?;
        let found = project.workspace.context().of(path.as_ref())?;
        output.answer(|| answer(&found));
        describe(&found, path.is_some(), output);
        for (path, reason) in &found.missing {
            output.warning(format_args!("`{path}` counts and cannot be used: {reason}"));
        }
        Ok(if found.has_problem() { Exit::Findings } else { Exit::Fine })
    }
}

fn describe(found: &Found, is_named: bool, output: &Output) {
    let line = |name: &str, value: &str| output.line(format_args!("{name:<13} {value}"));
    match &found.artifact {
        Some(path) if is_named => line("artifact", &format!("{path} (named)")),
        Some(path) => line("artifact", &format!("{path} (active)")),
        None => line("artifact", "none"),
    }
    match &found.workflow {
        Some(workflow) => {
            let reasons: Vec<_> = workflow.evidence.iter().map(ToString::to_string).collect();
            line("workflow", &format!("{}, {} ({})", workflow.name, workflow.track, reasons.join("; ")));
        }
        None => line("workflow", "none"),
    }
    for (name, answer) in [("active", &found.active), ("configuration", &found.configuration_file)] {
        line(name, &decision(answer));
        if !output.quiet {
            for candidate in &answer.candidates {
                line("", &format!("{} {}: {}", candidate.kind, candidate.name, saying(candidate)));
            }
        }
    }
}

fn decision(answer: &ContextAnswer) -> String {
    match answer.winner() {
        None => "none is named".to_owned(),
        Some(winner) => match &winner.verdict {
            ContextOutcome::WinsUnusably { reason } => format!("cannot be used: {reason}"),
            _ => answer.path().map(ProjectPath::to_string).unwrap_or_default(),
        },
    }
}

fn saying(candidate: &ContextCandidate) -> String {
    let statement = candidate.statement.as_ref().map(|statement| {
        let line = statement.position.map(|position| format!("line {}, ", position.line)).unwrap_or_default();
        format!("{line}`{}: {}`", statement.key, statement.text.as_deref().unwrap_or("…"))
    });
    let statement = statement.unwrap_or_default();
    match &candidate.verdict {
        ContextOutcome::Silent => "says nothing".to_owned(),
        ContextOutcome::Unreadable { reason } => format!("cannot be read: {reason}"),
        ContextOutcome::Wins(_) => format!("{statement} counts"),
        ContextOutcome::WinsUnusably { .. } => format!("{statement} counts, and cannot be used"),
        ContextOutcome::Farther => format!("{statement} is farther away"),
    }
}

answers! { Answer<'a>
    /// `show context`: which artifact, workflow and configuration file apply, and why
    "stepmark.context/2" Context {
        artifact: Option<&'a ProjectPath>, workflow: Option<WorkflowRow<'a>>, active: Decided<'a>,
        configuration_file: Decided<'a>,
    }
    struct WorkflowRow<'a> { name: &'a str, track: String, because: Vec<String> }
    struct Decided<'a> {
        path: Option<&'a ProjectPath>, problem: Option<&'a str>, candidates: Vec<Candidate<'a>>,
    }
    struct Candidate<'a> {
        kind: String, source: &'a str, key: Option<&'a str>, value: Option<&'a str>, line: Option<usize>,
        verdict: &'static str, reason: Option<&'a str>,
    }
}

fn answer<'f>(found: &'f Found) -> Answer<'f> {
    let workflow = found.workflow.as_ref().map(|workflow| WorkflowRow {
        name: &workflow.name,
        track: workflow.track.to_string(),
        because: workflow.evidence.iter().map(ToString::to_string).collect(),
    });
    let decided = |answer: &'f ContextAnswer| {
        let missing = found.missing.iter().find(|(path, _)| Some(path) == answer.path());
        let unusable = || match &answer.winner()?.verdict {
            ContextOutcome::WinsUnusably { reason } => Some(&**reason),
            _ => None,
        };
        Decided {
            path: answer.path(),
            problem: missing.map(|(_, reason)| &**reason).or_else(unusable),
            candidates: answer.candidates.iter().map(Candidate::of).collect(),
        }
    };
    Answer::Context {
        artifact: found.artifact.as_ref(),
        workflow,
        active: decided(&found.active),
        configuration_file: decided(&found.configuration_file),
    }
}

impl<'a> Candidate<'a> {
    fn of(candidate: &'a ContextCandidate) -> Self {
        let (verdict, reason) = match &candidate.verdict {
            ContextOutcome::Silent => ("silent", None),
            ContextOutcome::Unreadable { reason } => ("unreadable", Some(&**reason)),
            ContextOutcome::Wins(_) => ("wins", None),
            ContextOutcome::WinsUnusably { reason } => ("wins-unusably", Some(&**reason)),
            ContextOutcome::Farther => ("farther", None),
        };
        let statement = candidate.statement.as_ref();
        Self {
            kind: candidate.kind.to_string(),
            source: &candidate.name,
            key: statement.map(|statement| &*statement.key),
            value: statement.and_then(|statement| statement.text.as_deref()),
            line: statement.and_then(|statement| Some(statement.position?.line)),
            verdict,
            reason,
        }
    }
}
