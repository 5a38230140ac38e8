//! SM506: `depth` is not the number of artifacts above this one.

use super::{as_the_parents_say, place, said, span};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use stepmark_frontmatter::Value;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM506",
    name: "delegation-depth-wrong",
    group: Group::Delegation,
    severity: Severity::Warning,
    summary: "`depth` is not the number of artifacts above this one.",
    why: "Tools that limit how deep work is delegated count wrongly.",
    bad: "---\nid: a\nstatus: draft\ndelegation: {id: a, parent_id: null, root_id: a, depth: 3, chain_path: [a]}\n---\n",
    good: "---\nid: a\nstatus: draft\ndelegation: {id: a, parent_id: null, root_id: a, depth: 0, chain_path: [a]}\n---\n",
    fix: "`parent_id` counts: write the number of artifacts above this one.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some((member, delegation, way)) = place(subject) else { return };
    let depth = way.len().saturating_sub(1);
    if delegation.depth() != Some(depth) {
        let message =
            format!("`depth` {}, but {depth} artifacts stand above this one", said(&delegation.depth));
        let finding = subject.finding(&RULE, span(member, |delegation| delegation.depth.as_ref()), message);
        let value = i64::try_from(depth).map(Value::Integer).ok();
        let fix = value.and_then(|value| as_the_parents_say(subject, "depth", value));
        found.push(finding.with_help("`parent_id` counts").with_fix(fix));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{fixed, found_in};

    const ROOT: &str = "---\ndelegation: {id: a, root_id: a, depth: 0, chain_path: [a]}\n---\n";
    const CHILD: &str =
        "---\ndelegation: {id: b, parent_id: a, root_id: a, depth: 1, chain_path: [a, b]}\n---\n";

    #[test]
    fn the_parents_count() {
        for (new, expected) in [
            ("depth: 3", "b.md:2:54 SM506 `depth` is `3`, but 1 artifacts stand above this one"),
            ("x: 1", "b.md:2:13 SM506 `depth` is missing, but 1 artifacts stand above this one"),
        ] {
            let wrong = CHILD.replace("depth: 1", new);
            assert_eq!(found_in(&RULE, &[("a.md", ROOT), ("b.md", &wrong)]), [expected]);
        }
        assert!(found_in(&RULE, &[("a.md", ROOT), ("b.md", CHILD)]).is_empty());
        assert!(
            found_in(&RULE, &[("a.md", ROOT), ("b.md", &CHILD.replace("depth: 1", "depth: '1'"))]).is_empty()
        );
    }

    #[test]
    fn is_counted_again() {
        let wrong = ROOT.replace("depth: 0", "depth: 2");
        assert_eq!(fixed(&RULE, &wrong).as_deref(), Some(ROOT));
    }
}
