//! SM509: an artifact is finished, and what was delegated from it is not.

use super::{member, quoted, span};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM509",
    name: "delegation-children-open",
    group: Group::Delegation,
    severity: Severity::Warning,
    summary: "An artifact is finished, and what was delegated from it is not.",
    why: "The work counts as done though a part of it is not.",
    bad: "---\nid: parent\nstatus: done\n---\n",
    good: "---\nid: parent\nstatus: in-progress\n---\n",
    fix: "Finish what was delegated, or open this one again.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some((chains, member)) = member(subject) else { return };
    let Some(id) = member.id().filter(|_| member.completion.is_finished()) else { return };
    let open: Vec<_> = chains.open_children(id).map(|child| child.path.as_str()).collect();
    if !open.is_empty() {
        let message = format!("this is finished, but not what was delegated from it: {}", quoted(&open));
        found.push(subject.finding(&RULE, span(member, |delegation| delegation.id.as_ref()), message));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found_in;

    #[test]
    fn the_open_children_are_named() {
        let parent = "---\nid: a\nstatus: done\n---\n";
        let child = "---\nstatus: todo\ndelegation: {id: b, parent_id: a, root_id: a, depth: 1, chain_path: [a, b]}\n---\n";
        assert_eq!(
            found_in(&RULE, &[("a.md", parent), ("b.md", child)]),
            ["a.md:1:1 SM509 this is finished, but not what was delegated from it: `b.md`"]
        );
        assert!(found_in(&RULE, &[("a.md", parent), ("b.md", &child.replace("todo", "done"))]).is_empty());
        assert!(found_in(&RULE, &[("a.md", &parent.replace("done", "todo")), ("b.md", child)]).is_empty());
    }
}
