//! The dialect of flows: graphs of tasks, their runs, and the executions of tasks with attempts and
//! verifications, as records in artifacts (docs/flows.md). Pure.

mod parts;
mod record;
mod scope;
mod graph;
mod refusal;
mod state;
mod new_records;
mod change;
mod attempts;
mod verifying;
mod interventions;
mod flow_move;
mod why;
mod facts;
mod following_event;
mod event_dump;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod sample;

pub use attempts::{AttemptEnd, add_checkpoint, claim, end_attempt};
pub use change::{Acting, RecordChange};
pub use event_dump::EventDump;
pub use facts::FlowFacts;
pub use flow_move::{FlowMove, move_flow, prepare_merge};
pub use following_event::{FlowFact, FollowingEvent, following_events};
pub use graph::{Graph, GraphProblem};
pub use interventions::{abort_task, accept, escalate, retry};
pub use new_records::{execution_record, flow_record, freeze, graph_record};
pub use parts::{
    Attempt, Check, CheckResult, Decision, Failure, HumanAction, MergePlan, OutputSummary, RetryPolicy,
    Scopes, TaskDefinition, Verification, Verifier,
};
pub use record::{FlowKind, FlowRecord, FlowRecordError, is_flow_id, is_task_id};
pub use refusal::FlowRefusal;
pub use scope::{allows, overlap};
pub use state::FlowState;
pub use verifying::{Judgement, verify};
pub use why::{Why, why};
