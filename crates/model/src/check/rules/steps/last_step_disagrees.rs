//! SM214: `lastStep` is not the last step of the list.

use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::{
    artifact::{Field, FieldKind, StepItemKind},
    check::{Fix, Safety},
    workflow::LastStep,
};
use stepmark_frontmatter::{Edit, KeyPath};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM214",
    name: "last-step-disagrees",
    group: Group::Steps,
    severity: Severity::Note,
    summary: "`lastStep` is not the last step of the list.",
    why: "Two places say how far the workflow is, and tools believe one or the other. The list counts \
              here.",
    bad: "---\nworkflowType: prd\nstepsCompleted: [step-01-init, step-02-discovery]\nlastStep: step-01-init\n---\n",
    good: "---\nworkflowType: prd\nstepsCompleted: [step-01-init, step-02-discovery]\nlastStep: step-02-discovery\n---\n",
    fix: "Make `lastStep` say the same as the list, or remove it.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let (Some(progress), Some(last)) = (subject.progress(), &subject.artifact.state().last_step) else {
        return;
    };
    if matches!(progress.last_step, LastStep::Disagrees(_)) {
        let message = format!("`lastStep: {}` is not the last step of the list", last.text);
        let finding = subject.finding(&RULE, last.span, message);
        found.push(finding.with_help("the list counts").with_fix(as_the_list_says(subject, last)));
    }
}

/// The last item of the list that counts, where it is spelled in the manner of `last`.
fn as_the_list_says(subject: &Subject<'_>, last: &Field) -> Option<Fix> {
    let place = subject.progress()?.done.last()?.item;
    let item = subject.artifact.steps()?.items.get(place)?;
    if item.kind != StepItemKind::Scalar(last.kind)
        || !matches!(last.kind, FieldKind::Text | FieldKind::Integer)
    {
        return None;
    }
    let set = Edit::Set { path: KeyPath::key("lastStep"), value: item.like(&item.spelling) };
    Fix::edit(Safety::Unsafe, format!("make it `{}`", item.spelling), subject.artifact, &[set])
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{fixed, found};

    #[test]
    fn the_list_counts() {
        let file = "---\nworkflowType: prd\nstepsCompleted: [step-01-init, step-02-discovery]\nlastStep: 'step-01-init'\n---\n";
        assert_eq!(
            found(&RULE, file),
            ["4:11 SM214 `lastStep: step-01-init` is not the last step of the list"]
        );
        assert_eq!(
            fixed(&RULE, file),
            Some(file.replace("lastStep: 'step-01-init'", "lastStep: 'step-02-discovery'"))
        );
        let numbers = "---\nworkflowType: prd\nstepsCompleted: [1, 2]\nlastStep: 1\n---\n";
        assert_eq!(fixed(&RULE, numbers), Some(numbers.replace("lastStep: 1", "lastStep: 2")));
        let mixed = numbers.replace("lastStep: 1", "lastStep: step-01-init");
        assert_eq!((found(&RULE, &mixed).len(), fixed(&RULE, &mixed)), (1, None));
        assert!(found(&RULE, &numbers.replace("lastStep: 1", "lastStep: 2")).is_empty());
    }
}
