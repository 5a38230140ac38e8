//! SM404: an artifact names a next step that does not exist.

use crate::{
    artifact::ProjectPath,
    check::{Finding, Group, Rule, Severity, Subject, rule::Decision},
    workflow::{Chain, StepId, StepMatch},
};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM404",
    name: "next-step-missing",
    group: Group::References,
    severity: Severity::Warning,
    summary: "An artifact names a next step that does not exist.",
    why: "An agent that goes on with the artifact looks for that step, finds none, and makes one up.",
    bad: "---\nworkflowType: prd\nstepsCompleted: [step-01-init]\nnextStep: step-42-other\n---\n",
    good: "---\nworkflowType: prd\nstepsCompleted: [step-01-init]\nnextStep: step-02-discovery\n---\n",
    fix: "Take the key out: stepmark finds the next step in the workflow (`stepmark next`). Or write the name of a step that is \
           there.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    for field in &subject.artifact.state().next_steps {
        let Some(text) = field.filled().map(|text| text.trim().trim_matches('`')) else { continue };
        if is_missing(subject, text) {
            let finding = subject.finding(
                &RULE,
                field.span,
                format!("`{}` names `{text}`, which does not exist", field.key),
            );
            found.push(
                finding.with_help("take the key out: `stepmark next` finds the next step in the workflow"),
            );
        }
    }
}

fn is_missing(subject: &Subject<'_>, text: &str) -> bool {
    let path = text.strip_prefix("{project-root}/").unwrap_or(text);
    // Other variables have values that are not known here, and a sentence names nothing.
    if path.contains(['{', '}', ' ', '*']) || path.contains("://") {
        return false;
    }
    if subject.chain().is_some_and(|chain| is_step(chain, path)) {
        return false;
    }
    match subject.environment {
        Some(environment) if path.ends_with(".md") => {
            let own = subject.artifact.path().parent();
            let beside = own.and_then(|folder| folder.join(path).ok());
            let places: Vec<ProjectPath> = beside.into_iter().chain(ProjectPath::new(path).ok()).collect();
            // A path that leads out of the project is nothing that can be looked for.
            !places.is_empty() && !places.iter().any(|place| environment.exists(place))
        }
        _ => subject.chain().is_some() && StepId::parse(path).number().is_some(),
    }
}

/// Returns whether `text` is the name, the number or the file of a step.
fn is_step(chain: &Chain, text: &str) -> bool {
    let name = text.rsplit('/').next().unwrap_or(text);
    chain.find(&StepId::parse(name)) != StepMatch::None
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{found, found_in};

    #[test]
    fn a_next_step_is_one_of_the_workflow() {
        let next = |value: &str| {
            found(&RULE, &format!("---\nworkflowType: prd\nstepsCompleted: [1]\nnextStep: {value}\n---\n"))
        };
        for value in ["step-42-other", "42", "./step-42-other.md"] {
            assert_eq!(next(value), [format!("4:11 SM404 `nextStep` names `{value}`, which does not exist")]);
        }
        for value in [
            "step-02-discovery",
            "2",
            "02b",
            "./step-02-discovery.md",
            "steps/step-02-discovery.md",
            "none",
            "''",
            "'{nextStepFile}'",
            "Talk to Ada",
        ] {
            assert!(next(value).is_empty(), "{value}: {:?}", next(value));
        }
    }

    #[test]
    fn a_file_is_looked_for_beside_the_artifact_and_below_the_root() {
        let artifact = |file: &str| format!("---\nstatus: draft\nnextStepFile: '{file}'\n---\n");
        let found = |file: &str| {
            let text = artifact(file);
            found_in(
                &RULE,
                &[("flows/step-01.md", &text), ("flows/step-02.md", "# 2\n"), ("notes.md", "# Notes\n")],
            )
        };
        assert_eq!(
            found("./step-03.md"),
            ["flows/step-01.md:3:15 SM404 `nextStepFile` names `./step-03.md`, which does not exist"]
        );
        for file in [
            "./step-02.md",
            "step-02.md",
            "notes.md",
            "{project-root}/notes.md",
            "{x}/a.md",
            "https://example.org/a.md",
            "../../../a.md",
            "step-07",
        ] {
            assert!(found(file).is_empty(), "{file}: {:?}", found(file));
        }
    }
}
