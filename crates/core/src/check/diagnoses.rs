//! Diagnoses of a single artifact → findings.

use super::{Finding, Severity};
use crate::artifact::{Artifact, Diagnosis, Problem};

/// What is wrong with `artifact` by itself.
pub(super) fn findings(artifact: &Artifact) -> Vec<Finding> {
    artifact.diagnoses().iter().map(|diagnosis| finding(artifact, diagnosis)).collect()
}

fn finding(artifact: &Artifact, diagnosis: &Diagnosis) -> Finding {
    let Words { rule, severity, message, help } = state_words(&diagnosis.problem);
    Finding {
        rule,
        severity,
        message,
        help: (!help.is_empty()).then(|| help.to_owned()),
        path: artifact.path().clone(),
        span: diagnosis.span,
    }
}

struct Words {
    rule: &'static str,
    severity: Severity,
    message: String,
    help: &'static str,
}

fn document_words(problem: &Problem) -> Words {
    use Severity::{Error, Note};
    let (rule, severity, message, help) = match problem {
        Problem::FenceUnclosed => (
            "fence-unclosed",
            Error,
            "the frontmatter that opens here is never closed".to_owned(),
            "add a line `---` below the last key",
        ),
        Problem::FrontmatterMisplaced => (
            "frontmatter-misplaced",
            Error,
            "frontmatter counts only at the very start of a file; readers take this for text".to_owned(),
            "move it above everything else",
        ),
        Problem::NotYaml { error } => ("not-yaml", Error, error.to_string(), ""),
        Problem::NotAMapping => {
            ("not-a-mapping", Error, "the frontmatter holds no keys".to_owned(), "write `key: value` lines")
        }
        Problem::SeveralDocuments => {
            ("several-documents", Error, "only the first YAML document is read".to_owned(), "")
        }
        Problem::KeyTwice { key } => (
            "key-twice",
            Error,
            format!("the key `{key}` stands twice, and readers disagree on which one counts"),
            "keep one of them; stepmark reads the first and edits neither",
        ),
        Problem::AliasUnresolved { name } => (
            "alias-unresolved",
            Error,
            format!("`*{name}` is a reference to an anchor that does not exist"),
            "put the text in quotes if it is text",
        ),
        Problem::LineEndsMixed => {
            ("line-ends-mixed", Note, "lines of the frontmatter end in different ways".to_owned(), "")
        }
        Problem::ByteOrderMark => (
            "byte-order-mark",
            Note,
            "the file starts with a byte order mark; some readers see no frontmatter behind it".to_owned(),
            "",
        ),
        _ => return state_words(problem),
    };
    Words { rule, severity, message, help }
}

/// The words for problems of values.
fn state_words(problem: &Problem) -> Words {
    use Severity::{Error, Note, Warning};
    let (rule, severity, message, help) = match problem {
        Problem::StepsNotAList { key } => (
            "steps-not-a-list",
            Error,
            format!("`{key}` is no list of steps"),
            "write it as `[step, step]` or as lines with dashes",
        ),
        Problem::StepEmpty { key } => {
            ("step-empty", Warning, format!("`{key}` has an empty item"), "remove it")
        }
        Problem::StepUnreadable { key } => (
            "step-unreadable",
            Warning,
            format!("this item of `{key}` names no step"),
            "write a step id or number",
        ),
        Problem::StepTwice { key, step } => {
            ("step-twice", Warning, format!("`{step}` stands twice in `{key}`"), "remove one of them")
        }
        Problem::StepKindsMixed { key } => (
            "step-kinds-mixed",
            Note,
            format!("`{key}` mixes numbers and names"),
            "other tools compare items as they are spelled, so use one kind",
        ),
        Problem::StepsInBody => (
            "steps-in-body",
            Error,
            "this heading holds state that no reader of frontmatter sees".to_owned(),
            "move it into the frontmatter as a key",
        ),
        Problem::NumberMisread { key, text } => (
            "number-misread",
            Warning,
            format!("`{text}` in `{key}` is a number that readers change or disagree on"),
            "put it in quotes",
        ),
        Problem::CutByComment { key, lost } => (
            "cut-by-comment",
            Warning,
            format!("the value of `{key}` ends here; readers take `{lost}` for a comment"),
            "put the whole value in quotes",
        ),
        Problem::TemplateUnfilled { key } => (
            "template-unfilled",
            Note,
            format!("`{key}` still holds the placeholder of its template"),
            "fill it in",
        ),
        Problem::StatusNotText => ("status-not-text", Warning, "`status` is no word".to_owned(), ""),
        Problem::StatusDisagrees { body, frontmatter } => (
            "status-disagrees",
            Warning,
            format!("the body says `Status: {body}`, the frontmatter says `status: {frontmatter}`"),
            "the frontmatter counts; make the line say the same",
        ),
        Problem::AbsolutePath { path } => (
            "absolute-path",
            Warning,
            format!("`{path}` exists on one machine only"),
            "write it relative to the project",
        ),
        Problem::CurrentStepDisagrees { key } => (
            "current-step-disagrees",
            Warning,
            format!("`{key}` says something else"),
            "keep one of the two keys",
        ),
        Problem::FenceUnclosed
        | Problem::FrontmatterMisplaced
        | Problem::NotYaml { .. }
        | Problem::NotAMapping
        | Problem::SeveralDocuments
        | Problem::KeyTwice { .. }
        | Problem::AliasUnresolved { .. }
        | Problem::LineEndsMixed
        | Problem::ByteOrderMark => return document_words(problem),
    };
    Words { rule, severity, message, help }
}
