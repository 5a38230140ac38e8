//! SMD06: the phase is no whole number, or goes back.

use super::Block;
use crate::autodev::Position;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMD06",
    name: "autodev-phase-wrong",
    group: Group::Autodev,
    severity: Severity::Error,
    summary: "The phase of the sub-step is no whole number, or lower than in the last commit.",
    why: "A skill counts its phases from 0, one a save, and resumes at the number. A fraction cannot be \
          resumed, and a lower number in the same step does again what was done.",
    bad: "# Autodev State\n\n## Current Step\nflow: greenfield\nstep: 3\nname: Plan\nstatus: in_progress\nsub_step:\n  phase: 4.5\n  name: architecture-review-risk-assessment\n  detail: \"\"\nretry_count: 0\ncycle: 1\n",
    good: "# Autodev State\n\n## Current Step\nflow: greenfield\nstep: 3\nname: Plan\nstatus: in_progress\nsub_step:\n  phase: 4\n  name: architecture-review-risk-assessment\n  detail: \"\"\nretry_count: 0\ncycle: 1\n",
    fix: "Write the next whole number: what the skill calls phase 4.5 is the one behind 4, and all later \
          ones move up by one. `stepmark autodev sub-step PHASE NAME` refuses what does not \
          follow.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Ok(block) = Block::of(subject) else { return };
    let phase = block.value(&["sub_step", "phase"]);
    let message = match phase.as_u64() {
        // Of a sub-step that is no mapping SMD01 tells.
        None if !block.value(&["sub_step"]).is_object() => return,
        None => format!("the phase should be a whole number, not `{phase}`"),
        Some(phase) => match earlier_phase(subject) {
            Some(earlier) if phase > 0 && phase < earlier => {
                format!("the phase is {phase}, and was {earlier} in the last commit")
            }
            _ => return,
        },
    };
    found.push(subject.finding(&RULE, block.span(&["sub_step", "phase"]), message));
}

/// The phase in the last commit, where the same attempt at the same step was being done.
fn earlier_phase(subject: &Subject<'_>) -> Option<u64> {
    let now = Position::of(subject.artifact).ok()?;
    let before = Position::of(subject.base.as_ref()?.artifact()).ok()?;
    let attempt = |position: &Position| {
        (position.flow.clone(), position.step.clone(), position.cycle, position.retry_count)
    };
    (attempt(&now) == attempt(&before)).then_some(before.sub_step.phase)
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
    fn a_phase_is_a_whole_number() {
        let told = |phase: &str| found(&RULE, &RULE.good.replace("phase: 4", phase)).concat();
        assert_eq!(told("phase: 4.5"), "9:10 SMD06 the phase should be a whole number, not `4.5`");
        assert_eq!(told("phase: four"), "9:10 SMD06 the phase should be a whole number, not `\"four\"`");
        assert_eq!(told("phase: -1"), "9:10 SMD06 the phase should be a whole number, not `-1`");
        assert!(told("phase: 0").is_empty());
    }

    #[test]
    fn a_phase_goes_on_within_an_attempt() {
        let tracked = |text: &str| {
            let path = ProjectPath::new(path_of(&RULE)).unwrap();
            TrackedArtifact::new(Artifact::read(path, text.into()), Membership::None, Default::default())
        };
        for (from, to, expected) in [
            ("phase: 4", "phase: 5", 0),
            ("phase: 4", "phase: 9", 0),
            ("phase: 4", "phase: 3", 1),
            ("phase: 4", "phase: 0", 0),
            ("phase: 4\n", "phase: 4\n", 0),
        ] {
            let (before, now) = (tracked(RULE.good), tracked(&RULE.good.replace(from, to)));
            let subject = Subject::of(&now).since(BaseVersion { tracked: &before, accepted: None });
            let mut found = Vec::new();
            RULE.look_at(&subject, &mut found);
            assert_eq!(found.len(), expected, "{to}: {found:?}");
        }
        let retried =
            tracked(&RULE.good.replace("phase: 4", "phase: 1").replace("retry_count: 0", "retry_count: 1"));
        let before = tracked(RULE.good);
        let mut found = Vec::new();
        let subject = Subject::of(&retried).since(BaseVersion { tracked: &before, accepted: None });
        RULE.look_at(&subject, &mut found);
        assert!(found.is_empty(), "a retry begins again");
    }
}
