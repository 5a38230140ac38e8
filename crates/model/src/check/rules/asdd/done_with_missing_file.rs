//! SMA05: a slice is done and names a file that is not there.

use super::{slice, span};
use crate::asdd::{Inconsistency, inconsistencies};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMA05",
    name: "done-with-missing-file",
    group: Group::Asdd,
    severity: Severity::Error,
    summary: "A slice is done and names a file that is not there.",
    why: "Whoever builds on it, or asks later why it was done so, finds nothing.",
    bad: "---\nstepmark_kind: asdd-slice\nid: SLICE-001\nname: Sign-in\nstatus: DONE\nphase_data: {intent: .asdd/specs/auth/intent.md}\n---\n",
    good: "---\nstepmark_kind: asdd-slice\nid: SLICE-001\nname: Sign-in\nstatus: DONE\nphase_data: {}\n---\n",
    fix: "Bring the file back from git, or take its key out where it was not needed.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let (Some(slice), Some(facts)) = (slice(subject), subject.asdd()) else { return };
    if slice.status() != "DONE" {
        return;
    }
    for inconsistency in inconsistencies(slice, &facts.files) {
        if let Inconsistency::Missing { key, path } = inconsistency {
            let message = format!("it is done, and `phase_data.{key}` names `{path}`, which is not there");
            let help = "bring the file back from git";
            found.push(subject.finding(&RULE, span(subject, "phase_data"), message).with_help(help));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{found_in, path_of};

    #[test]
    fn a_finished_slice_has_its_files() {
        let found = found_in(&RULE, &[(path_of(&RULE), RULE.bad)]);
        assert!(found.len() == 1 && found[0].contains("SMA05 it is done"), "{found:?}");
        let intent = (".asdd/specs/auth/intent.md", "# Intent");
        assert!(found_in(&RULE, &[(path_of(&RULE), RULE.bad), intent]).is_empty());
    }
}
