//! Telling that the state of this clone was moved out of the work tree, or waits for that.

use std::cell::RefCell;

use stepmark_core::{
    commit::{OldState, old_state},
    workspace::Root,
};

use crate::output::Output;

/// What a command found at the place where earlier versions kept the state of a clone.
#[derive(Default)]
pub(crate) struct StateMove {
    waiting: RefCell<Option<Root>>,
}

impl StateMove {
    /// Looks before the command does its work.
    pub(crate) fn begin(&self, root: &Root) {
        if old_state(root) == OldState::Own {
            self.waiting.replace(Some(root.clone()));
        }
    }

    /// Tells what became of it.
    pub(crate) fn tell(&self, output: &Output) {
        let Some(root) = self.waiting.take() else { return };
        if old_state(&root) == OldState::Own {
            output.warning(
                "the history in `.stepmark/local` is not read yet: `stepmark doctor --repair`, or any command that writes, \
                 moves it into git's folder",
            );
        } else {
            output.note("the state of this clone was moved from `.stepmark/local` into git's folder");
        }
    }
}
