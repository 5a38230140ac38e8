//! SM504: the parent of an artifact does not exist.

use super::{member, span};
use crate::check::rules::argument;
use crate::check::{Finding, Fix, Group, Rule, Safety, Severity, Subject, rule::Decision};
use crate::delegation::{Ancestry, Member};
use stepmark_frontmatter::{Edit, KeyPath, Value};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM504",
    name: "delegation-parent-missing",
    group: Group::Delegation,
    severity: Severity::Error,
    summary: "The parent of an artifact does not exist.",
    why: "The chain is broken: who delegated the work cannot be told, nor whether all of it is \
              finished.",
    bad: "---\nid: a\nstatus: draft\ndelegation: {id: a, parent_id: gone, root_id: gone, depth: 1, chain_path: [gone, a]}\n---\n",
    good: "---\nid: a\nstatus: draft\ndelegation: {id: a, parent_id: null, root_id: a, depth: 0, chain_path: [a]}\n---\n",
    fix: "The parent was removed, or its id was changed: put it back, or make this one a root: `stepmark check --fix \
              --unsafe-fixes FILE`.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some((chains, member)) = member(subject) else { return };
    let Ancestry::Broken { below, missing } = chains.ancestry(member) else { return };
    if below.path == member.path {
        let message = format!("no artifact of the project has the id `{missing}` of the parent");
        let finding =
            subject.finding(&RULE, span(member, |delegation| delegation.parent_id.as_ref()), message);
        let help = "it was removed, or its id was changed: put it back, or make this one a root";
        let fix = as_a_root(subject, member);
        let help = match fix {
            Some(_) => {
                format!("{help}: `stepmark check --fix --unsafe-fixes {}`", argument(member.path.as_str()))
            }
            None => help.to_owned(),
        };
        found.push(finding.with_help(help).with_fix(fix));
    }
}

/// The fix that takes the artifact out of its chain: it begins one of its own.
fn as_a_root(subject: &Subject<'_>, member: &Member) -> Option<Fix> {
    let delegation = member.delegation.as_ref().filter(|delegation| delegation.is_mapping)?;
    let id = delegation.id()?;
    let set = |part: &str, value| Edit::Set { path: KeyPath::key("delegation").then(part), value };
    let edits = [
        set("parent_id", Value::Null),
        set("root_id", Value::from(id)),
        set("depth", Value::Integer(0)),
        set("chain_path", Value::Sequence(vec![Value::from(id)])),
    ];
    Fix::edit(Safety::Unsafe, "make this one a root", subject.artifact, &edits)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{fixed, found_in};

    #[test]
    fn only_the_child_of_the_missing_one_is_named() {
        let file =
            |id: &str, parent: &str| format!("---\ndelegation: {{id: {id}, parent_id: {parent}}}\n---\n");
        assert_eq!(
            found_in(&RULE, &[("a.md", &file("a", "x")), ("b.md", &file("b", "a"))]),
            ["a.md:2:32 SM504 no artifact of the project has the id `x` of the parent"]
        );
        assert!(found_in(&RULE, &[("a.md", &file("a", "null")), ("b.md", &file("b", "a"))]).is_empty());
    }

    #[test]
    fn the_one_whose_parent_is_gone_becomes_a_root() {
        assert_eq!(fixed(&RULE, RULE.bad).as_deref(), Some(RULE.good));
    }
}
