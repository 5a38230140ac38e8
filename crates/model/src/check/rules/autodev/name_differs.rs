//! SMD04: the name of the step is not that of the flow.

use super::Block;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMD04",
    name: "autodev-name-differs",
    group: Group::Autodev,
    severity: Severity::Warning,
    summary: "The name of the step is not the one that the flow gives its number.",
    why: "People and banners go by the name, commands by the number: one of the two points to the wrong \
          step.",
    bad: "# Autodev State\n\n## Current Step\nflow: greenfield\nstep: 3\nname: Research\nstatus: in_progress\nsub_step:\n  phase: 4\n  name: architecture-review-risk-assessment\n  detail: \"\"\nretry_count: 0\ncycle: 1\n",
    good: "# Autodev State\n\n## Current Step\nflow: greenfield\nstep: 3\nname: Plan\nstatus: in_progress\nsub_step:\n  phase: 4\n  name: architecture-review-risk-assessment\n  detail: \"\"\nretry_count: 0\ncycle: 1\n",
    fix: "Write the name that the message gives, or the number of the step that was meant.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Ok(block) = Block::of(subject) else { return };
    let name = block.value(&["name"]).as_str();
    let message = match (name, block.step(subject)) {
        (None, _) => "`name` should be the name of the step".to_owned(),
        (Some(name), Some(step)) if !step.name.eq_ignore_ascii_case(name.trim()) => {
            format!("step {} is `{}`, not `{name}`", step.step, step.name)
        }
        _ => return,
    };
    found.push(subject.finding(&RULE, block.span(&["name"]), message));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn the_name_is_that_of_the_number() {
        let told = |name: &str| found(&RULE, &RULE.good.replace("name: Plan", name));
        assert_eq!(told("name: Research"), ["6:7 SMD04 step 3 is `Plan`, not `Research`"]);
        assert_eq!(told("name: 3"), ["6:7 SMD04 `name` should be the name of the step"]);
        assert!(told("name: plan").is_empty(), "capitals are no difference");
        let unknown = RULE.bad.replace("step: 3", "step: 99");
        assert!(found(&RULE, &unknown).is_empty(), "the number is told by a rule of its own");
    }
}
