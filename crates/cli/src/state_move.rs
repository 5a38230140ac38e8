//! Telling that the state of this clone was moved out of the work tree, or waits for that.

use std::cell::RefCell;

use stepmark_store::commit::{OldState, is_state_moved, old_state};
use stepmark_store::disk::Root;

use crate::output::Output;

/// The project whose state may stand at the place where earlier versions kept it.
#[derive(Default)]
pub(crate) struct StateMove {
    waiting: RefCell<Option<Root>>,
}

impl StateMove {
    /// Looks before the command does its work.
    pub(crate) fn begin(&self, root: &Root) {
        // Git is asked once, at the end: whoever moves the state asks it, too.
        if root.state().is_in_git() && !is_state_moved(root) {
            self.waiting.replace(Some(root.clone()));
        }
    }

    /// Tells what became of it.
    pub(crate) fn tell(&self, output: &Output) {
        let Some(root) = self.waiting.take() else { return };
        if is_state_moved(&root) {
            output.note("the state of this clone was moved from `.stepmark/local` into git's folder");
        } else if old_state(&root) == OldState::Own {
            output.warning(
                "the history in `.stepmark/local` is not read yet: `stepmark doctor --repair`, or any command that writes, \
                 moves it into git's folder",
            );
        }
    }
}
