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
        if output.json {
            output.json("stepmark.context/2", wire(&found));
        }
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

fn wire(found: &Found) -> serde_json::Value {
    let workflow = found.workflow.as_ref().map(|workflow| {
        let because: Vec<_> = workflow.evidence.iter().map(ToString::to_string).collect();
        serde_json::json!({"name": workflow.name, "track": workflow.track, "because": because})
    });
    let problem = |answer: &ContextAnswer| {
        let missing = found.missing.iter().find(|(path, _)| Some(path) == answer.path());
        missing.map(|(_, reason)| reason.clone()).or_else(|| match &answer.winner()?.verdict {
            ContextOutcome::WinsUnusably { reason } => Some(reason.clone()),
            _ => None,
        })
    };
    let answer = |answer: &ContextAnswer| {
        serde_json::json!({
            "path": answer.path(),
            "problem": problem(answer),
            "candidates": answer.candidates.iter().map(candidate_wire).collect::<Vec<_>>(),
        })
    };
    serde_json::json!({
        "artifact": found.artifact,
        "workflow": workflow,
        "active": answer(&found.active),
        "configuration_file": answer(&found.configuration_file),
    })
}

fn candidate_wire(candidate: &ContextCandidate) -> serde_json::Value {
    let (verdict, reason) = match &candidate.verdict {
        ContextOutcome::Silent => ("silent", None),
        ContextOutcome::Unreadable { reason } => ("unreadable", Some(reason)),
        ContextOutcome::Wins(_) => ("wins", None),
        ContextOutcome::WinsUnusably { reason } => ("wins-unusably", Some(reason)),
        ContextOutcome::Farther => ("farther", None),
    };
    let statement = candidate.statement.as_ref();
    serde_json::json!({
        "kind": candidate.kind.to_string(),
        "source": candidate.name,
        "key": statement.map(|statement| &statement.key),
        "value": statement.and_then(|statement| statement.text.as_ref()),
        "line": statement.and_then(|statement| Some(statement.position?.line)),
        "verdict": verdict,
        "reason": reason,
    })
}
