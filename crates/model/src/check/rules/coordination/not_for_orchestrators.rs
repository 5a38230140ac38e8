//! SMC11: an orchestrator does not take a value.

use super::{span, task};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::coordination::{Format, unheld};
use crate::spelling::listed;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMC11",
    name: "task-not-for-orchestrators",
    group: Group::Coordination,
    severity: Severity::Note,
    summary: "With option C, a task has values that orchestrators do not take.",
    why: "They get others in their place: `failed` for `cancelled`, nothing for keys that they do not \
          know. The values themselves stand in `context.metadata.stepmark` of the state file and come \
          back from there; only the orchestrator does not see them.",
    bad: "---\nstepmark_kind: task\nid: tests\ndescription: Test the parser\nstatus: cancelled\n---\n",
    good: "---\nstepmark_kind: task\nid: tests\ndescription: Test the parser\nstatus: failed\nresult: {output: ''}\n---\n",
    fix: "Nothing needs to be done, unless an orchestrator is to know of them.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let (Some(task), Some(facts)) = (task(subject), subject.coordination()) else { return };
    if facts.format != Format::OrchestratorState {
        return;
    }
    let unheld = unheld(task);
    let Some(first) = unheld.first() else { return };
    let span = span(subject, first.split_once('.').map_or(first.as_str(), |(part, _)| part));
    let message = format!("orchestrators do not take {}", listed(&unheld));
    let help = "it stands in `context.metadata.stepmark` of the state file";
    found.push(subject.finding(&RULE, span, message).with_help(help));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn what_the_model_does_not_hold_is_told() {
        assert_eq!(found(&RULE, RULE.bad), ["5:9 SMC11 orchestrators do not take `status`"]);
        let text = "---\nstepmark_kind: task\nid: t\ndescription: x\ncontext: {hints: '', mine: 1}\ngroup_id: g\n---\n";
        assert_eq!(
            found(&RULE, text),
            ["6:11 SMC11 orchestrators do not take `group_id` and `context.mine`"]
        );
    }
}
