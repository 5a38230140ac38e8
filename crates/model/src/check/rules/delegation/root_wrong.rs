//! SM507: `root_id` is not the first artifact of the chain.

use super::{as_the_parents_say, place, said, span};
use crate::artifact::Field;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use stepmark_frontmatter::Value;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM507",
    name: "delegation-root-wrong",
    group: Group::Delegation,
    severity: Severity::Warning,
    summary: "`root_id` is not the first artifact of the chain.",
    why: "Tools that collect a chain by its root leave this artifact out, or put it into another \
              chain.",
    bad: "---\nid: a\nstatus: draft\ndelegation: {id: a, parent_id: null, root_id: x, depth: 0, chain_path: [a]}\n---\n",
    good: "---\nid: a\nstatus: draft\ndelegation: {id: a, parent_id: null, root_id: a, depth: 0, chain_path: [a]}\n---\n",
    fix: "`parent_id` counts: write the id of the first artifact of the chain.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some((member, delegation, way)) = place(subject) else { return };
    let Some(root) = way.first() else { return };
    if delegation.root_id.as_ref().and_then(Field::filled) != Some(*root) {
        let message = format!("`root_id` {}, but the chain begins with `{root}`", said(&delegation.root_id));
        let finding = subject.finding(&RULE, span(member, |delegation| delegation.root_id.as_ref()), message);
        let fix = as_the_parents_say(subject, "root_id", Value::from(*root));
        found.push(finding.with_help("`parent_id` counts").with_fix(fix));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{fixed, found_in};

    const ROOT: &str = "---\ndelegation: {id: a, root_id: a, depth: 0, chain_path: [a]}\n---\n";

    #[test]
    fn the_chain_begins_with_its_root() {
        let wrong = ROOT.replace("root_id: a", "root_id: x");
        assert_eq!(
            found_in(&RULE, &[("a.md", &wrong)]),
            ["a.md:2:30 SM507 `root_id` is `x`, but the chain begins with `a`"]
        );
        assert_eq!(fixed(&RULE, &wrong).as_deref(), Some(ROOT));
        assert!(found_in(&RULE, &[("a.md", ROOT)]).is_empty());
    }
}
