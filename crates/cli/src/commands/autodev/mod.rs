//! `stepmark autodev`

pub(crate) mod report;

use clap::{Args, Subcommand};
use stepmark_frontmatter::{KeyPath, Value};
use stepmark_model::autodev::{AutodevMove, SubStep};
use stepmark_store::autodev::{self as store, Correction};

use crate::{
    commands::{checking::check::Check, sessions::session},
    exit::{Exit, Failure},
    output::{ListArguments, Output},
    project::Project,
};

/// Keep the state of the /autodev skill: which step of its flow is being done
///
/// The state stands below `## Current Step` in `_docs/_autodev_state.md`, as the skill itself writes it. What
/// the folder `_docs` tells counts more than what is noted. The key `autodev` in .stepmark/config.yaml
/// switches it on.
#[derive(Debug, Args)]
pub(crate) struct Autodev {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Begin: switch autodev on in .stepmark/config.yaml
    Init,
    /// Show the flow, a line a step; ends with 1 where the folder disagrees with what is noted
    Status,
    /// Say the step that the project is in, as its files tell
    Detect {
        /// Say why, step by step
        #[arg(long)]
        explain: bool,
        /// Note it, where something else is noted
        #[arg(long)]
        write: bool,
    },
    /// Begin the step that the files of the project tell; makes the state file where there is none
    Start {
        /// The flow to begin with, or to go on with when another one is done
        #[arg(long)]
        flow: Option<String>,
    },
    /// Note how far the skill of the step has come
    SubStep {
        /// The number of its phase: the one that is noted, or the next
        phase: u64,
        /// The name of its phase in kebab-case
        name: String,
        /// A note
        #[arg(long, default_value = "")]
        detail: String,
    },
    /// Complete the step; the next one follows, unless a session ends between the two
    Complete,
    /// Leave an optional step out
    Skip {
        /// The reason, for history
        #[arg(long)]
        reason: String,
        /// Also where the step is not optional
        #[arg(long)]
        force: bool,
    },
    /// Count a retry that failed; with the third one the step has failed
    Fail {
        /// The reason, for history
        #[arg(long)]
        reason: String,
    },
    /// Go on with a step of which retries failed
    Retry {
        /// Begin to count again: a person has looked at it
        #[arg(long)]
        reset: bool,
    },
    /// Complete the step if it is not, note the next one, and end the session
    Boundary,
    /// Say what is to be done next; ends with 1 where a person must decide
    Next,
    /// Find what is wrong in the state file, also against the files of the project
    ///
    /// This is `stepmark check` for the state file alone: its values (SMD01 to SMD10), the folders that
    /// disagree with it (SMD11), and the state that a skill keeps itself (SMD12).
    Check(ListArguments),
}

impl Autodev {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        if matches!(self.task, Task::Init) {
            if project.workspace.autodev().is_none() {
                project.workspace.configure(KeyPath::key("autodev"), Value::Mapping(Vec::new()))?;
            }
            output.remark(
                "autodev is switched on: `stepmark autodev start` begins with the step that the files tell",
            );
            return Ok(Exit::Fine);
        }
        let autodev = project.workspace.autodev().ok_or_else(switched_off)?;
        let (made, reason, is_forced) = match &self.task {
            Task::Init | Task::Status => return report::status(&autodev.status()?, output),
            Task::Detect { explain, write } => return detect(&autodev, (*explain, *write), output),
            Task::Next => return report::next(&autodev.status()?, output),
            Task::Check(list) => return check(&autodev, list, project, output),
            Task::Start { flow } => {
                if !autodev.begin(flow.as_deref())? {
                    correct(&autodev, autodev.correct()?, output);
                }
                (AutodevMove::Start, None, false)
            }
            Task::SubStep { phase, name, detail } => {
                let place = SubStep { phase: *phase, name: name.clone(), detail: detail.clone() };
                (AutodevMove::SubStep(place), None, false)
            }
            Task::Complete => (AutodevMove::Complete, None, false),
            Task::Skip { reason, force } => (AutodevMove::Skip, Some(reason.clone()), *force),
            Task::Fail { reason } => (AutodevMove::Fail, Some(reason.clone()), false),
            Task::Retry { reset: true } => (AutodevMove::Reset, None, false),
            Task::Retry { reset: false } => (AutodevMove::Start, None, false),
            Task::Boundary => (AutodevMove::Boundary, None, false),
        };
        correct(&autodev, autodev.correct_back()?, output);
        let moved = autodev.make(&made, reason, is_forced)?;
        let exit = report::moved(&autodev.status()?, &moved, &made, output)?;
        if made == AutodevMove::Boundary {
            session::end_current(project, "autodev boundary", output)?;
        }
        Ok(exit)
    }

    pub(crate) const fn writes(&self) -> bool {
        !matches!(self.task, Task::Status | Task::Next | Task::Check(_) | Task::Detect { write: false, .. })
    }
}

fn detect(
    autodev: &store::Autodev<'_>,
    (explain, write): (bool, bool),
    output: &Output,
) -> Result<Exit, Failure> {
    if write && !autodev.begin(None)? {
        correct(autodev, autodev.correct()?, output);
    }
    let status = autodev.status()?;
    let evidence = explain.then(|| autodev.evidence(&status.flow));
    report::detection(&status, evidence.as_deref(), output)
}

fn check(
    autodev: &store::Autodev<'_>,
    list: &ListArguments,
    project: &Project,
    output: &Output,
) -> Result<Exit, Failure> {
    let file = autodev.file();
    let place = project.root().path().join(file.as_str());
    if autodev.status()?.noted.is_none() {
        return Err(store::not_begun(file).into());
    }
    Check::of_place(place, list.clone()).run(project, output)
}

fn correct(autodev: &store::Autodev<'_>, correction: Option<Correction>, output: &Output) {
    if let Some(Correction { noted, told }) = correction {
        let file = autodev.file();
        output.remark(format_args!(
            "{file}: corrected to step {told}, as the files of the project tell; it said {noted}"
        ));
    }
}

fn switched_off() -> Failure {
    Failure::new(Exit::Findings, "the project does not use autodev")
        .with_help(
            "`stepmark import autodev` switches it on with the state file that the project has; without one `stepmark autodev init` does",
        )
}
