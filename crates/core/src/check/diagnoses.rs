//! Diagnoses of a single artifact → findings.

use super::{Finding, Severity};
use crate::artifact::{Artifact, Diagnosis, Problem};

/// What is wrong with `artifact` by itself.
pub(super) fn findings(artifact: &Artifact) -> Vec<Finding> {
    artifact.diagnoses().iter().map(|diagnosis| finding(artifact, diagnosis)).collect()
}

fn finding(artifact: &Artifact, diagnosis: &Diagnosis) -> Finding {
    let (rule, severity) = rule(&diagnosis.problem);
    Finding {
        rule,
        severity,
        message: diagnosis.problem.to_string(),
        help: help(&diagnosis.problem).map(str::to_owned),
        path: artifact.path().clone(),
        span: diagnosis.span,
    }
}

const fn rule(problem: &Problem) -> (&'static str, Severity) {
    use Severity::{Error, Note, Warning};
    match problem {
        Problem::FenceUnclosed => ("fence-unclosed", Error),
        Problem::FrontmatterMisplaced => ("frontmatter-misplaced", Error),
        Problem::NotYaml { .. } => ("not-yaml", Error),
        Problem::NotAMapping => ("not-a-mapping", Error),
        Problem::SeveralDocuments => ("several-documents", Error),
        Problem::KeyTwice { .. } => ("key-twice", Error),
        Problem::AliasUnresolved { .. } => ("alias-unresolved", Error),
        Problem::LineEndsMixed => ("line-ends-mixed", Note),
        Problem::ByteOrderMark => ("byte-order-mark", Note),
        Problem::StepsNotAList { .. } => ("steps-not-a-list", Error),
        Problem::StepEmpty { .. } => ("step-empty", Warning),
        Problem::StepUnreadable { .. } => ("step-unreadable", Warning),
        Problem::StepTwice { .. } => ("step-twice", Warning),
        Problem::StepKindsMixed { .. } => ("step-kinds-mixed", Note),
        Problem::StepsInBody => ("steps-in-body", Error),
        Problem::NumberMisread { .. } => ("number-misread", Warning),
        Problem::CutByComment { .. } => ("cut-by-comment", Warning),
        Problem::TemplateUnfilled { .. } => ("template-unfilled", Note),
        Problem::StatusNotText => ("status-not-text", Warning),
        Problem::StatusDisagrees { .. } => ("status-disagrees", Warning),
        Problem::AbsolutePath { .. } => ("absolute-path", Warning),
        Problem::CurrentStepDisagrees { .. } => ("current-step-disagrees", Warning),
    }
}

/// What to do, where it is not plain from the message.
const fn help(problem: &Problem) -> Option<&'static str> {
    Some(match problem {
        Problem::FenceUnclosed => "add a line `---` below the last key",
        Problem::FrontmatterMisplaced => "move it above everything else",
        Problem::NotAMapping => "write `key: value` lines",
        Problem::KeyTwice { .. } => "keep one of them; stepmark reads the first and edits neither",
        Problem::AliasUnresolved { .. } => "put the text in quotes if it is text",
        Problem::StepsNotAList { .. } => "write it as `[step, step]` or as lines with dashes",
        Problem::StepEmpty { .. } | Problem::StepTwice { .. } => "remove it",
        Problem::StepUnreadable { .. } => "write a step id or number",
        Problem::StepKindsMixed { .. } => "other tools compare items as they are spelled, so use one kind",
        Problem::StepsInBody => "move it into the frontmatter as a key",
        Problem::NumberMisread { .. } => "put it in quotes",
        Problem::CutByComment { .. } => "put the whole value in quotes",
        Problem::TemplateUnfilled { .. } => "fill it in",
        Problem::StatusDisagrees { .. } => "the frontmatter counts; make the line say the same",
        Problem::AbsolutePath { .. } => "write it relative to the project",
        Problem::CurrentStepDisagrees { .. } => "keep one of the two keys",
        Problem::NotYaml { .. }
        | Problem::SeveralDocuments
        | Problem::LineEndsMixed
        | Problem::ByteOrderMark
        | Problem::StatusNotText => return None,
    })
}
