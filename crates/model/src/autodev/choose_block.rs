//! The block that lets a person choose at the end of a session.

use super::{Flow, FlowStep};

/// The line above and below the parts of the block.
const RULE: &str = "======================================";

impl Flow {
    /// The block that is shown where `step` has ended and the next one begins in a new session: that of the
    /// flow file, else the one that all steps share. `None` where nothing follows.
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
