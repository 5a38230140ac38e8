//! SM503: the delegation calls the artifact by another id than its own.

use super::{member, span};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM503",
    name: "delegation-id-disagrees",
    group: Group::Delegation,
    severity: Severity::Warning,
    summary: "The delegation calls the artifact by another id than its own.",
    why: "History, gates and tickets follow the id of the artifact; the chain follows the id of the \
              delegation.",
    bad: "---\nid: a\nstatus: draft\ndelegation: {id: x, parent_id: null, root_id: x, depth: 0, chain_path: [x]}\n---\n",
    good: "---\nid: a\nstatus: draft\ndelegation: {id: a, parent_id: null, root_id: a, depth: 0, chain_path: [a]}\n---\n",
    fix: "Make them the same.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some((_, member)) = member(subject) else { return };
    let (Some(id), Some(own)) = (member.id(), member.identity.as_deref()) else { return };
    if own != id {
        let message = format!("the delegation calls this artifact `{id}`, its own id is `{own}`");
        let finding = subject.finding(&RULE, span(member, |delegation| delegation.id.as_ref()), message);
        found.push(finding.with_help("make them the same"));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found_in;

    #[test]
    fn an_artifact_has_one_id() {
        let file = "---\nid: x\ndelegation: {id: y, depth: 0, root_id: y, chain_path: y}\n---\n";
        assert_eq!(
            found_in(&RULE, &[("a.md", file)]),
            ["a.md:3:18 SM503 the delegation calls this artifact `y`, its own id is `x`"]
        );
        assert!(found_in(&RULE, &[("a.md", &file.replace("id: x", "id: y"))]).is_empty());
    }
}
