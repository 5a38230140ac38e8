//! SMD09: the count of retries is wrong.

use super::Block;
use crate::autodev::MOST_RETRIES;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMD09",
    name: "autodev-retries-wrong",
    group: Group::Autodev,
    severity: Severity::Error,
    summary: "The count of failed retries is no number from 0 to 3, or it is 3 and the step has not failed.",
    why: "With the third failed retry the step has failed and waits for a person. A count beyond it, or a \
          step that goes on, means that the stop was passed over.",
    bad: "# Autodev State\n\n## Current Step\nflow: greenfield\nstep: 3\nname: Plan\nstatus: in_progress\nsub_step:\n  phase: 4\n  name: architecture-review-risk-assessment\n  detail: \"\"\nretry_count: 3\ncycle: 1\n",
    good: "# Autodev State\n\n## Current Step\nflow: greenfield\nstep: 3\nname: Plan\nstatus: failed\nsub_step:\n  phase: 4\n  name: architecture-review-risk-assessment\n  detail: \"\"\nretry_count: 3\ncycle: 1\n",
    fix: "Write `status: failed`; a person looks at the step and goes on with `stepmark autodev retry \
          --reset`.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Ok(block) = Block::of(subject) else { return };
    let count = block.value(&["retry_count"]);
    let status = block.value(&["status"]).as_str().unwrap_or_default();
    let message = match count.as_u64() {
        None if count.is_null() => return,
        None => format!("the count of retries should be a number from 0 to {MOST_RETRIES}, not `{count}`"),
        Some(count) if count > MOST_RETRIES => {
            format!("{count} retries failed: after {MOST_RETRIES} the step has failed")
        }
        Some(MOST_RETRIES) if status != "failed" => {
            format!("{MOST_RETRIES} retries failed, and the step is `{status}`, not `failed`")
        }
        Some(_) => return,
    };
    let help = "a person looks at it and goes on with `stepmark autodev retry --reset`";
    found.push(subject.finding(&RULE, block.span(&["retry_count"]), message).with_help(help));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn with_the_third_failed_retry_the_step_has_failed() {
        for (count, status, expected) in [
            ("0", "in_progress", ""),
            ("2", "in_progress", ""),
            ("3", "failed", ""),
            ("1", "failed", ""),
            ("3", "in_progress", "12:14 SMD09 3 retries failed, and the step is `in_progress`, not `failed`"),
            ("4", "failed", "12:14 SMD09 4 retries failed: after 3 the step has failed"),
            (
                "two",
                "failed",
                "12:14 SMD09 the count of retries should be a number from 0 to 3, not `\"two\"`",
            ),
            ("1.5", "failed", "12:14 SMD09 the count of retries should be a number from 0 to 3, not `1.5`"),
        ] {
            let text = RULE
                .good
                .replace("failed", status)
                .replace("retry_count: 3", &format!("retry_count: {count}"));
            assert_eq!(found(&RULE, &text).concat(), expected, "{count} {status}");
        }
    }
}
