//! SMD08: the reserved name stands at another phase than 0.

use super::Block;
use crate::autodev::AWAITING;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMD08",
    name: "autodev-name-reserved",
    group: Group::Autodev,
    severity: Severity::Error,
    summary: "The name `awaiting-invocation` stands at another phase than 0.",
    why: "With phase 0 it says that the skill was chained and has not begun. At another phase nobody can \
          tell whether the skill has begun.",
    bad: "# Autodev State\n\n## Current Step\nflow: greenfield\nstep: 3\nname: Plan\nstatus: in_progress\nsub_step:\n  phase: 4\n  name: awaiting-invocation\n  detail: \"\"\nretry_count: 0\ncycle: 1\n",
    good: "# Autodev State\n\n## Current Step\nflow: greenfield\nstep: 3\nname: Plan\nstatus: in_progress\nsub_step:\n  phase: 0\n  name: awaiting-invocation\n  detail: \"\"\nretry_count: 0\ncycle: 1\n",
    fix: "Write phase 0 where the skill has not begun, else the name of the phase.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Ok(block) = Block::of(subject) else { return };
    let (name, phase) = (block.value(&["sub_step", "name"]), block.value(&["sub_step", "phase"]));
    let Some(phase) = phase.as_u64().filter(|phase| *phase > 0 && name.as_str() == Some(AWAITING)) else {
        return;
    };
    let message = format!("`{AWAITING}` is the name of phase 0, not of phase {phase}");
    found.push(subject.finding(&RULE, block.span(&["sub_step", "name"]), message));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn the_reserved_name_is_that_of_phase_0() {
        let told = |phase: &str| found(&RULE, &RULE.bad.replace("phase: 4", phase)).concat();
        assert_eq!(
            told("phase: 1"),
            "10:9 SMD08 `awaiting-invocation` is the name of phase 0, not of phase 1"
        );
        assert!(told("phase: 0").is_empty() && told("phase: 1.5").is_empty());
        let review = RULE.good.replace("awaiting-invocation", "awaiting-human-review");
        assert!(found(&RULE, &review).is_empty(), "phase 0 may have another name");
    }
}
