//! SMD11: the files of the project tell another step.

use super::Block;
use crate::autodev::Detection;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMD11",
    name: "autodev-folder-disagrees",
    group: Group::Autodev,
    severity: Severity::Warning,
    summary: "The files of the project tell another step than the state file of autodev.",
    why: "The skill trusts the folder: it begins at the step whose results are missing, whatever the state \
          file says. Mostly the file was not written after the last change, or results were \
          deleted.",
    bad: "# Autodev State\n\n## Current Step\nflow: greenfield\nstep: 3\nname: Plan\nstatus: in_progress\nsub_step:\n  phase: 4\n  name: architecture-review-risk-assessment\n  detail: \"\"\nretry_count: 0\ncycle: 1\n",
    good: "# Autodev State\n\n## Current Step\nflow: greenfield\nstep: 1\nname: Problem\nstatus: in_progress\nsub_step:\n  phase: 4\n  name: architecture-review-risk-assessment\n  detail: \"\"\nretry_count: 0\ncycle: 1\n",
    fix: "`stepmark autodev detect --explain` says what the files tell of each step, and `stepmark autodev \
          detect --write` notes it; history keeps both.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Ok(block) = Block::of(subject) else { return };
    let Some(facts) = subject.autodev() else { return };
    let Some(Detection::Elsewhere(step)) = facts.detection else { return };
    let told = match (step, block.flow(subject)) {
        (Some(number), Some(flow)) => {
            let name = flow.step(number).map_or_else(String::new, |step| format!(" `{}`", step.name));
            format!("the files of the project tell step {number}{name}")
        }
        _ => "the files of the project tell that all steps are done".to_owned(),
    };
    let help = "`stepmark autodev detect --explain` says why, `--write` notes it";
    found.push(subject.finding(&RULE, block.span(&["step"]), told).with_help(help));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{found, found_in, path_of};

    #[test]
    fn the_files_are_held_against_the_step() {
        assert_eq!(found(&RULE, RULE.bad), ["5:7 SMD11 the files of the project tell step 1 `Problem`"]);
        let files = [
            (path_of(&RULE), RULE.bad),
            ("_docs/00_problem/problem.md", "x"),
            ("_docs/00_problem/restrictions.md", "x"),
            ("_docs/00_problem/acceptance_criteria.md", "x"),
            ("_docs/00_problem/input_data/a.csv", "x"),
        ];
        let told = found_in(&RULE, &files).concat();
        assert!(told.ends_with("the files of the project tell step 2 `Research`"), "{told}");
        let all = [&files[..], &[("_docs/01_solution/solution_draft01.md", "x")]].concat();
        assert!(found_in(&RULE, &all).is_empty(), "no file tells of step 3, so it is believed");
        let existing = RULE.bad.replace("greenfield", "existing-code");
        assert!(found(&RULE, &existing).is_empty(), "no file tells of any step before");
    }
}
