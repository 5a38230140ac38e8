//! Moves of flows.

use serde_json::json;

use super::{Acting, FlowKind, FlowRefusal, FlowState, MergePlan, RecordChange, change::check_status};

/// A move of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowMove {
    /// Its tasks may be claimed.
    Start,
    /// A person stops claims.
    Pause,
    /// A person lets claims go on.
    Resume,
    /// A person gives it up.
    Abort,
    /// All its tasks have succeeded.
    Complete,
    /// A person approves the merge.
    ApproveMerge,
    /// A person refuses the merge.
    RejectMerge,
    /// Its work is merged.
    Merge,
}

impl FlowMove {
    /// Its name as a command.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Abort => "abort",
            Self::Complete => "complete",
            Self::ApproveMerge => "merge approve",
            Self::RejectMerge => "merge reject",
            Self::Merge => "merge apply",
        }
    }

    /// The statuses out of which it leads, the one that it leads into, and how history calls it.
    const fn way(self) -> (&'static [&'static str], &'static str, &'static str) {
        match self {
            Self::Start => (&["CREATED"], "RUNNING", "flow-started"),
            Self::Pause => (&["RUNNING"], "PAUSED", "flow-paused"),
            Self::Resume => (&["PAUSED"], "RUNNING", "flow-resumed"),
            Self::Abort => (&["CREATED", "RUNNING", "PAUSED"], "ABORTED", "flow-aborted"),
            Self::Complete => (&["RUNNING"], "COMPLETED", "flow-completed"),
            Self::ApproveMerge => (&["FROZEN_FOR_MERGE"], "FROZEN_FOR_MERGE", "merge-approved"),
            Self::RejectMerge => (&["FROZEN_FOR_MERGE"], "COMPLETED", "merge-rejected"),
            Self::Merge => (&["FROZEN_FOR_MERGE"], "MERGED", "integration-commit"),
        }
    }

    /// The act, where only a person may make the move.
    const fn human_action(self) -> Option<&'static str> {
        match self {
            Self::Pause => Some("pause a flow"),
            Self::Resume => Some("resume a flow"),
            Self::Abort => Some("abort a flow"),
            Self::ApproveMerge => Some("approve a merge"),
            Self::RejectMerge => Some("reject a merge"),
            Self::Start | Self::Complete | Self::Merge => None,
        }
    }
}

/// Decides on a move of the flow.
///
/// # Errors
/// When it is refused.
pub fn move_flow(state: &FlowState, made: FlowMove, acting: &Acting) -> Result<RecordChange, FlowRefusal> {
    let before = &state.flow;
    let (from, to, event) = made.way();
    check_status(before, FlowKind::Flow, made.name(), from)?;
    if let Some(action) = made.human_action() {
        acting.must_be_human(action, FlowKind::Flow, before)?;
    }
    if matches!(made, FlowMove::Start | FlowMove::Complete) {
        state.check_graph()?;
    }
    let mut after = before.clone();
    after.set("status", to);
    match made {
        FlowMove::Start => after.set("started_at", acting.now.as_str()),
        FlowMove::Pause => after.push("paused_at", &acting.now),
        FlowMove::Resume => after.push("resumed_at", &acting.now),
        FlowMove::Abort => after.set("ended_at", acting.now.as_str()),
        FlowMove::Complete => {
            let open = state.unfinished();
            if !open.is_empty() {
                return Err(FlowRefusal::Incomplete { flow: before.id().to_owned(), open });
            }
            after.set("ended_at", acting.now.as_str());
        }
        FlowMove::ApproveMerge => {
            let plan: MergePlan = before.part("merge");
            if !plan.conflicts.is_empty() {
                return Err(FlowRefusal::Conflicts { flow: before.id().to_owned(), files: plan.conflicts });
            }
            let approval = json!({
                "to": "MERGED", "by": acting.actor, "decided_at": acting.now, "plan": plan.digest(),
            });
            after.set("approval", approval);
        }
        FlowMove::RejectMerge => after.unset("approval"),
        FlowMove::Merge => {
            let flow = before.id().to_owned();
            let Some(approval) = before.values().get("approval") else {
                return Err(FlowRefusal::NotApproved { flow });
            };
            if approval["plan"] != before.part::<MergePlan>("merge").digest() {
                return Err(FlowRefusal::OtherPlan { flow });
            }
        }
    }
    if made.human_action().is_some() {
        after.push("human_actions", acting.action(made.name()));
    }
    Ok(RecordChange::new(before, after, event))
}

/// Keeps the merge of a complete flow as it was prepared: it waits for the approval of a person.
///
/// # Errors
/// When the flow is not complete.
pub fn prepare_merge(
    state: &FlowState,
    plan: &MergePlan,
    acting: &Acting,
) -> Result<RecordChange, FlowRefusal> {
    let before = &state.flow;
    check_status(before, FlowKind::Flow, "merge prepare", &["COMPLETED"])?;
    let mut after = before.clone();
    after.set("status", "FROZEN_FOR_MERGE");
    after.set("merge", serde_json::to_value(plan).unwrap_or_default());
    after.unset("approval");
    Ok(RecordChange::new(before, after, "merge-prepared").with("by", acting.actor.as_str()))
}
