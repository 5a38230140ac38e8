//! The merge of a flow: integration commits are prepared, approved by a person, and put onto a branch.

use super::{FlowError, Flows};
use crate::git::{GitVersionError, task_refs};
use stepmark_model::flows::{FlowMove, FlowRefusal, FlowState, MergePlan, move_flow, prepare_merge};

impl Flows<'_> {
    /// Makes an integration commit of each task that has checkpoints, on top of `branch` (without one that
    /// which is checked out). No branch names them yet. What an attempt without a checkpoint did is left out,
    /// if `leaves_out` says so.
    ///
    /// # Errors
    /// When the flow is not complete, work would be left out, or git cannot merge.
    pub fn prepare_merge(
        &self,
        flow: &str,
        branch: Option<&str>,
        leaves_out: bool,
    ) -> Result<FlowState, FlowError> {
        let state = self.finished(flow)?;
        let (root, acting) = (self.workspace.root(), self.acting(None));
        prepare_merge(&state, &MergePlan::default(), &acting)?;
        let without = state.tasks.iter().filter(|task| task.lacks_checkpoint());
        let left_out: Vec<String> = without.map(|task| task.task().to_owned()).collect();
        if !left_out.is_empty() && !leaves_out {
            return Err(FlowRefusal::NoCheckpoint { flow: flow.to_owned(), tasks: left_out }.into());
        }
        let branch = branch.map(str::to_owned).or_else(|| task_refs::current_branch(root));
        let branch = branch.ok_or(FlowError::NoBranch)?;
        let odd = || FlowError::OddBranch { branch: branch.clone() };
        let name = task_refs::branch_ref(root, &branch)?.ok_or_else(odd)?;
        let base = task_refs::commit_of(root, &name)
            .ok_or_else(|| GitVersionError::NoCommit { name: branch.clone() })?;
        let tips = state.tasks.iter().filter(|task| !task.lacks_checkpoint()).filter_map(|task| {
            let (from, tip) = self.commits_of(task)?;
            let attempt = task.attempts().pop().unwrap_or_default().attempt_id;
            let message = format!(
                "{}\n\nFlow: {flow}\nTask: {}\nAttempt: {attempt}\n",
                task.text("title"),
                task.task()
            );
            Some((from, tip, message))
        });
        let merged = task_refs::merge_onto(root, &base, &tips.collect::<Vec<_>>())?;
        if let Some(last) = merged.commits.last() {
            let kept = format!("refs/stepmark/merge/{flow}");
            task_refs::move_ref(root, &kept, last, task_refs::commit_of(root, &kept).as_deref())?;
        }
        let (commits, conflicts) = (merged.commits, merged.conflicts);
        let plan = MergePlan { target_branch: branch, base, commits, conflicts, left_out };
        self.change_flow(flow, ("merge prepare", &acting), |state| prepare_merge(state, &plan, &acting))?;
        Ok(self.state(flow)?)
    }

    /// Puts the integration commits that a person approved onto their branch. It may be done again where it
    /// was cut off.
    ///
    /// # Errors
    /// When nobody approved, the branch went on meanwhile or is checked out, or git refuses.
    pub fn apply_merge(&self, flow: &str) -> Result<FlowState, FlowError> {
        let state = self.unedited(flow)?;
        let (root, acting) = (self.workspace.root(), self.acting(None));
        move_flow(&state, FlowMove::Merge, &acting)?;
        let plan: MergePlan = state.flow.part("merge");
        let odd = || FlowError::OddBranch { branch: plan.target_branch.clone() };
        let name = task_refs::branch_ref(root, &plan.target_branch)?.ok_or_else(odd)?;
        let now = task_refs::commit_of(root, &name);
        if let Some(last) = plan.commits.last()
            && now.as_ref() != Some(last)
        {
            if now.as_ref() != Some(&plan.base) {
                return Err(FlowError::BranchMoved { branch: plan.target_branch });
            }
            if task_refs::is_checked_out(root, &plan.target_branch) {
                return Err(FlowError::BranchCheckedOut { branch: plan.target_branch });
            }
            task_refs::move_ref(root, &name, last, Some(&plan.base))?;
        }
        self.change_flow(flow, ("merge apply", &acting), |state| move_flow(state, FlowMove::Merge, &acting))?;
        self.seal()?;
        Ok(self.state(flow)?)
    }
}
