//! SMP06: a record that only a role may change was changed by other means.

use super::Past;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMP06",
    name: "writer-not-allowed",
    group: Group::Systems,
    severity: Severity::Error,
    summary: "A record that only a role may change was changed since the last commit, and history does not tell by whom.",
    why: "The lifecycle says who keeps such records, so that one hand answers for them. A change by other means has no \
          author.",
    bad: "---\n# in the last commit: status: SPEC; the lifecycle has `writers: custodian`\nstatus: DONE\n---\n",
    good: "---\nstatus: SPEC\n---\n",
    fix: "Put it back, and let an actor with the role make the change by a command: `stepmark --actor agent:knowledge set …`.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(past) = Past::of(subject) else { return };
    let Some(role) = &past.lifecycle.attributes().writers else { return };
    let Some((key, span)) = past.unexplained(subject) else { return };
    let message = format!(
        "`{key}` was changed by other means than stepmark, and only the role `{role}` may change it by the lifecycle `{}`",
        past.lifecycle.name()
    );
    let path = subject.artifact.path();
    let help = format!(
        "put it back (`git show HEAD:./{path}` has it), and change it with `--actor KIND:NAME` of somebody who has the role"
    );
    found.push(subject.finding(&RULE, span, message).with_help(help));
}

#[cfg(test)]
mod tests {
    use super::{super::sample::found_after, RULE};

    #[test]
    fn a_change_has_to_be_told() {
        let found = found_after(&RULE, "kind: kept\nn: 1", "kind: kept\nn: 2", &[]);
        assert_eq!(
            found,
            [
                "3:4 SMP06 `n` was changed by other means than stepmark, and only the role `custodian` may change it by the lifecycle `record`"
            ]
        );
        assert!(found_after(&RULE, "kind: kept\nn: 1", "kind: kept\nn: 2", &["n"]).is_empty());
        assert!(found_after(&RULE, "kind: kept\nn: 1", "n: 1\nkind: kept", &[]).is_empty());
        assert!(found_after(&RULE, "status: open\nn: 1", "status: open\nn: 2", &[]).is_empty(), "anybody's");
    }
}
