//! SMD02: the flow is unknown.

use super::Block;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMD02",
    name: "autodev-flow-unknown",
    group: Group::Autodev,
    severity: Severity::Error,
    summary: "The state file of autodev names a flow that the project does not have.",
    why: "Steps are numbers of a flow. Without it nobody knows what the number means, and what comes next.",
    bad: "# Autodev State\n\n## Current Step\nflow: brownfield\nstep: 3\nname: Plan\nstatus: in_progress\nsub_step:\n  phase: 4\n  name: architecture-review-risk-assessment\n  detail: \"\"\nretry_count: 0\ncycle: 1\n",
    good: "# Autodev State\n\n## Current Step\nflow: greenfield\nstep: 3\nname: Plan\nstatus: in_progress\nsub_step:\n  phase: 4\n  name: architecture-review-risk-assessment\n  detail: \"\"\nretry_count: 0\ncycle: 1\n",
    fix: "Write one of the flows that the message lists, or declare the flow under `autodev.flows` of the \
          configuration.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Ok(block) = Block::of(subject) else { return };
    let flow = block.value(&["flow"]).as_str();
    let known: Option<Vec<String>> =
        subject.autodev().map(|facts| facts.flows.iter().map(|flow| format!("`{}`", flow.flow)).collect());
    let message = match flow {
        None => "`flow` should be the name of a flow".to_owned(),
        Some(flow) if subject.autodev().is_some_and(|facts| facts.flows.named(flow).is_none()) => {
            format!("there is no flow `{flow}`")
        }
        Some(_) => return,
    };
    let finding = subject.finding(&RULE, block.span(&["flow"]), message);
    found.push(match known {
        Some(known) => finding.with_help(format!("it is one of {}", known.join(", "))),
        None => finding,
    });
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{found, helps_in, path_of};

    #[test]
    fn a_flow_is_one_of_the_project() {
        let told = |flow: &str| found(&RULE, &RULE.good.replace("flow: greenfield", flow));
        assert_eq!(told("flow: brownfield"), ["4:7 SMD02 there is no flow `brownfield`"]);
        assert_eq!(told("flow: 3"), ["4:7 SMD02 `flow` should be the name of a flow"]);
        assert_eq!(told("floe: greenfield"), ["4:1 SMD02 `flow` should be the name of a flow"]);
        assert!(told("flow: meta-repo").is_empty());
        let helps = helps_in(&RULE, &[(path_of(&RULE), RULE.bad)]).concat();
        assert_eq!(helps, "it is one of `meta-repo`, `greenfield`, `existing-code`");
    }
}
