//! The state file of autodev: values, and agreement with the project files.

use super::{argument, value_span};
use crate::artifact::{Artifact, StateUnreadable};
use crate::autodev::{
    AWAITING, Detection, Flow, FlowStep, MOST_RETRIES, Position, STATUSES, StepPlace, is_kebab_case,
    keeps_state,
};
use crate::check::{Finding, Severity, Subject, rule::Decision};
use serde_json::Value as Json;
use stepmark_frontmatter::Span;

struct Block<'a> {
    artifact: &'a Artifact,
    values: Json,
}

impl<'a> Block<'a> {
    fn of(subject: &Subject<'a>) -> Result<Self, StateUnreadable> {
        let artifact = subject.artifact;
        if !keeps_state(artifact.path()) {
            return Err(StateUnreadable::NotAMapping { offset: 0 });
        }
        Ok(Self { artifact, values: artifact.state_value()? })
    }

    fn value(&self, keys: &[&str]) -> &Json {
        keys.iter().fold(&self.values, |value, key| &value[*key])
    }

    /// Falls back to the nearest parent.
    fn span(&self, keys: &[&str]) -> Span {
        value_span(self.artifact, keys)
    }

    /// The first value of a wrong type that no other rule reports, with the expected type.
    fn shape_error(&self) -> Option<(&'static [&'static str], &'static str)> {
        let detail = self.value(&["sub_step", "detail"]);
        if !self.value(&["sub_step"]).is_object() {
            Some((&["sub_step"], "a mapping with `phase` and `name`"))
        } else if !detail.is_null() && !detail.is_string() {
            Some((&["sub_step", "detail"], "a text"))
        } else {
            None
        }
    }

    fn flow<'s>(&self, subject: &'s Subject<'_>) -> Option<&'s Flow> {
        subject.autodev()?.flows.named(self.value(&["flow"]).as_str()?)
    }

    fn step<'s>(&self, subject: &'s Subject<'_>) -> Option<&'s FlowStep> {
        match StepPlace::read(self.value(&["step"]))? {
            StepPlace::Number(number) => self.flow(subject)?.step(number),
            StepPlace::Fraction(_) | StepPlace::Done => None,
        }
    }
}

rules! { Autodev;
    pub(crate) UNPARSABLE "SMD01" "autodev-unparsable" Error Decision::OfArtifact(check_unparsable);
    pub(crate) FLOW_UNKNOWN "SMD02" "autodev-flow-unknown" Error Decision::OfArtifact(check_flow_unknown);
    pub(crate) STEP_UNKNOWN "SMD03" "autodev-step-out-of-range" Error Decision::OfArtifact(check_step_unknown);
    pub(crate) NAME_DIFFERS "SMD04" "autodev-name-differs" Warning Decision::OfArtifact(check_name_differs);
    pub(crate) STATUS_UNKNOWN "SMD05" "autodev-status-unknown" Error Decision::OfArtifact(check_status_unknown);
    pub(crate) PHASE_WRONG "SMD06" "autodev-phase-wrong" Error Decision::OfArtifact(check_phase_wrong);
    pub(crate) PHASE_NAME_WRONG "SMD07" "autodev-phase-name-not-kebab-case" Warning Decision::OfArtifact(check_phase_name_wrong);
    pub(crate) NAME_RESERVED "SMD08" "autodev-name-reserved" Error Decision::OfArtifact(check_name_reserved);
    pub(crate) RETRIES_WRONG "SMD09" "autodev-retries-wrong" Error Decision::OfArtifact(check_retries_wrong);
    pub(crate) CYCLE_WRONG "SMD10" "autodev-cycle-wrong" Warning Decision::OfArtifact(check_cycle_wrong);
    pub(crate) FOLDER_DISAGREES "SMD11" "autodev-folder-disagrees" Warning Decision::OfArtifact(check_folder_disagrees);
    pub(crate) SKILL_STATE_DISAGREES "SMD12" "autodev-skill-state-disagrees" Warning Decision::OfArtifact(check_skill_state_disagrees);
    pub(crate) FILE_DELETED "SMD13" "autodev-file-deleted" Error Decision::WhenDeleted(check_file_deleted);
}

