//! SMA02: a file of a slice was changed without a proposal.

use super::{slice, span};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::{asdd::drifted, check::rules::argument};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMA02",
    name: "slice-drifted",
    group: Group::Asdd,
    severity: Severity::Error,
    summary: "A file of a slice was changed after a slice accepted it.",
    why: "What follows was built on the file as it was: nobody has looked at what changed. The slice is held up until somebody does.",
    bad: "---\nstepmark_kind: asdd-slice\nid: SLICE-001\nname: Sign-in\nstatus: DISCOVERY\nphase_data: {intent: .asdd/specs/auth/intent.md}\naccepted: {.asdd/specs/auth/intent.md: ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff}\n---\n",
    good: "---\nstepmark_kind: asdd-slice\nid: SLICE-001\nname: Sign-in\nstatus: DISCOVERY\nphase_data: {intent: .asdd/specs/auth/intent.md}\n---\n",
    fix: "Bring the accepted bytes back, propose the file anew, or let a tech lead accept it: `stepmark asdd accept SLICE PATH --reason TEXT`.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let (Some(slice), Some(facts)) = (slice(subject), subject.asdd()) else { return };
    for path in drifted(slice, &facts.state, &facts.files) {
        let message = format!("STATE_DRIFT: `{path}` changed since it was accepted");
        let (id, path) = (argument(&slice.id), argument(path));
        let help = format!("a tech lead accepts it with `stepmark asdd accept {id} {path} --reason TEXT`");
        found.push(subject.finding(&RULE, span(subject, "phase_data"), message).with_help(help));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{found_in, path_of};

    #[test]
    fn a_file_is_as_it_was_accepted() {
        let intent = (".asdd/specs/auth/intent.md", "# Intent");
        let found = found_in(&RULE, &[(path_of(&RULE), RULE.bad), intent]);
        assert!(found.len() == 1 && found[0].contains("SMA02 STATE_DRIFT"), "{found:?}");
        assert!(found_in(&RULE, &[(path_of(&RULE), RULE.good), intent]).is_empty(), "never accepted");
        let hash = crate::artifact::FileHash::of(b"# Intent").to_string();
        let accepted = RULE.bad.replace(&"f".repeat(64), &hash);
        assert!(found_in(&RULE, &[(path_of(&RULE), &accepted), intent]).is_empty());
    }
}
