//! SM501: the `delegation` of an artifact holds no keys, or no id.

use super::member;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM501",
    name: "delegation-unreadable",
    group: Group::Delegation,
    severity: Severity::Error,
    summary: "The `delegation` of an artifact holds no keys, or no id.",
    why: "Nothing can be delegated from here, and nobody can tell where the artifact stands in its \
              chain.",
    bad: "---\nstatus: draft\ndelegation: soon\n---\n",
    good: "---\nid: a\nstatus: draft\ndelegation: {id: a, parent_id: null, root_id: a, depth: 0, chain_path: [a]}\n---\n",
    fix: "Write `delegation: {id, parent_id, root_id, depth, chain_path}`; `stepmark delegate` does.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some((_, member)) = member(subject) else { return };
    let Some(delegation) = &member.delegation else { return };
    if !delegation.is_mapping {
        let finding = subject.finding(&RULE, delegation.span, "`delegation` holds no keys");
        found.push(finding.with_help("write `delegation: {id, parent_id, root_id, depth, chain_path}`"));
    } else if member.id().is_none() {
        let message = "the delegation has no `id`, so nothing can be delegated from here";
        found.push(subject.finding(&RULE, delegation.span, message).with_help("give it one"));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found_in;

    #[test]
    fn a_delegation_has_keys_and_an_id() {
        for (delegation, expected) in [
            ("soon", "a.md:2:13 SM501 `delegation` holds no keys"),
            (
                "{depth: 0}",
                "a.md:2:13 SM501 the delegation has no `id`, so nothing can be delegated from here",
            ),
        ] {
            let file = format!("---\ndelegation: {delegation}\n---\n");
            assert_eq!(found_in(&RULE, &[("a.md", &file)]), [expected]);
        }
        let file = "---\ndelegation: {id: a, depth: 0, root_id: a, chain_path: [a]}\n---\n";
        assert!(found_in(&RULE, &[("a.md", file)]).is_empty());
    }
}