fn check_unparsable(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    if !keeps_state(subject.artifact.path()) {
        return;
    }
    let (span, message) = match Block::of(subject) {
        Err(error) => (Span::at(error.offset()), error.to_string()),
        Ok(block) => match block.shape_error() {
            Some((keys, wanted)) => (block.span(keys), format!("`{}` should be {wanted}", keys.join("."))),
            None => return,
        },
    };
    let help = "`stepmark autodev detect --write` notes the step that the files of the project tell";
    found.push(subject.finding(&UNPARSABLE, span, message).with_help(help));
}

fn check_flow_unknown(subject: &Subject<'_>, found: &mut Vec<Finding>) {
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
    let finding = subject.finding(&FLOW_UNKNOWN, block.span(&["flow"]), message);
    found.push(match known {
        Some(known) => finding.with_help(format!("it is one of {}", known.join(", "))),
        None => finding,
    });
}

fn check_step_unknown(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Ok(block) = Block::of(subject) else { return };
    let (step, span) = (block.value(&["step"]), block.span(&["step"]));
    let flow = block.flow(subject);
    let count = flow.map(|flow| flow.steps.len());
    let range = count.map_or_else(|| "a number from 1".to_owned(), |count| format!("1 to {count}"));
    let message = match StepPlace::read(step) {
        Some(StepPlace::Done) => return,
        Some(StepPlace::Number(number))
            if number > 0 && flow.is_none_or(|flow| flow.step(number).is_some()) =>
        {
            return;
        }
        Some(StepPlace::Number(number)) => format!("step {number} is none of the flow: it has {range}"),
        Some(StepPlace::Fraction(number)) => {
            let message =
                format!("step {number} stands between two steps: no command leads to it, none changes it");
            let finding = subject.finding(&STEP_UNKNOWN, span, message);
            found.push(Finding { severity: Severity::Note, ..finding });
            return;
        }
        None => format!("`step` should be {range}, or `done`"),
    };
    let help = "`stepmark autodev detect` says in which step the project is";
    found.push(subject.finding(&STEP_UNKNOWN, span, message).with_help(help));
}

fn check_name_differs(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Ok(block) = Block::of(subject) else { return };
    let name = block.value(&["name"]).as_str();
    let message = match (name, block.step(subject)) {
        (None, _) => "`name` should be the name of the step".to_owned(),
        (Some(name), Some(step)) if !step.name.eq_ignore_ascii_case(name.trim()) => {
            format!("step {} is `{}`, not `{name}`", step.step, step.name)
        }
        _ => return,
    };
    found.push(subject.finding(&NAME_DIFFERS, block.span(&["name"]), message));
}

fn check_status_unknown(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Ok(block) = Block::of(subject) else { return };
    let message = match block.value(&["status"]).as_str() {
        Some(status) if STATUSES.contains(&status) => return,
        Some(status) => format!("a step is never `{status}`"),
        None => "`status` should be the status of the step".to_owned(),
    };
    let help = format!("it is one of `{}`", STATUSES.join("`, `"));
    found.push(subject.finding(&STATUS_UNKNOWN, block.span(&["status"]), message).with_help(help));
}

fn check_phase_wrong(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Ok(block) = Block::of(subject) else { return };
    let phase = block.value(&["sub_step", "phase"]);
    let message = match phase.as_u64() {
        // SMD01 reports a sub-step that is not a mapping.
        None if !block.value(&["sub_step"]).is_object() => return,
        None => format!("the phase should be a whole number, not `{phase}`"),
        Some(phase) => match earlier_phase(subject) {
            Some(earlier) if phase > 0 && phase < earlier => {
                format!("the phase is {phase}, and was {earlier} in the last commit")
            }
            _ => return,
        },
    };
    found.push(subject.finding(&PHASE_WRONG, block.span(&["sub_step", "phase"]), message));
}

