//! `stepmark hook`

use std::path::Path;

use clap::{
    Args, Subcommand,
    builder::{PossibleValue, PossibleValuesParser},
};
use stepmark_frontmatter::{KeyPath, Value};
use stepmark_model::projection::git_hook::{HOOKS, NEEDED};
use stepmark_store::hooks::{HookChange, HookOutcome, HookState};

use crate::{
    exit::{Exit, Failure},
    output::Output,
    project::Project,
};

/// Let git check commits and pushes, and rebuild gates
#[derive(Debug, Args)]
pub(crate) struct Hook {
    #[command(subcommand)]
    task: Task,
}

#[derive(Clone, Debug, Subcommand)]
enum Task {
    /// Check what is committed and keep its history, by pre-commit, pre-merge-commit and post-commit
    ///
    /// Where git looks for hooks is respected (`core.hooksPath`, worktrees, husky). A hook that is there
    /// stays: a shell script gets a few marked lines, any other program is called after ours.
    Install {
        /// Only these hooks
        #[arg(value_parser = PossibleValuesParser::new(HOOKS.map(|(name, does)| PossibleValue::new(name).help(does))))]
        hooks: Vec<String>,
        /// All of them: also check what is pushed, and rebuild gates after what may change files
        #[arg(long, conflicts_with = "hooks")]
        all: bool,
    },
    /// Take out what `install` added, and nothing else
    Uninstall,
    /// List the hooks that run stepmark; ends with 1 where none does
    Status,
}

answers! { Answer
    /// `hook install`, `uninstall`: what was written or removed
    "stepmark.hook/1" Changed { hooks: Vec<ChangeRow> }
    /// `hook status`: which hooks there are
    "stepmark.hook-status/1" Status { hooks: Vec<StateRow> }
    struct ChangeRow { path: String, change: HookChange }
    struct StateRow { name: &'static str, path: String, installed: bool }
}

impl Hook {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        match &self.task {
            Task::Install { hooks, all } => {
                let is_needed = |name: &str| HOOKS[..NEEDED].iter().any(|(needed, _)| *needed == name);
                let is_wanted = |name: &str| match name {
                    _ if hooks.is_empty() => *all || is_needed(name),
                    _ => hooks.iter().any(|hook| hook == name),
                };
                report(output, &project.workspace.hooks().install(&is_wanted)?);
                if may_take_in(project, output)? {
                    let key = KeyPath::key("stories").then("take_in_agreed");
                    project.workspace.configure(key, Value::from(true))?;
                    output.remark("`stories.take_in_agreed` stands in .stepmark/config.yaml now");
                }
            }
            Task::Uninstall => report(output, &project.workspace.hooks().uninstall()?),
            Task::Status => return Ok(status(output, &project.workspace.hooks().states()?)),
        }
        Ok(Exit::Fine)
    }
}

/// Asks only if nobody has decided yet, and there are stories.
fn may_take_in(project: &Project, output: &Output) -> Result<bool, Failure> {
    let values = project.workspace.configuration().effective_values();
    let is_said = values.iter().any(|value| value.key == "stories.take_in_agreed");
    if is_said || project.workspace.ledgers().survey(&[])?.stories.is_empty() {
        return Ok(false);
    }
    output.asks(
        "Workflows of BMAD write the status of a story into its line and `sprint-status.yaml` alone. Shall the hook\n\
         bring the frontmatter to what both agree on, where the lifecycle leads there?",
    )
}

fn status(output: &Output, hooks: &[HookState]) -> Exit {
    output.answer(|| Answer::Status {
        hooks: hooks
            .iter()
            .map(|hook| StateRow { name: hook.name, path: place(&hook.place), installed: hook.is_installed })
            .collect(),
    });
    for hook in hooks {
        let word = if hook.is_installed { "installed" } else { "not installed" };
        output.line(format_args!("{}: {word}", hook.place.display()));
    }
    if hooks.iter().any(|hook| hook.is_installed) { Exit::Fine } else { Exit::Findings }
}

fn report(output: &Output, outcomes: &[HookOutcome]) {
    let row = |hook: &HookOutcome| ChangeRow { path: place(&hook.place), change: hook.change };
    output.answer(|| Answer::Changed { hooks: outcomes.iter().map(row).collect() });
    for hook in outcomes {
        let does = HOOKS.iter().find(|(name, _)| hook.change.is_ours() && hook.place.ends_with(name));
        let does = does.map(|(_, does)| format!("; {does}")).unwrap_or_default();
        let change = format!("{:?}", hook.change).to_lowercase();
        output.remark(format_args!("{}: {change}{does}", hook.place.display()));
    }
}

fn place(place: &Path) -> String {
    place.display().to_string()
}
