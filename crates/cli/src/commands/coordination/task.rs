//! `stepmark task`

use std::collections::BTreeSet;
use stepmark_store::records::no_record;

use super::{
    agent, coordination,
    report::{self, Answer},
};
use crate::{
    environment::new_id,
    exit::{Exit, Failure},
    output::{ListArguments, Output, spinner},
    project::Project,
};
use clap::{Args, Subcommand};
use stepmark_model::{
    coordination::{Format, NewTask, task_move},
    packs::MoveCall,
    records::RecordSet as _,
};
use stepmark_store::coordination::{Coordination, Overwrite};

/// Share tasks between agents: add them, claim them, say how they ended
///
/// Each task is a file `.coordination/tasks/ID.md`; the files of other programs follow (`stepmark
/// coordination --help`). A task is held by one agent, however many claim at once.
#[derive(Debug, Args)]
pub(crate) struct Task {
    #[command(subcommand)]
    what: What,
}

/// The agent that acts.
#[derive(Debug, Args)]
struct Acting {
    /// The agent; without it the actor of the command, if it is an agent
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
}

#[derive(Debug, Args)]
struct Named {
    /// The task
    id: String,
}

#[derive(Debug, Args)]
struct Held {
    #[command(flatten)]
    task: Named,
    #[command(flatten)]
    acting: Acting,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Add a task
    Add {
        /// The work
        description: String,
        /// Its id; without it one is made
        #[arg(long)]
        id: Option<String>,
        /// From 1, the highest, to 10
        #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(i64).range(1..=10))]
        priority: i64,
        /// A task that has to be done before; once for each
        #[arg(long = "after", value_name = "ID")]
        dependencies: Vec<String>,
        /// A file that helps; once for each
        #[arg(long = "file", value_name = "PATH")]
        files: Vec<String>,
        /// Other help
        #[arg(long, default_value = "")]
        hints: String,
    },
    /// List the tasks
    List {
        /// Only those with this status
        #[arg(long)]
        status: Option<String>,
        #[command(flatten)]
        list: ListArguments,
    },
    /// Show a task
    Show(Named),
    /// Say which task an agent would get
    Next(Acting),
    /// Take a task: the best of those that may be claimed, or the one that is named
    Claim {
        /// The task
        id: Option<String>,
        #[command(flatten)]
        acting: Acting,
    },
    /// Say that work has begun
    Start(Held),
    /// Say that a task is done; those that waited for it become available
    Done {
        /// The task
        id: String,
        #[command(flatten)]
        acting: Acting,
        /// The outcome
        #[arg(long, default_value = "")]
        output: String,
        /// A file that was changed; once for each
        #[arg(long = "modified", value_name = "PATH")]
        files_modified: Vec<String>,
        /// A file that was made; once for each
        #[arg(long = "created", value_name = "PATH")]
        files_created: Vec<String>,
    },
    /// Say that a task failed
    Fail {
        /// The task
        id: String,
        #[command(flatten)]
        acting: Acting,
        /// The reason
        #[arg(long)]
        error: String,
    },
    /// Give a task back, so that another agent may claim it
    Release(Held),
    /// Make a task available that is `pending` or `blocked`; those that it waits for must be done
    Free(Named),
    /// Make a failed task available again
    Retry(Named),
    /// Give a task up for good
    Cancel(Named),
}

impl Task {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let coordination = coordination(&project.workspace)?;
        match &self.what {
            What::Add { description, id, priority, dependencies, files, hints } => {
                if description.trim().is_empty() {
                    return Err(Failure::new(Exit::Usage, "a task without a description says nothing to do"));
                }
                let mut task = NewTask::new(id.clone().unwrap_or_else(task_id), description);
                task.priority = *priority;
                task.dependencies.clone_from(dependencies);
                task.context_files.clone_from(files);
                task.hints.clone_from(hints);
                let (made, files) = coordination.create(&[task])?;
                report::added(&made, &files, output)
            }
            What::List { status, list } => {
                let mut tasks = coordination.state()?.tasks;
                tasks.retain(|task| status.as_deref().is_none_or(|status| task.status() == status));
                report::tasks(tasks, list, output)
            }
            What::Show(Named { id }) => {
                let id = coordination.task_id(id)?;
                let task = coordination.state()?.tasks.into_iter().find(|task| task.id == id);
                let task = task.ok_or_else(|| no_record("task", &id))?;
                report::task(&task, output);
                Ok(Exit::Fine)
            }
            What::Next(acting) => {
                let agent = agent(project, acting.agent.as_deref())?;
                match coordination.next(&agent) {
                    Ok(task) => report::next(Some(&task), output),
                    Err(nothing) if nothing.is_idle() => {
                        report::next(None, output);
                        return Ok(Failure::from(nothing).exit);
                    }
                    Err(error) => return Err(error.into()),
                }
                Ok(Exit::Fine)
            }
            What::Claim { id, acting } => {
                let agent = agent(project, acting.agent.as_deref())?;
                let change = match id {
                    Some(id) => coordination.claim_task(&coordination.task_id(id)?, &agent)?,
                    None => coordination.claim(&agent)?,
                };
                report::changed(&change, output)
            }
            other => {
                let (id, made) = other.to_move(project)?;
                report::changed(&coordination.make(&coordination.task_id(id)?, &made)?, output)
            }
        }
    }

    pub(crate) const fn writes(&self) -> bool {
        !matches!(self.what, What::List { .. } | What::Show(_) | What::Next(_))
    }
}

fn task_id() -> String {
    format!("task-{}", new_id())
}

