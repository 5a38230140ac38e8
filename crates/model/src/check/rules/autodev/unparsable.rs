//! SMD01: the state file says no position.

use super::Block;
use crate::autodev::keeps_state;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use stepmark_frontmatter::Span;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMD01",
    name: "autodev-unparsable",
    group: Group::Autodev,
    severity: Severity::Error,
    summary: "The state file of autodev says no position: its heading, its YAML or a part of it is missing.",
    why: "The skill reads this block first and goes on where it points. One that cannot be read is no \
          position, and nothing is guessed: the folder is scanned instead, and what the block \
          alone knew is lost.",
    bad: "# Autodev State\n\nflow: greenfield\nstep: 3\nname: Plan\nstatus: in_progress\nsub_step:\n  phase: 4\n  name: architecture-review-risk-assessment\n  detail: \"\"\nretry_count: 0\ncycle: 1\n",
    good: "# Autodev State\n\n## Current Step\nflow: greenfield\nstep: 3\nname: Plan\nstatus: in_progress\nsub_step:\n  phase: 4\n  name: architecture-review-risk-assessment\n  detail: \"\"\nretry_count: 0\ncycle: 1\n",
    fix: "Write the block as the skill does: the heading `## Current Step`, then YAML without fences. \
          `stepmark autodev detect --write` notes the step that the files of the project tell.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    if !keeps_state(subject.artifact.path()) {
        return;
    }
    let (span, message) = match Block::of(subject) {
        Err(error) => (Span::at(error.offset()), error.to_string()),
        Ok(block) => match block.shape_error() {
            Some((keys, wanted)) => (block.span(keys), format!("`{}` should be {wanted}", keys.join("."))),
            None => return,
        },
    };
    let help = "`stepmark autodev detect --write` notes the step that the files of the project tell";
    found.push(subject.finding(&RULE, span, message).with_help(help));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{found, found_in};

    #[test]
    fn a_position_needs_its_heading_its_yaml_and_its_sub_step() {
        for (from, to, expected) in [
            ("## Current Step\n", "", "no heading"),
            ("flow: greenfield", "flow: [", "no YAML"),
            (
                "sub_step:\n  phase: 4\n  name: architecture-review-risk-assessment\n  detail: \"\"",
                "sub_step: 4",
                "`sub_step` should be",
            ),
            ("detail: \"\"", "detail: [a]", "`sub_step.detail` should be"),
        ] {
            let told = found(&RULE, &RULE.good.replace(from, to)).concat();
            assert!(told.contains("SMD01") && told.contains(expected), "{to}: {told}");
        }
    }

    #[test]
    fn the_same_text_under_another_name_is_no_state_file() {
        assert!(found_in(&RULE, &[("docs/state.md", RULE.bad)]).is_empty());
    }
}
