//! SMC08: a record names an agent that is not there.

use super::span;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::coordination::{RecordKind, is_held};
use crate::spelling::near_words;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMC08",
    name: "coordination-agent-unknown",
    group: Group::Coordination,
    severity: Severity::Warning,
    summary: "A task that is claimed, or a discovery, names an agent without a record.",
    why: "Nobody sees what that agent can do and whether it lives.",
    bad: "---\nstepmark_kind: task\nid: tests\ndescription: Test the parser\nstatus: claimed\nclaimed_by: worker-1\n---\n",
    good: "---\nstepmark_kind: task\nid: tests\ndescription: Test the parser\nstatus: available\nclaimed_by: null\n---\n",
    fix: "`stepmark coordination register AGENT` makes its record.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(record) = subject.record() else { return };
    let key = match record.kind {
        RecordKind::Task if is_held(record) => "claimed_by",
        RecordKind::Discovery => "agent_id",
        _ => return,
    };
    let (Some(agent), Some(facts)) = (record.text(key), subject.coordination()) else { return };
    if facts.state.agent(agent).is_some() {
        return;
    }
    let near = near_words(agent, facts.state.agents.iter().map(|agent| agent.id.as_str()));
    let help = match near.first() {
        Some(near) => format!("is `{near}` meant?"),
        None => format!("`stepmark coordination register {agent}` makes its record"),
    };
    let message = format!("`{agent}` is no agent of the coordination");
    found.push(subject.finding(&RULE, span(subject, key), message).with_help(help));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{found_in, helps_in, path_of};

    #[test]
    fn whoever_has_a_task_or_found_something_out_is_known() {
        let agent = |id: &str| format!("---\nstepmark_kind: agent\nagent: {id}\n---\n");
        let discovery = "---\nstepmark_kind: discovery\nid: d\nagent_id: ghost\n---\nText\n";
        let (known, other) = (agent("worker-1"), agent("worker-2"));
        let path = path_of(&RULE);
        assert!(found_in(&RULE, &[(path, RULE.bad), ("w.md", &known)]).is_empty());
        let files = [(path, RULE.bad), ("w.md", other.as_str()), ("d.md", discovery)];
        assert_eq!(
            found_in(&RULE, &files),
            [
                format!("{path}:6:13 SMC08 `worker-1` is no agent of the coordination"),
                "d.md:4:11 SMC08 `ghost` is no agent of the coordination".to_owned(),
            ]
        );
        assert_eq!(
            helps_in(&RULE, &files),
            ["is `worker-2` meant?", "`stepmark coordination register ghost` makes its record"]
        );
    }
}
