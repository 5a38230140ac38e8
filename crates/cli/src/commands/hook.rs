//! `stepmark hook`

use clap::{Args, Subcommand};
use stepmark_core::workspace::{HookChange, HookOutcome};

use crate::{
    exit::{Exit, Failure},
    output::Output,
    project::Project,
};

/// Let git rebuild gates after a checkout, a merge or a rebase
#[derive(Debug, Args)]
pub(crate) struct Hook {
    #[command(subcommand)]
    task: Task,
}

#[derive(Clone, Copy, Debug, Subcommand)]
enum Task {
    /// Add `stepmark project --gates` to post-checkout, post-merge and post-rewrite
    ///
    /// Where git looks for hooks is respected (`core.hooksPath`, worktrees). A hook that is there stays: a shell script gets a
    /// few marked lines, any other program is called after ours.
    Install,
    /// Take out what `install` added, and nothing else
    Uninstall,
}

impl Hook {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let outcomes = match self.task {
            Task::Install => project.workspace.install_hooks(),
            Task::Uninstall => project.workspace.uninstall_hooks(),
        };
        report(output, &outcomes?);
        Ok(Exit::Fine)
    }
}

fn report(output: &Output, outcomes: &[HookOutcome]) {
    let word = |change: HookChange| match change {
        HookChange::Unchanged => "unchanged",
        HookChange::Created => "created",
        HookChange::Added => "added",
        HookChange::Chained => "chained",
        HookChange::Removed => "removed",
    };
    if output.json {
        let hooks: Vec<_> = outcomes
            .iter()
            .map(|hook| serde_json::json!({"path": hook.place.display().to_string(), "change": word(hook.change)}))
            .collect();
        output.json("stepmark.hook/1", serde_json::json!({"hooks": hooks}));
        return;
    }
    for hook in outcomes {
        output.remark(format_args!("{}: {}", hook.place.display(), word(hook.change)));
    }
}
