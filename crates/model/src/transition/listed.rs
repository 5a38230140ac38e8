//! Whether an artifact lists a step as completed.

use super::complete::{is_completed, resolve};
use crate::workflow::{StepId, WorkflowDefinition};

/// Whether `completed`, the list of an artifact of `workflow`, names the step that `asked` means, in whatever spelling. A marker
/// of a resumed session (`step-01b-continue`) is never progress, so it is never listed.
pub fn lists_step(workflow: Option<&WorkflowDefinition>, completed: &[StepId], asked: &StepId) -> bool {
    let (step, _) = resolve(workflow, asked, completed);
    !asked.is_resume() && is_completed(workflow, completed, asked, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_step_are_one_and_no_other() {
        let workflow = WorkflowDefinition::declared(
            "prd",
            &["step-01-init", "step-02-vision", "step-03-success", "step-12-end"],
        );
        let completed: Vec<StepId> =
            ["1", "step-02-vision.md", "step-01b-continue", "edit-2026-02-24"].map(StepId::parse).into();
        for (asked, expected) in [
            ("step-01-init", true),
            ("01", true),
            ("2", true),
            ("step-02-vision-skipped", true),
            ("step-03-success", false),
            ("3", false),
            ("12", false),
            ("step-01b-continue", false),
            ("edit-2026-02-24", true),
            ("edit-2026-02-25", false),
            ("", false),
        ] {
            assert_eq!(lists_step(Some(&workflow), &completed, &StepId::parse(asked)), expected, "{asked}");
        }
        let alone: Vec<StepId> = ["step-02-vision", "5"].map(StepId::parse).into();
        for (asked, expected) in
            [("step-02-vision", true), ("2", false), ("05", true), ("step-05", true), ("step-05-x", false)]
        {
            assert_eq!(lists_step(None, &alone, &StepId::parse(asked)), expected, "{asked}");
        }
    }
}