/// In the last commit, if the same attempt at the same step was in progress.
fn earlier_phase(subject: &Subject<'_>) -> Option<u64> {
    let now = Position::of(subject.artifact).ok()?;
    let before = Position::of(subject.base.as_ref()?.artifact()).ok()?;
    let attempt = |position: &Position| {
        (position.flow.clone(), position.step.clone(), position.cycle, position.retry_count)
    };
    (attempt(&now) == attempt(&before)).then_some(before.sub_step.phase)
}

fn check_phase_name_wrong(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Ok(block) = Block::of(subject) else { return };
    let message = match block.value(&["sub_step", "name"]).as_str() {
        Some(name) if is_kebab_case(name) => return,
        Some(name) => format!("the name of the phase is not in kebab-case: `{name}`"),
        None if !block.value(&["sub_step"]).is_object() => return,
        None => "the phase should have a name".to_owned(),
    };
    found.push(subject.finding(&PHASE_NAME_WRONG, block.span(&["sub_step", "name"]), message));
}

fn check_name_reserved(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Ok(block) = Block::of(subject) else { return };
    let (name, phase) = (block.value(&["sub_step", "name"]), block.value(&["sub_step", "phase"]));
    let Some(phase) = phase.as_u64().filter(|phase| *phase > 0 && name.as_str() == Some(AWAITING)) else {
        return;
    };
    let message = format!("`{AWAITING}` is the name of phase 0, not of phase {phase}");
    found.push(subject.finding(&NAME_RESERVED, block.span(&["sub_step", "name"]), message));
}

fn check_retries_wrong(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Ok(block) = Block::of(subject) else { return };
    let count = block.value(&["retry_count"]);
    let status = block.value(&["status"]).as_str().unwrap_or_default();
    let message = match count.as_u64() {
        None if count.is_null() => return,
        None => format!("the count of retries should be a number from 0 to {MOST_RETRIES}, not `{count}`"),
        Some(count) if count > MOST_RETRIES => {
            format!("{count} retries failed: after {MOST_RETRIES} the step has failed")
        }
        Some(MOST_RETRIES) if status != "failed" => {
            format!("{MOST_RETRIES} retries failed, and the step is `{status}`, not `failed`")
        }
        Some(_) => return,
    };
    let help = "a person looks at it and goes on with `stepmark autodev retry --reset`";
    found.push(subject.finding(&RETRIES_WRONG, block.span(&["retry_count"]), message).with_help(help));
}

fn check_cycle_wrong(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Ok(block) = Block::of(subject) else { return };
    let cycle = block.value(&["cycle"]);
    let goes_round = |flow: &Flow| flow.steps.iter().any(|step| step.returns_to.is_some());
    let message = match cycle.as_u64() {
        None if cycle.is_null() => return,
        None | Some(0) => format!("the cycle should be a number from 1, not `{cycle}`"),
        Some(cycle) => match (block.flow(subject), earlier_cycle(subject)) {
            (Some(flow), _) if cycle > 1 && !goes_round(flow) => {
                format!("the flow `{}` does not go round: its cycle is 1, not {cycle}", flow.flow)
            }
            (_, Some(earlier)) if cycle < earlier => {
                format!("the cycle is {cycle}, and was {earlier} in the last commit")
            }
            _ => return,
        },
    };
    found.push(subject.finding(&CYCLE_WRONG, block.span(&["cycle"]), message));
}

/// In the last commit, if the flow is the same.
fn earlier_cycle(subject: &Subject<'_>) -> Option<u64> {
    let now = Position::of(subject.artifact).ok()?;
    let before = Position::of(subject.base.as_ref()?.artifact()).ok()?;
    (now.flow == before.flow).then_some(before.cycle)
}

