//! Checkpoint commits: a task's changes so far, on its own branch.

use super::Flows;
use crate::git::task_refs::no_start;
use crate::{Error, ErrorKind, git::task_refs};
use stepmark_model::{
    artifact::ProjectPath,
    flows::{FlowRecord, FlowState, GraphProblem, add_checkpoint, allows},
    spelling::{argument, listed},
};

impl Flows<'_> {
    /// Commits a task's changes in the work tree to `refs/heads/exec/FLOW/TASK`: all differences from its
    /// start, except records of flows, files of other tasks, and files that it may not write and that are
    /// committed as they are. The work tree is unchanged.
    pub fn checkpoint(&self, (flow, task): (&str, &str), message: &str) -> Result<FlowRecord, Error> {
        let state = self.unedited(flow)?;
        let acting = self.acting(None);
        // A refusal makes no commit.
        add_checkpoint(state.task(task)?, "")?;
        let (root, name) = (self.workspace.root(), ref_of(flow, task));
        let before = task_refs::commit_of(root, &name);
        let base = before.clone().or_else(|| task_refs::commit_of(root, "HEAD"));
        let base = base.ok_or_else(|| no_start("HEAD"))?;
        let attempt = state.task(task)?.last_attempt().unwrap_or_default().attempt_id;
        let text = format!("{message}\n\nFlow: {flow}\nTask: {task}\nAttempt: {attempt}\n");
        // A branch without a record is an interrupted first checkpoint.
        let first = before.as_ref().and_then(|tip| task_refs::commit_of(root, &format!("{tip}^")));
        let origin = self.commits_of(state.task(task)?).map(|(from, _)| from).or(first);
        let origin = origin.unwrap_or_else(|| base.clone());
        let (scopes, uncommitted) = (state.task(task)?.scopes().write, task_refs::uncommitted(root)?);
        let is_wanted = |path: &str| {
            self.belongs_to(&state, task, path) && (allows(&scopes, path) || uncommitted.contains(path))
        };
        let commit = match task_refs::commit_work_tree(root, (&origin, &base), &text, is_wanted)? {
            Some(commit) => {
                task_refs::move_ref(root, &name, &commit, before.as_deref())?;
                commit
            }
            // An interrupted checkpoint moved the branch without its record, or an earlier attempt left what
            // this one takes over.
            None => before
                .filter(|commit| {
                    let known =
                        |own: &FlowRecord| own.checkpoints().contains(commit) && !own.lacks_checkpoint();
                    !state.task(task).is_ok_and(known)
                })
                .ok_or_else(|| {
                    Error::refused(format!("nothing differs that the task `{flow}.{task}` has changed"))
                })?,
        };
        self.change_task((flow, task), ("checkpoint", &acting), |state| {
            add_checkpoint(state.task(task)?, &commit)
        })
    }

    pub fn diff(&self, (flow, task): (&str, &str)) -> Result<(Vec<String>, String), Error> {
        let state = self.state(flow)?;
        let none = || no_checkpoint(flow, task);
        let (from, to) = self.commits_of(state.task(task)?).ok_or_else(none)?;
        let root = self.workspace.root();
        Ok((task_refs::changed_between(root, &from, &to)?, task_refs::patch_between(root, &from, &to)?))
    }

    /// Resets the branch to a checkpoint commit. The work tree is unchanged.
    pub fn rollback(&self, (flow, task): (&str, &str), commit: &str) -> Result<FlowRecord, Error> {
        let state = self.unedited(flow)?;
        let acting = self.acting(None);
        let known = state.task(task)?.checkpoints();
        let found = known.into_iter().find(|own| commit.len() >= 4 && own.starts_with(commit));
        let found = found.ok_or_else(|| no_checkpoint(flow, task))?;
        add_checkpoint(state.task(task)?, "")?;
        let (root, name) = (self.workspace.root(), ref_of(flow, task));
        task_refs::move_ref(root, &name, &found, task_refs::commit_of(root, &name).as_deref())?;
        self.change_task((flow, task), ("rollback", &acting), |state| {
            add_checkpoint(state.task(task)?, &found)
        })
    }

    pub(super) fn changed_files(&self, task: &FlowRecord) -> Result<Vec<String>, Error> {
        match self.commits_of(task) {
            Some((from, to)) => Ok(task_refs::changed_between(self.workspace.root(), &from, &to)?),
            None => Ok(Vec::new()),
        }
    }

    /// The task's files that differ from its last checkpoint, which a merge leaves out. Without a checkpoint,
    /// from `HEAD`; none outside a repository.
    pub fn changed_since_checkpoint(&self, record: &FlowRecord) -> Result<Vec<String>, Error> {
        let (root, scopes) = (self.workspace.root(), record.scopes().write);
        let last = record.checkpoints().pop().or_else(|| task_refs::commit_of(root, "HEAD"));
        let Some(last) = last.filter(|_| !scopes.is_empty()) else { return Ok(Vec::new()) };
        let is_wanted = |path: &str| !self.is_state(path) && allows(&scopes, path);
        let tree = task_refs::tree_of_work_tree(root, &last, is_wanted)?;
        task_refs::changed_between(root, &last, &tree)
    }

    /// The task's start commit, and its last checkpoint.
    pub(super) fn commits_of(&self, task: &FlowRecord) -> Option<(String, String)> {
        let commits = task.checkpoints();
        let (first, last) = (commits.first()?, commits.last()?);
        Some((task_refs::commit_of(self.workspace.root(), &format!("{first}^"))?, last.clone()))
    }

    /// Excludes records, and files that only other tasks may write.
    fn belongs_to(&self, state: &FlowState, task: &str, path: &str) -> bool {
        if self.is_state(path) {
            return false;
        }
        let may_write = |record: &&FlowRecord| allows(&record.scopes().write, path);
        let is_own = |record: &FlowRecord| record.task() == task;
        let mut writers = state.tasks.iter().filter(may_write).map(is_own).peekable();
        writers.peek().is_none() || writers.any(|is_own| is_own)
    }

    fn is_state(&self, path: &str) -> bool {
        let is_of = |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        is_of(self.settings.folder.as_str()) || is_of(".stepmark")
    }
}

