//! SMD10: the cycle is wrong.

use super::Block;
use crate::autodev::{Flow, Position};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMD10",
    name: "autodev-cycle-wrong",
    group: Group::Autodev,
    severity: Severity::Warning,
    summary: "The cycle is no number from 1, is above 1 in a flow that does not go round, or lower than in the \
          last commit.",
    why: "Reports of a feature are named by the cycle (`implementation_report_NAME_cycle3.md`), and the \
          step that implements it looks for the one of its cycle.",
    bad: "# Autodev State\n\n## Current Step\nflow: greenfield\nstep: 3\nname: Plan\nstatus: in_progress\nsub_step:\n  phase: 4\n  name: architecture-review-risk-assessment\n  detail: \"\"\nretry_count: 0\ncycle: 2\n",
    good: "# Autodev State\n\n## Current Step\nflow: greenfield\nstep: 3\nname: Plan\nstatus: in_progress\nsub_step:\n  phase: 4\n  name: architecture-review-risk-assessment\n  detail: \"\"\nretry_count: 0\ncycle: 1\n",
    fix: "Write 1 in a flow that ends, and in `existing-code` the number of the round: it goes up by one \
          when the retrospective is completed.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Ok(block) = Block::of(subject) else { return };
    let cycle = block.value(&["cycle"]);
    let goes_round = |flow: &Flow| flow.steps.iter().any(|step| step.returns_to.is_some());
    let message = match cycle.as_u64() {
        None if cycle.is_null() => return,
        None | Some(0) => format!("the cycle should be a number from 1, not `{cycle}`"),
        Some(cycle) => match (block.flow(subject), earlier_cycle(subject)) {
            (Some(flow), _) if cycle > 1 && !goes_round(flow) => {
                format!("the flow `{}` does not go round: its cycle is 1, not {cycle}", flow.flow)
            }
            (_, Some(earlier)) if cycle < earlier => {
                format!("the cycle is {cycle}, and was {earlier} in the last commit")
            }
            _ => return,
        },
    };
    found.push(subject.finding(&RULE, block.span(&["cycle"]), message));
}

/// The cycle in the last commit, in the same flow.
fn earlier_cycle(subject: &Subject<'_>) -> Option<u64> {
    let now = Position::of(subject.artifact).ok()?;
    let before = Position::of(subject.base.as_ref()?.artifact()).ok()?;
    (now.flow == before.flow).then_some(before.cycle)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::{
        artifact::{Artifact, ProjectPath},
        check::{
            BaseVersion, Subject,
            rules::sample::{found, path_of},
        },
        tracked_artifact::{Membership, TrackedArtifact},
    };

    #[test]
    fn only_a_flow_that_goes_round_has_later_cycles() {
        let told = |cycle: &str| found(&RULE, &RULE.good.replace("cycle: 1", cycle)).concat();
        assert_eq!(
            told("cycle: 2"),
            "13:8 SMD10 the flow `greenfield` does not go round: its cycle is 1, not 2"
        );
        assert_eq!(told("cycle: 0"), "13:8 SMD10 the cycle should be a number from 1, not `0`");
        assert_eq!(told("cycle: one"), "13:8 SMD10 the cycle should be a number from 1, not `\"one\"`");
        assert!(told("# none").is_empty());
        assert!(found(&RULE, &RULE.bad.replace("greenfield", "existing-code")).is_empty());
    }

    #[test]
    fn a_cycle_does_not_go_back() {
        let tracked = |cycle: u64| {
            let path = ProjectPath::new(path_of(&RULE)).unwrap();
            let text = RULE
                .good
                .replace("greenfield", "existing-code")
                .replace("cycle: 1", &format!("cycle: {cycle}"));
            TrackedArtifact::new(Artifact::read(path, text.into()), Membership::None, Default::default())
        };
        for (before, now, expected) in [(2, 3, 0), (2, 2, 0), (3, 2, 1)] {
            let (before, now) = (tracked(before), tracked(now));
            let mut found = Vec::new();
            RULE.look_at(
                &Subject::of(&now).since(BaseVersion { tracked: &before, accepted: None }),
                &mut found,
            );
            assert_eq!(found.len(), expected, "{found:?}");
        }
    }
}
