//! SM505: a chain of delegation leads back to where it was.

use super::{member, quoted, span};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::delegation::Ancestry;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM505",
    name: "delegation-circle",
    group: Group::Delegation,
    severity: Severity::Error,
    summary: "A chain of delegation leads back to where it was.",
    why: "Every one of these artifacts waits for itself.",
    bad: "---\nid: a\nstatus: draft\ndelegation: {id: a, parent_id: a, root_id: a, depth: 0, chain_path: [a]}\n---\n",
    good: "---\nid: a\nstatus: draft\ndelegation: {id: a, parent_id: null, root_id: a, depth: 0, chain_path: [a]}\n---\n",
    fix: "Take the wrong `parent_id` out.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some((chains, member)) = member(subject) else { return };
    let Ancestry::Circle(way) = chains.ancestry(member) else { return };
    if way.iter().any(|id| member.id() == Some(*id)) {
        let message = format!("the chain goes in a circle: {}", quoted(&way));
        let finding =
            subject.finding(&RULE, span(member, |delegation| delegation.parent_id.as_ref()), message);
        found.push(finding.with_help("take the wrong `parent_id` out"));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found_in;

    #[test]
    fn all_of_the_circle_are_named_and_no_others() {
        let file =
            |id: &str, parent: &str| format!("---\ndelegation: {{id: {id}, parent_id: {parent}}}\n---\n");
        let found = found_in(
            &RULE,
            &[("a.md", &file("a", "b")), ("b.md", &file("b", "a")), ("c.md", &file("c", "a"))],
        );
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("a.md:2:32 SM505 the chain goes in a circle"), "{found:?}");
        assert!(found[1].starts_with("b.md:2:32"), "{found:?}");
    }
}
