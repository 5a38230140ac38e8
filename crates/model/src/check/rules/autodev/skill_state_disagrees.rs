//! SMD12: the state file of the skill says another phase.

use super::Block;
use crate::autodev::Position;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMD12",
    name: "autodev-skill-state-disagrees",
    group: Group::Autodev,
    severity: Severity::Warning,
    summary: "The state file of the skill says another phase than the sub-step of autodev.",
    why: "Some skills keep a state of their own, as `document` does in `_docs/02_document/state.json`. \
          Where its `current_step` and the sub-step differ, the next session resumes at the wrong \
          one of the two.",
    bad: "# Autodev State\n\n## Current Step\nflow: existing-code\nstep: 1\nname: Document\nstatus: in_progress\nsub_step:\n  phase: 4\n  name: module-analysis\n  detail: \"\"\nretry_count: 0\ncycle: 1\n",
    good: "# Autodev State\n\n## Current Step\nflow: existing-code\nstep: 1\nname: Document\nstatus: in_progress\nsub_step:\n  phase: 4\n  name: discovery\n  detail: \"\"\nretry_count: 0\ncycle: 1\n",
    fix: "See which of the two is right: note the phase of the skill with `stepmark autodev sub-step PHASE \
          NAME`. The files are those under `autodev.states` of the configuration, by the name of \
          the step.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Ok(block) = Block::of(subject) else { return };
    let Some(state) = subject.autodev().and_then(|facts| facts.skill_state.as_ref()) else { return };
    let Ok(noted) = Position::of(subject.artifact) else { return };
    if state.agrees_with(&noted) {
        return;
    }
    let message =
        format!("`{}` says `{}`, the sub-step says `{}`", state.file, state.phase, noted.sub_step.name);
    found.push(subject.finding(&RULE, block.span(&["sub_step", "name"]), message));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{SKILL_STATE, found, found_in, path_of};

    fn told(text: &str, state: &str) -> String {
        found_in(&RULE, &[(path_of(&RULE), text), (SKILL_STATE, state)]).concat()
    }

    #[test]
    fn the_skill_and_the_sub_step_say_the_same() {
        let state = "{\"current_step\": \"Discovery\", \"completed_steps\": []}";
        assert!(told(RULE.bad, state).ends_with(
            "10:9 SMD12 `_docs/02_document/state.json` says `discovery`, the sub-step says `module-analysis`"
        ));
        assert_eq!(told(RULE.good, state), "");
        assert_eq!(
            told(&RULE.bad.replace("in_progress", "not_started"), state),
            "",
            "the skill is not asked"
        );
        assert_eq!(told(&RULE.bad.replace("name: Document", "name: Refactor"), state), "", "another skill");
        for other in ["{}", "no JSON", "{\"current_step\": 3}"] {
            assert_eq!(told(RULE.bad, other), "", "{other}");
        }
        assert!(found(&RULE, RULE.bad).is_empty(), "there is no such file");
    }
}
