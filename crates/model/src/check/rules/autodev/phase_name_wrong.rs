//! SMD07: the name of the phase is not in kebab-case.

use super::Block;
use crate::autodev::is_kebab_case;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMD07",
    name: "autodev-phase-name-not-kebab-case",
    group: Group::Autodev,
    severity: Severity::Warning,
    summary: "The name of the sub-step is not in kebab-case.",
    why: "The skill finds its phase by this name. A heading or a sentence is found by none of its readers; \
          older releases wrote such text.",
    bad: "# Autodev State\n\n## Current Step\nflow: greenfield\nstep: 3\nname: Plan\nstatus: in_progress\nsub_step:\n  phase: 4\n  name: Architecture Review\n  detail: \"\"\nretry_count: 0\ncycle: 1\n",
    good: "# Autodev State\n\n## Current Step\nflow: greenfield\nstep: 3\nname: Plan\nstatus: in_progress\nsub_step:\n  phase: 4\n  name: architecture-review\n  detail: \"\"\nretry_count: 0\ncycle: 1\n",
    fix: "Write the heading of the phase in small letters with hyphens, and the rest into `detail`.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Ok(block) = Block::of(subject) else { return };
    let message = match block.value(&["sub_step", "name"]).as_str() {
        Some(name) if is_kebab_case(name) => return,
        Some(name) => format!("the name of the phase is not in kebab-case: `{name}`"),
        None if !block.value(&["sub_step"]).is_object() => return,
        None => "the phase should have a name".to_owned(),
    };
    found.push(subject.finding(&RULE, block.span(&["sub_step", "name"]), message));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn a_phase_has_a_name_in_kebab_case() {
        let told = |name: &str| found(&RULE, &RULE.good.replace("name: architecture-review", name)).concat();
        assert_eq!(
            told("name: Architecture Review"),
            "10:9 SMD07 the name of the phase is not in kebab-case: `Architecture Review`"
        );
        assert_eq!(told("title: x"), "9:3 SMD07 the phase should have a name");
        assert!(told("name: batch-loop-2").is_empty());
    }
}