impl What {
    fn to_move(&self, project: &Project) -> Result<(&str, MoveCall), Failure> {
        let by = |name: &str, acting: &Acting| {
            Ok::<_, Failure>(task_move(name, Some(&agent(project, acting.agent.as_deref())?)))
        };
        Ok(match self {
            Self::Start(Held { task: Named { id }, acting }) => (id, by("start", acting)?),
            Self::Done { id, acting, output, files_modified, files_created } => {
                (id, ended(by("done", acting)?, output, (files_modified, files_created)))
            }
            Self::Fail { id, acting, error } => (id, by("fail", acting)?.with("error", &**error)),
            Self::Release(Held { task: Named { id }, acting }) => (id, by("release", acting)?),
            Self::Free(Named { id }) => (id, task_move("free", None)),
            Self::Retry(Named { id }) => (id, task_move("retry", None)),
            Self::Cancel(Named { id }) => (id, task_move("cancel", None)),
            _ => return Err(Failure::new(Exit::Usage, "this is no move of a task")),
        })
    }
}

pub(crate) fn ended(made: MoveCall, output: &str, (modified, created): (&[String], &[String])) -> MoveCall {
    let made = made.with("output", output).with("files_modified", modified);
    if created.is_empty() { made } else { made.with("files_created", created) }
}

pub(super) fn project(
    coordination: &Coordination<'_>,
    overwrite: &Overwrite,
    output: &Output,
) -> Result<Exit, Failure> {
    if let Overwrite::Records(ids) = overwrite {
        refuse_unknown(coordination, ids)?;
    }
    let files = coordination.project(overwrite)?;
    output.answer(|| Answer::Files { files: &files, removed: None });
    files.written.iter().for_each(|path| output.line(path));
    report::told(&files, output);
    Ok(if files.drift.is_empty() { Exit::Fine } else { Exit::Findings })
}

fn refuse_unknown(coordination: &Coordination<'_>, ids: &BTreeSet<String>) -> Result<(), Failure> {
    let (state, drift) = (coordination.state()?, coordination.drift()?);
    let is_known = |id: &&String| {
        state.records().any(|record| record.id == **id) || drift.iter().any(|drift| drift.id == **id)
    };
    match ids.iter().find(|id| !is_known(id)) {
        None => Ok(()),
        Some(id) => Err(Failure::new(
            Exit::Findings,
            format!("there is no record `{id}`, here or in the files that follow; nothing was written"),
        )
        .with_help("`stepmark coordination project` says which records other programs changed")),
    }
}

pub(super) fn convert(
    coordination: &Coordination<'_>,
    to: Format,
    dry_run: bool,
    output: &Output,
) -> Result<Exit, Failure> {
    let from = coordination.settings().option;
    if from == to {
        output.remark(format_args!("the project keeps option {to} already"));
        return Ok(Exit::Fine);
    }
    let drift = coordination.drift()?;
    if !drift.is_empty() {
        let ids: Vec<&str> = drift.iter().map(|drift| drift.id.as_str()).collect();
        return Err(Failure::new(
            Exit::Findings,
            format!("other programs changed {} in the files of option {from}", ids.join(", ")),
        )
        .with_help("take the changes with `stepmark import coordination`, or give them up with `stepmark coordination project --overwrite`"));
    }
    if dry_run {
        output.remark(format_args!("option {to} would follow, and the files of option {from} would go"));
        return Ok(Exit::Fine);
    }
    let (files, removed) = coordination.convert(to)?;
    output.answer(|| Answer::Files { files: &files, removed: Some(&removed) });
    files.written.iter().for_each(|path| output.line(path));
    removed.iter().for_each(|path| output.remark(format_args!("{path}: removed")));
    Ok(report::told(&files, output))
}

pub(super) fn save(coordination: &Coordination<'_>, output: &Output) -> Result<Exit, Failure> {
    wants_state_file(coordination)?;
    project(coordination, &Overwrite::None, output)
}

pub(super) fn checkpoint(
    coordination: &Coordination<'_>,
    name: &str,
    output: &Output,
) -> Result<Exit, Failure> {
    wants_state_file(coordination)?;
    let kept = coordination.checkpoint(name)?;
    output.line(kept);
    Ok(Exit::Fine)
}

pub(super) fn load(
    coordination: &Coordination<'_>,
    name: Option<&str>,
    output: &Output,
) -> Result<Exit, Failure> {
    wants_state_file(coordination)?;
    let place = match name {
        Some(name) => coordination.checkpoint_path(name)?,
        None => coordination.settings().state_file.clone(),
    };
    let found = coordination.survey(Some(&place))?;
    let survey = &found.survey;
    let missing: Vec<&str> =
        survey.rows.iter().filter(|row| row.file.is_none()).map(|row| row.id.as_str()).collect();
    // A copy that was kept is the whole state; a file that was not saved lately is not.
    let (count, _) = coordination.import(&found, true, name.is_some())?;
    let (count, same) = (spinner::count(count, "record"), spinner::count(survey.same, "record"));
    output.remark(format_args!("{place}: {count} written, {same} the same"));
    if !missing.is_empty() {
        let fate = if name.is_some() { "gone, as in the copy" } else { "kept, though the file has them not" };
        output.remark(format_args!("{}: {fate}", missing.join(", ")));
    }
    Ok(Exit::Fine)
}

fn wants_state_file(coordination: &Coordination<'_>) -> Result<(), Failure> {
    match coordination.settings().option {
        Format::OrchestratorState => Ok(()),
        other => Err(Failure::new(
            Exit::Findings,
            format!("the project keeps option {other}, whose files follow each change"),
        )
        .with_help("`stepmark coordination convert --to C` changes to the state file of option C")),
    }
}
