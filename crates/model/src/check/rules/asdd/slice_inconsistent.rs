//! SMA01: a slice contradicts the files of the project.

use super::{super::value_span, slice, span};
use crate::asdd::{Inconsistency, inconsistencies};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMA01",
    name: "slice-inconsistent",
    group: Group::Asdd,
    severity: Severity::Error,
    summary: "A slice contradicts the files of the project, or has a status that no slice has.",
    why: "Agents decide from what the slice says. One that names a file which is not there, or says a phase whose files are ahead of it, leads the next agent astray.",
    bad: "---\nstepmark_kind: asdd-slice\nid: SLICE-001\nname: Sign-in\nstatus: SPEC\nphase_data: {intent: .asdd/specs/auth/intent.md}\n---\n",
    good: "---\nstepmark_kind: asdd-slice\nid: SLICE-001\nname: Sign-in\nstatus: DISCOVERY\nphase_data: {}\n---\n",
    fix: "Bring the files back, or propose what they are now. `stepmark asdd show SLICE` shows what the slice names.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let (Some(slice), Some(facts)) = (slice(subject), subject.asdd()) else { return };
    for inconsistency in inconsistencies(slice, &facts.files) {
        let place = match &inconsistency {
            // A finished slice and a chain have rules of their own.
            Inconsistency::Missing { .. } if slice.status() == "DONE" => continue,
            Inconsistency::Twice { .. } => continue,
            Inconsistency::Missing { key, .. } => value_span(subject.artifact, &["phase_data", key]),
            _ => span(subject, "status"),
        };
        let message = format!("STATE_INCONSISTENCY: {inconsistency}");
        let help = "bring the files back, or let their agent propose what they are now";
        found.push(subject.finding(&RULE, place, message).with_help(help));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{found, found_in, path_of};

    #[test]
    fn files_and_phase_agree() {
        assert_eq!(
            found(&RULE, RULE.bad),
            [
                "6:22 SMA01 STATE_INCONSISTENCY: `phase_data.intent` names `.asdd/specs/auth/intent.md`, which is not there"
            ]
        );
        let intent = (".asdd/specs/auth/intent.md", "# Intent");
        assert!(found_in(&RULE, &[(path_of(&RULE), RULE.bad), intent]).is_empty());
        let later = (".asdd/specs/auth/design.md", "# Design");
        let found_later = found_in(&RULE, &[(path_of(&RULE), RULE.bad), intent, later]);
        let expected =
            "STATE_INCONSISTENCY: `.asdd/specs/auth/design.md` is there, and the slice is still in SPEC";
        assert!(found_later.len() == 1 && found_later[0].contains(expected), "{found_later:?}");
        let unknown = RULE.good.replace("DISCOVERY", "THINKING");
        assert_eq!(
            found(&RULE, &unknown),
            ["5:9 SMA01 STATE_INCONSISTENCY: `THINKING` is no status of a slice"]
        );
    }
}
