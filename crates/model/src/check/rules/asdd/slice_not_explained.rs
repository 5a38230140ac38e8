//! SMA07: a slice changed without an event.

use super::{slice, span};
use crate::check::{Finding, Group, Loss, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMA07",
    name: "slice-not-explained",
    group: Group::Asdd,
    severity: Severity::Error,
    summary: "What a slice says changed since the last commit, and no event of stepmark tells why.",
    why: "Agents propose and the custodian commits: a phase that somebody wrote by hand has passed no gate.",
    bad: "---\nstepmark_kind: asdd-slice\nid: SLICE-001\nname: Sign-in\n# in the last commit: DESIGN\nstatus: IMPLEMENTATION\n---\n",
    good: "---\nstepmark_kind: asdd-slice\nid: SLICE-001\nname: Sign-in\n# in the last commit: DESIGN\nstatus: DESIGN\n---\n",
    fix: "Put back what the slice said, and let its agent propose the change: `stepmark asdd propose`.",
    decision: Decision::OfArtifact(check),
};

/// The keys that only proposals change.
const PROPOSED: [&str; 3] = ["status", "confidence_chain", "ccs"];

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let (Some(slice), Some(base)) = (slice(subject), subject.base) else { return };
    let Ok(before) = base.artifact().state_value() else { return };
    for key in PROPOSED {
        let (Some(before), after) = (before.get(key), slice.values.get(key)) else { continue };
        if Some(before) != after && !base.accepts(Loss::Value { key }) {
            let message = format!("`{key}` was {before}, and nothing tells why it changed");
            let help = format!(
                "put it back, then `stepmark asdd begin {0}` and `stepmark asdd propose {0}`",
                slice.id
            );
            found.push(subject.finding(&RULE, span(subject, key), message).with_help(help));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::artifact::{Artifact, ProjectPath};
    use crate::check::{AcceptedLosses, BaseVersion, Loss, Subject};
    use crate::tracked_artifact::{Membership, TrackedArtifact};

    struct All(bool);

    impl AcceptedLosses for All {
        fn accepts(&self, _: &Loss<'_>) -> bool {
            self.0
        }
    }

    #[test]
    fn a_change_has_an_event() {
        let tracked = |text: &str| {
            let path = ProjectPath::new(".asdd/slices/SLICE-001.md").unwrap();
            let artifact = Artifact::read(path, text.as_bytes().to_vec());
            TrackedArtifact::new(artifact, Membership::None, std::sync::Arc::default())
        };
        let (before, after) = (tracked(RULE.good), tracked(RULE.bad));
        for (is_told, expected) in [(false, 1), (true, 0)] {
            let accepted = All(is_told);
            let base = BaseVersion { tracked: &before, accepted: Some(&accepted) };
            let mut found = Vec::new();
            RULE.look_at(&Subject::of(&after).since(base), &mut found);
            assert_eq!(found.len(), expected, "{found:?}");
        }
    }
}
