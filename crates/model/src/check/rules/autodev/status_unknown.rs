//! SMD05: the status is none of the five.

use super::Block;
use crate::autodev::STATUSES;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMD05",
    name: "autodev-status-unknown",
    group: Group::Autodev,
    severity: Severity::Error,
    summary: "The status of the step is none that autodev knows.",
    why: "Whether a step waits, is being done or has failed decides what the next session does. No move \
          leads out of a word that nobody knows.",
    bad: "# Autodev State\n\n## Current Step\nflow: greenfield\nstep: 3\nname: Plan\nstatus: doing\nsub_step:\n  phase: 4\n  name: architecture-review-risk-assessment\n  detail: \"\"\nretry_count: 0\ncycle: 1\n",
    good: "# Autodev State\n\n## Current Step\nflow: greenfield\nstep: 3\nname: Plan\nstatus: in_progress\nsub_step:\n  phase: 4\n  name: architecture-review-risk-assessment\n  detail: \"\"\nretry_count: 0\ncycle: 1\n",
    fix: "Write `not_started`, `in_progress`, `completed`, `skipped` or `failed`.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Ok(block) = Block::of(subject) else { return };
    let message = match block.value(&["status"]).as_str() {
        Some(status) if STATUSES.contains(&status) => return,
        Some(status) => format!("a step is never `{status}`"),
        None => "`status` should be the status of the step".to_owned(),
    };
    let help = format!("it is one of `{}`", STATUSES.join("`, `"));
    found.push(subject.finding(&RULE, block.span(&["status"]), message).with_help(help));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::autodev::STATUSES;
    use crate::check::rules::sample::found;
    use crate::lifecycle::Lifecycles;

    #[test]
    fn the_words_are_those_of_the_lifecycle() {
        let lifecycles = Lifecycles::default();
        let states = lifecycles.get("autodev-step").unwrap().states().iter().map(|state| state.name.clone());
        assert_eq!(states.collect::<Vec<_>>(), STATUSES);
        for status in STATUSES {
            let text = RULE.good.replace("in_progress", status);
            assert!(found(&RULE, &text).is_empty(), "{status}");
        }
        let told = |status: &str| found(&RULE, &RULE.good.replace("status: in_progress", status)).concat();
        assert_eq!(told("status: in-progress"), "7:9 SMD05 a step is never `in-progress`");
        assert_eq!(told("status: [a]"), "7:9 SMD05 `status` should be the status of the step");
    }
}