fn check_folder_disagrees(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Ok(block) = Block::of(subject) else { return };
    let Some(facts) = subject.autodev() else { return };
    let Some(Detection::Elsewhere(step)) = facts.detection else { return };
    let told = match (step, block.flow(subject)) {
        (Some(number), Some(flow)) => {
            let name = flow.step(number).map_or_else(String::new, |step| format!(" `{}`", step.name));
            format!("the files of the project tell step {number}{name}")
        }
        _ => "the files of the project tell that all steps are done".to_owned(),
    };
    let help = "`stepmark autodev detect --explain` says why, `--write` notes it";
    found.push(subject.finding(&FOLDER_DISAGREES, block.span(&["step"]), told).with_help(help));
}

fn check_skill_state_disagrees(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Ok(block) = Block::of(subject) else { return };
    let Some(state) = subject.autodev().and_then(|facts| facts.skill_state.as_ref()) else { return };
    let Ok(noted) = Position::of(subject.artifact) else { return };
    if state.agrees_with(&noted) {
        return;
    }
    let message =
        format!("`{}` says `{}`, the sub-step says `{}`", state.file, state.phase, noted.sub_step.name);
    found.push(subject.finding(&SKILL_STATE_DISAGREES, block.span(&["sub_step", "name"]), message));
}

