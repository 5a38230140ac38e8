//! SM502: two artifacts have the same id.

use super::{quoted, span};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM502",
    name: "delegation-id-twice",
    group: Group::Delegation,
    severity: Severity::Error,
    summary: "Two artifacts have the same id.",
    why: "Whatever names this id may mean either. A copied file that kept the id of its original is \
              the usual cause.",
    bad: "---\nid: other\nstatus: draft\ndelegation: {id: other, parent_id: null, root_id: other, depth: 0, chain_path: [other]}\n---\n",
    good: "---\nid: a\nstatus: draft\ndelegation: {id: a, parent_id: null, root_id: a, depth: 0, chain_path: [a]}\n---\n",
    fix: "Give one of them an id of its own.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(chains) = subject.chains else { return };
    let Some(member) = chains.at(subject.artifact.path()) else { return };
    let Some(id) = member.id() else { return };
    let others = chains.with_id(id).filter(|other| other.path != member.path);
    let others: Vec<_> = others.map(|other| other.path.as_str()).collect();
    if !others.is_empty() {
        let message = format!("the id `{id}` is also that of {}", quoted(&others));
        let state = subject.artifact.state();
        let own = state.id.as_ref().or(state.stepmark_id.as_ref()).filter(|_| member.delegation.is_none());
        let place = own.map_or_else(|| span(member, |delegation| delegation.id.as_ref()), |id| id.span);
        let finding = subject.finding(&RULE, place, message);
        found.push(finding.with_help("a copied file keeps the id of its original: give one of them its own"));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found_in;

    #[test]
    fn both_are_named() {
        let file = "---\ndelegation: {id: a, depth: 0, root_id: a, chain_path: [a]}\n---\n";
        assert_eq!(
            found_in(&RULE, &[("a.md", file), ("b.md", file)]),
            [
                "a.md:2:18 SM502 the id `a` is also that of `b.md`",
                "b.md:2:18 SM502 the id `a` is also that of `a.md`"
            ]
        );
        let numbered: Vec<String> = (1..12).map(|number| format!("story-{number}.md")).collect();
        let numbered: Vec<(&str, &str)> = numbered.iter().map(|path| (path.as_str(), file)).collect();
        assert_eq!(found_in(&RULE, &numbered).len(), 11, "files with numbers, whatever their order");
        let plain = "---\nid: 1\n---\n";
        assert_eq!(found_in(&RULE, &[("a.md", plain), ("b.md", plain)]).len(), 2, "ids that no chain uses");
        assert!(found_in(&RULE, &[("a.md", plain)]).is_empty());
    }
}
