//! SM508: `chain_path` is not the way that the parents lead.

use super::{as_the_parents_say, place, quoted};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use stepmark_frontmatter::Value;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM508",
    name: "delegation-chain-wrong",
    group: Group::Delegation,
    severity: Severity::Warning,
    summary: "`chain_path` is not the way that the parents lead.",
    why: "Whoever reads the way from the file alone reads a wrong one.",
    bad: "---\nid: a\nstatus: draft\ndelegation: {id: a, parent_id: null, root_id: a, depth: 0, chain_path: [x, a]}\n---\n",
    good: "---\nid: a\nstatus: draft\ndelegation: {id: a, parent_id: null, root_id: a, depth: 0, chain_path: [a]}\n---\n",
    fix: "`parent_id` counts: write the ids from the root to this artifact.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some((_, delegation, way)) = place(subject) else { return };
    let path = delegation.chain_path.as_ref();
    let above = &way[..way.len().saturating_sub(1)];
    // Some write the ancestors alone.
    let is_right = path.is_some_and(|path| path.ids == way || !above.is_empty() && path.ids == above);
    if !is_right {
        let said = path.map_or("is missing".to_owned(), |path| format!("is {}", quoted(&path.ids)));
        let message = format!("`chain_path` {said}, but the parents lead through {}", quoted(&way));
        let span = path.map_or(delegation.span, |path| path.span);
        let ids = Value::Sequence(way.iter().copied().map(Value::from).collect());
        let fix = as_the_parents_say(subject, "chain_path", ids);
        found.push(subject.finding(&RULE, span, message).with_help("`parent_id` counts").with_fix(fix));
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
    fn the_way_leads_through_the_parents() {
        let wrong = CHILD.replace("[a, b]", "[x, b]");
        assert_eq!(
            found_in(&RULE, &[("a.md", ROOT), ("b.md", &wrong)]),
            ["b.md:2:69 SM508 `chain_path` is `x`, `b`, but the parents lead through `a`, `b`"]
        );
        assert!(found_in(&RULE, &[("a.md", ROOT), ("b.md", CHILD)]).is_empty());
        let ancestors = CHILD.replace("[a, b]", "[a]");
        assert!(found_in(&RULE, &[("a.md", ROOT), ("b.md", &ancestors)]).is_empty(), "the ancestors alone");
    }

    #[test]
    fn is_written_again() {
        assert_eq!(fixed(&RULE, &ROOT.replace("[a]", "[x, a]")).as_deref(), Some(ROOT));
    }
}