fn check_file_deleted(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let path = subject.artifact.path();
    if !keeps_state(path) {
        return;
    }
    let help = format!(
        "bring it back: `git restore --source=HEAD --staged --worktree -- {}`",
        argument(path.as_str())
    );
    let message = "the state file of autodev is deleted, and with it where the work is";
    found.push(subject.finding(&FILE_DELETED, Span::at(0), message).with_help(help));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::{Artifact, ProjectPath};
    use crate::autodev::STATUSES;
    use crate::check::rules::sample::{SKILL_STATE, found, found_in, helps_in, path_of};
    use crate::check::{BaseVersion, Subject, deletion_findings};
    use crate::lifecycle::Lifecycles;
    use crate::tracked_artifact::{Membership, TrackedArtifact};

    #[test]
    fn a_position_needs_its_heading_its_yaml_and_its_sub_step() {
        for (from, to, expected) in [
            ("## Current Step\n", "", "no heading"),
            ("flow: greenfield", "flow: [", "no YAML"),
            (
                "sub_step:\n  phase: 4\n  name: architecture-review-risk-assessment\n  detail: \"\"",
                "sub_step: 4",
                "`sub_step` should be",
            ),
            ("detail: \"\"", "detail: [a]", "`sub_step.detail` should be"),
        ] {
            let told = found(&UNPARSABLE, &UNPARSABLE.good().replace(from, to)).concat();
            assert!(told.contains("SMD01") && told.contains(expected), "{to}: {told}");
        }
    }

    #[test]
    fn the_same_text_under_another_name_is_no_state_file() {
        assert!(found_in(&UNPARSABLE, &[("docs/state.md", UNPARSABLE.bad())]).is_empty());
    }

    #[test]
    fn a_flow_is_one_of_the_project() {
        let told = |flow: &str| found(&FLOW_UNKNOWN, &FLOW_UNKNOWN.good().replace("flow: greenfield", flow));
        assert_eq!(told("flow: brownfield"), ["4:7 SMD02 there is no flow `brownfield`"]);
        assert_eq!(told("flow: 3"), ["4:7 SMD02 `flow` should be the name of a flow"]);
        assert_eq!(told("floe: greenfield"), ["4:1 SMD02 `flow` should be the name of a flow"]);
        assert!(told("flow: meta-repo").is_empty());
        let helps = helps_in(&FLOW_UNKNOWN, &[(path_of(&FLOW_UNKNOWN), FLOW_UNKNOWN.bad())]).concat();
        assert_eq!(helps, "it is one of `meta-repo`, `greenfield`, `existing-code`");
    }

    #[test]
    fn a_step_is_a_number_of_the_flow_or_done() {
        let told = |flow: &str, step: &str| {
            let text = STEP_UNKNOWN
                .good()
                .replace("flow: greenfield", flow)
                .replace("step: 3\n", &format!("step: {step}\n"));
            found(&STEP_UNKNOWN, &text).concat()
        };
        for (flow, step, expected) in [
            ("flow: greenfield", "11", ""),
            ("flow: greenfield", "done", ""),
            ("flow: greenfield", "12", "5:7 SMD03 step 12 is none of the flow: it has 1 to 11"),
            ("flow: existing-code", "12", ""),
            ("flow: meta-repo", "7", "5:7 SMD03 step 7 is none of the flow: it has 1 to 6"),
            ("flow: other", "99", ""),
            ("flow: greenfield", "0", "5:7 SMD03 step 0 is none of the flow: it has 1 to 11"),
            ("flow: greenfield", "three", "5:7 SMD03 `step` should be 1 to 11, or `done`"),
            ("flow: greenfield", "-1", "5:7 SMD03 `step` should be 1 to 11, or `done`"),
            (
                "flow: greenfield",
                "2.5",
                "5:7 SMD03 step 2.5 stands between two steps: no command leads to it, none changes it",
            ),
        ] {
            assert_eq!(told(flow, step), expected, "{flow} {step}");
        }
    }

    #[test]
    fn the_name_is_that_of_the_number() {
        let told = |name: &str| found(&NAME_DIFFERS, &NAME_DIFFERS.good().replace("name: Plan", name));
        assert_eq!(told("name: Research"), ["6:7 SMD04 step 3 is `Plan`, not `Research`"]);
        assert_eq!(told("name: 3"), ["6:7 SMD04 `name` should be the name of the step"]);
        assert!(told("name: plan").is_empty(), "capitals are no difference");
        let unknown = NAME_DIFFERS.bad().replace("step: 3", "step: 99");
        assert!(found(&NAME_DIFFERS, &unknown).is_empty(), "the number is told by a rule of its own");
    }

    #[test]
    fn the_words_are_those_of_the_lifecycle() {
        let lifecycles = Lifecycles::default();
        let states = lifecycles.get("autodev-step").unwrap().states().iter().map(|state| state.name.clone());
        assert_eq!(states.collect::<Vec<_>>(), STATUSES);
        for status in STATUSES {
            let text = STATUS_UNKNOWN.good().replace("in_progress", status);
            assert!(found(&STATUS_UNKNOWN, &text).is_empty(), "{status}");
        }
        let told = |status: &str| {
            found(&STATUS_UNKNOWN, &STATUS_UNKNOWN.good().replace("status: in_progress", status)).concat()
        };
        assert_eq!(told("status: in-progress"), "7:9 SMD05 a step is never `in-progress`");
        assert_eq!(told("status: [a]"), "7:9 SMD05 `status` should be the status of the step");
    }

    #[test]
    fn a_phase_is_a_whole_number() {
        let told = |phase: &str| found(&PHASE_WRONG, &PHASE_WRONG.good().replace("phase: 4", phase)).concat();
        assert_eq!(told("phase: 4.5"), "9:10 SMD06 the phase should be a whole number, not `4.5`");
        assert_eq!(told("phase: four"), "9:10 SMD06 the phase should be a whole number, not `\"four\"`");
        assert_eq!(told("phase: -1"), "9:10 SMD06 the phase should be a whole number, not `-1`");
        assert!(told("phase: 0").is_empty());
    }

    #[test]
    fn a_phase_goes_on_within_an_attempt() {
        let tracked = |text: &str| {
            let path = ProjectPath::new(path_of(&PHASE_WRONG)).unwrap();
            TrackedArtifact::new(Artifact::read(path, text.into()), Membership::None, Default::default())
        };
        for (from, to, expected) in [
            ("phase: 4", "phase: 5", 0),
            ("phase: 4", "phase: 9", 0),
            ("phase: 4", "phase: 3", 1),
            ("phase: 4", "phase: 0", 0),
            ("phase: 4\n", "phase: 4\n", 0),
        ] {
            let (before, now) = (tracked(PHASE_WRONG.good()), tracked(&PHASE_WRONG.good().replace(from, to)));
            let subject = Subject::of(&now).since(BaseVersion { tracked: &before, accepted: None });
            let mut found = Vec::new();
            PHASE_WRONG.look_at(&subject, &mut found);
            assert_eq!(found.len(), expected, "{to}: {found:?}");
        }
        let retried = tracked(
            &PHASE_WRONG.good().replace("phase: 4", "phase: 1").replace("retry_count: 0", "retry_count: 1"),
        );
        let before = tracked(PHASE_WRONG.good());
        let mut found = Vec::new();
        let subject = Subject::of(&retried).since(BaseVersion { tracked: &before, accepted: None });
        PHASE_WRONG.look_at(&subject, &mut found);
        assert!(found.is_empty(), "a retry begins again");
    }

    #[test]
    fn a_phase_has_a_name_in_kebab_case() {
        let told = |name: &str| {
            found(&PHASE_NAME_WRONG, &PHASE_NAME_WRONG.good().replace("name: architecture-review", name))
                .concat()
        };
        assert_eq!(
            told("name: Architecture Review"),
            "10:9 SMD07 the name of the phase is not in kebab-case: `Architecture Review`"
        );
        assert_eq!(told("title: x"), "9:3 SMD07 the phase should have a name");
        assert!(told("name: batch-loop-2").is_empty());
    }

    #[test]
    fn the_reserved_name_is_that_of_phase_0() {
        let told =
            |phase: &str| found(&NAME_RESERVED, &NAME_RESERVED.bad().replace("phase: 4", phase)).concat();
        assert_eq!(
            told("phase: 1"),
            "10:9 SMD08 `awaiting-invocation` is the name of phase 0, not of phase 1"
        );
        assert!(told("phase: 0").is_empty() && told("phase: 1.5").is_empty());
        let review = NAME_RESERVED.good().replace("awaiting-invocation", "awaiting-human-review");
        assert!(found(&NAME_RESERVED, &review).is_empty(), "phase 0 may have another name");
    }

    #[test]
    fn with_the_third_failed_retry_the_step_has_failed() {
        for (count, status, expected) in [
            ("0", "in_progress", ""),
            ("2", "in_progress", ""),
            ("3", "failed", ""),
            ("1", "failed", ""),
            ("3", "in_progress", "12:14 SMD09 3 retries failed, and the step is `in_progress`, not `failed`"),
            ("4", "failed", "12:14 SMD09 4 retries failed: after 3 the step has failed"),
            (
                "two",
                "failed",
                "12:14 SMD09 the count of retries should be a number from 0 to 3, not `\"two\"`",
            ),
            ("1.5", "failed", "12:14 SMD09 the count of retries should be a number from 0 to 3, not `1.5`"),
        ] {
            let text = RETRIES_WRONG
                .good()
                .replace("failed", status)
                .replace("retry_count: 3", &format!("retry_count: {count}"));
            assert_eq!(found(&RETRIES_WRONG, &text).concat(), expected, "{count} {status}");
        }
    }

    #[test]
    fn only_a_flow_that_goes_round_has_later_cycles() {
        let told = |cycle: &str| found(&CYCLE_WRONG, &CYCLE_WRONG.good().replace("cycle: 1", cycle)).concat();
        assert_eq!(
            told("cycle: 2"),
            "13:8 SMD10 the flow `greenfield` does not go round: its cycle is 1, not 2"
        );
        assert_eq!(told("cycle: 0"), "13:8 SMD10 the cycle should be a number from 1, not `0`");
        assert_eq!(told("cycle: one"), "13:8 SMD10 the cycle should be a number from 1, not `\"one\"`");
        assert!(told("# none").is_empty());
        assert!(found(&CYCLE_WRONG, &CYCLE_WRONG.bad().replace("greenfield", "existing-code")).is_empty());
    }

    #[test]
    fn a_cycle_does_not_go_back() {
        let tracked = |cycle: u64| {
            let path = ProjectPath::new(path_of(&CYCLE_WRONG)).unwrap();
            let text = CYCLE_WRONG
                .good()
                .replace("greenfield", "existing-code")
                .replace("cycle: 1", &format!("cycle: {cycle}"));
            TrackedArtifact::new(Artifact::read(path, text.into()), Membership::None, Default::default())
        };
        for (before, now, expected) in [(2, 3, 0), (2, 2, 0), (3, 2, 1)] {
            let (before, now) = (tracked(before), tracked(now));
            let mut found = Vec::new();
            CYCLE_WRONG.look_at(
                &Subject::of(&now).since(BaseVersion { tracked: &before, accepted: None }),
                &mut found,
            );
            assert_eq!(found.len(), expected, "{found:?}");
        }
    }

    #[test]
    fn the_files_are_held_against_the_step() {
        assert_eq!(
            found(&FOLDER_DISAGREES, FOLDER_DISAGREES.bad()),
            ["5:7 SMD11 the files of the project tell step 1 `Problem`"]
        );
        let files = [
            (path_of(&FOLDER_DISAGREES), FOLDER_DISAGREES.bad()),
            ("_docs/00_problem/problem.md", "x"),
            ("_docs/00_problem/restrictions.md", "x"),
            ("_docs/00_problem/acceptance_criteria.md", "x"),
            ("_docs/00_problem/input_data/a.csv", "x"),
        ];
        let told = found_in(&FOLDER_DISAGREES, &files).concat();
        assert!(told.ends_with("the files of the project tell step 2 `Research`"), "{told}");
        let all = [&files[..], &[("_docs/01_solution/solution_draft01.md", "x")]].concat();
        assert!(found_in(&FOLDER_DISAGREES, &all).is_empty(), "no file tells of step 3, so it is believed");
        let existing = FOLDER_DISAGREES.bad().replace("greenfield", "existing-code");
        assert!(found(&FOLDER_DISAGREES, &existing).is_empty(), "no file tells of any step before");
    }

    fn told(text: &str, state: &str) -> String {
        found_in(&SKILL_STATE_DISAGREES, &[(path_of(&SKILL_STATE_DISAGREES), text), (SKILL_STATE, state)])
            .concat()
    }

    #[test]
    fn the_skill_and_the_sub_step_say_the_same() {
        let state = "{\"current_step\": \"Discovery\", \"completed_steps\": []}";
        assert!(told(SKILL_STATE_DISAGREES.bad(), state).ends_with(
            "10:9 SMD12 `_docs/02_document/state.json` says `discovery`, the sub-step says `module-analysis`"
        ));
        assert_eq!(told(SKILL_STATE_DISAGREES.good(), state), "");
        assert_eq!(
            told(&SKILL_STATE_DISAGREES.bad().replace("in_progress", "not_started"), state),
            "",
            "the skill is not asked"
        );
        assert_eq!(
            told(&SKILL_STATE_DISAGREES.bad().replace("name: Document", "name: Refactor"), state),
            "",
            "another skill"
        );
        for other in ["{}", "no JSON", "{\"current_step\": 3}"] {
            assert_eq!(told(SKILL_STATE_DISAGREES.bad(), other), "", "{other}");
        }
        assert!(
            found(&SKILL_STATE_DISAGREES, SKILL_STATE_DISAGREES.bad()).is_empty(),
            "there is no such file"
        );
    }

    #[test]
    fn only_the_state_file_is_never_deleted() {
        for (path, expected) in
            [("_docs/_autodev_state.md", 1), ("state/_autodev_state.md", 1), ("docs/prd.md", 0)]
        {
            let artifact = Artifact::read(ProjectPath::new(path).unwrap(), FILE_DELETED.bad().into());
            let found = deletion_findings(&Subject::alone(&artifact));
            assert_eq!(
                found.iter().filter(|finding| finding.rule == &FILE_DELETED).count(),
                expected,
                "{path}"
            );
        }
    }
}