pub(super) fn ref_of(flow: &str, task: &str) -> String {
    format!("refs/heads/exec/{flow}/{task}")
}

fn told(paths: &[ProjectPath]) -> String {
    let names: Vec<&str> = paths.iter().map(ProjectPath::as_str).collect();
    let were = if paths.len() == 1 { "was" } else { "were" };
    format!("{} {were}", listed(&names))
}

pub(super) fn edited(flow: &str, paths: &[ProjectPath]) -> Error {
    let message =
        format!("{} edited by other means, and the commands of `{flow}` wait for a person", told(paths));
    let help = format!(
        "a person decides: `stepmark flow accept {0}` takes the edits, `stepmark flow restore {0}` takes them back",
        argument(flow)
    );
    Error::refused(message).help(help)
}

pub(super) fn taken(what: &str, id: &str) -> Error {
    let help = match what {
        "graph" => "`stepmark flow graph revise FILE` makes its next version",
        _ => "give another one with --id",
    };
    Error::exists(format!("the {what} `{id}` is there already")).help(help)
}

pub fn unusable_graph(id: &str, source: GraphProblem) -> Error {
    Error::refused(format!("the graph `{id}` cannot be run")).because(source)
}

pub(super) fn busy(path: &ProjectPath) -> Error {
    let message = format!("others change `{path}` again and again; nothing was changed");
    Error::new(ErrorKind::Conflict, message).help("try it again")
}

fn no_checkpoint(flow: &str, task: &str) -> Error {
    let task = format!("{flow}.{task}");
    let help =
        format!("`stepmark flow checkpoint {}` makes one before the attempt is verified", argument(&task));
    Error::refused(format!("the task `{task}` has no such checkpoint")).help(help)
}

pub(super) fn no_branch() -> Error {
    Error::refused("no branch is checked out onto which the flow could be merged")
        .help("name one with --into BRANCH")
}

pub(super) fn odd_branch(branch: &str) -> Error {
    Error::refused(format!(
        "`{branch}` is no branch that a flow can be merged onto: it has no name of one, or is a name of another one"
    )).help("`git branch` lists the branches: name one with --into")
}

pub(super) fn branch_moved(branch: &str) -> Error {
    let message = format!("the branch `{branch}` went on since the merge was prepared");
    Error::new(ErrorKind::Conflict, message)
        .help("`stepmark flow merge reject FLOW`, then `stepmark flow merge prepare FLOW`")
}

pub(super) fn branch_checked_out(branch: &str) -> Error {
    Error::refused(format!("the branch `{branch}` is checked out, and its work tree would stay behind")).help(
        "check out something else (`git switch --detach`), or prepare the merge with --into another branch",
    )
}
