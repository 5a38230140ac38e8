//! autodev: a pointer file names the current step of one of three flows (docs/formats.md, "autodev"). Pure.

mod flow;
mod position;
mod moves;

use std::fmt::Write as _;

pub use flow::{Flow, FlowError, FlowStep, Flows, convert_older, read_flow_file};
pub use moves::{AutodevMove, AutodevRefusal, decide, fault, first_block, first_file};
pub use position::{
    AWAITING, AutodevFacts, Condition, Detection, GlobCount, KeyIs, MOST_RETRIES, Position, PositionError,
    ProjectFiles, STATUSES, SkillState, StepPlace, SubStep, detect, detect_flow, is_done, is_kebab_case,
    keeps_state, steps_passed,
};

/// The file of `autodev.summary`: one line per step.
pub fn summary(flow: &Flow, noted: &Position) -> String {
    let mut text = format!("# autodev: {}, cycle {}\n\n", flow.flow, noted.cycle);
    let done = noted.steps_done(flow.steps.len());
    for (place, step) in flow.steps.iter().enumerate() {
        let is_own = matches!(noted.step, StepPlace::Number(number) if number == step.step);
        let mark = if place < done { 'x' } else { ' ' };
        let _infallible = write!(text, "- [{mark}] {}. {}", step.step, step.name);
        if is_own {
            let _infallible =
                write!(text, ": {}, phase {} {}", noted.status, noted.sub_step.phase, noted.sub_step.name);
        }
        text.push('\n');
    }
    let failed = noted.retry_count;
    if failed > 0 {
        let _infallible = write!(text, "\nRetries that failed: {failed}.\n");
    }
    text
}

const RULE: &str = "======================================";

impl Flow {
    /// From the flow file, else the shared block; `None` after the last step.
    pub fn choose_block(&self, step: &FlowStep) -> Option<String> {
        let next = &self.after(step.step)?.name;
        let usual = || {
            format!(
                "{RULE}\n DECISION REQUIRED: {} is done — start {next}?\n{RULE}\n A) Start a new conversation for {next} \
                 (recommended)\n B) Go on in this conversation (not recommended)\n Warning: where the conversation is full \
                 before {next} is done, its state is\n noted and a new conversation follows all the same: B only puts it \
                 off.\n{RULE}",
                step.name
            )
        };
        Some(step.choose_block.clone().unwrap_or_else(usual))
    }
}

#[cfg(test)]
mod move_cases;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autodev::{Flows, SubStep};

    #[test]
    fn a_line_a_step_with_what_is_behind() {
        let flows = Flows::default();
        let mut noted = Position {
            flow: "meta-repo".to_owned(),
            step: StepPlace::Number(2),
            name: "Config Review".to_owned(),
            status: "in_progress".to_owned(),
            sub_step: SubStep { phase: 0, name: "awaiting-human-review".to_owned(), detail: String::new() },
            retry_count: 1,
            cycle: 1,
        };
        insta::assert_snapshot!(summary(flows.named("meta-repo").unwrap(), &noted), @r"
        # autodev: meta-repo, cycle 1

        - [x] 1. Discover
        - [ ] 2. Config Review: in_progress, phase 0 awaiting-human-review
        - [ ] 3. Status
        - [ ] 4. Document Sync
        - [ ] 5. CICD Sync
        - [ ] 6. Loop

        Retries that failed: 1.
        ");
        noted.step = StepPlace::Done;
        assert_eq!(summary(flows.named("meta-repo").unwrap(), &noted).matches("[x]").count(), 6);
    }
}
