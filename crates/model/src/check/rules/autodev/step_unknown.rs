//! SMD03: the flow has no such step.

use super::Block;
use crate::autodev::StepPlace;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMD03",
    name: "autodev-step-out-of-range",
    group: Group::Autodev,
    severity: Severity::Error,
    summary: "The step of autodev is none of its flow.",
    why: "The step is a number of the flow, or `done`. Behind any other nothing follows, and no command \
          goes on from it. A step between two others, as later releases of the skill write them \
          (`2.5`), is kept and told as a note.",
    bad: "# Autodev State\n\n## Current Step\nflow: greenfield\nstep: 12\nname: Plan\nstatus: in_progress\nsub_step:\n  phase: 4\n  name: architecture-review-risk-assessment\n  detail: \"\"\nretry_count: 0\ncycle: 1\n",
    good: "# Autodev State\n\n## Current Step\nflow: greenfield\nstep: 3\nname: Plan\nstatus: in_progress\nsub_step:\n  phase: 4\n  name: architecture-review-risk-assessment\n  detail: \"\"\nretry_count: 0\ncycle: 1\n",
    fix: "`stepmark autodev detect` says in which step the project is, and `--write` notes it.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Ok(block) = Block::of(subject) else { return };
    let (step, span) = (block.value(&["step"]), block.span(&["step"]));
    let flow = block.flow(subject);
    let count = flow.map(|flow| flow.steps.len());
    let range = count.map_or_else(|| "a number from 1".to_owned(), |count| format!("1 to {count}"));
    let message = match StepPlace::read(step) {
        Some(StepPlace::Done) => return,
        Some(StepPlace::Number(number))
            if number > 0 && flow.is_none_or(|flow| flow.step(number).is_some()) =>
        {
            return;
        }
        Some(StepPlace::Number(number)) => format!("step {number} is none of the flow: it has {range}"),
        Some(StepPlace::Fraction(number)) => {
            let message =
                format!("step {number} stands between two steps: no command leads to it, none changes it");
            let finding = subject.finding(&RULE, span, message);
            found.push(Finding { severity: Severity::Note, ..finding });
            return;
        }
        None => format!("`step` should be {range}, or `done`"),
    };
    let help = "`stepmark autodev detect` says in which step the project is";
    found.push(subject.finding(&RULE, span, message).with_help(help));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn a_step_is_a_number_of_the_flow_or_done() {
        let told = |flow: &str, step: &str| {
            let text =
                RULE.good.replace("flow: greenfield", flow).replace("step: 3\n", &format!("step: {step}\n"));
            found(&RULE, &text).concat()
        };
        for (flow, step, expected) in [
            ("flow: greenfield", "11", ""),
            ("flow: greenfield", "done", ""),
            ("flow: greenfield", "12", "5:7 SMD03 step 12 is none of the flow: it has 1 to 11"),
            ("flow: existing-code", "12", ""),
            ("flow: meta-repo", "7", "5:7 SMD03 step 7 is none of the flow: it has 1 to 6"),
            ("flow: other", "99", ""),
            ("flow: greenfield", "0", "5:7 SMD03 step 0 is none of the flow: it has 1 to 11"),
            ("flow: greenfield", "three", "5:7 SMD03 `step` should be 1 to 11, or `done`"),
            ("flow: greenfield", "-1", "5:7 SMD03 `step` should be 1 to 11, or `done`"),
            (
                "flow: greenfield",
                "2.5",
                "5:7 SMD03 step 2.5 stands between two steps: no command leads to it, none changes it",
            ),
        ] {
            assert_eq!(told(flow, step), expected, "{flow} {step}");
        }
    }
}
