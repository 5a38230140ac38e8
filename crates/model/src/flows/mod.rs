//! The dialect of flows: graphs of tasks, their runs, and the executions of tasks with attempts and
//! verifications, as records in artifacts (docs/flows.md). Pure.

mod parts;
mod record;
mod graph;
mod refusal;
mod state;
mod verifying;
mod flow_move;
mod event_dump;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod sample;

pub use event_dump::{EventDump, FlowFact, FollowingEvent, following_events};
pub use flow_move::{
    Acting, RecordChange, accept, execution_record, flow_record, freeze, graph_record, make,
};
pub use graph::{Graph, GraphProblem};
pub use parts::{
    Attempt, Check, CheckResult, Decision, Failure, HumanAction, MergePlan, OutputSummary, RetryPolicy,
    Scopes, TaskDefinition, Verification, Verifier,
};
pub use record::{FlowKind, FlowRecord, FlowRecordError, is_flow_id, is_task_id};
pub use refusal::FlowRefusal;
pub use state::{FlowFacts, FlowState, Why, allows, overlap, why};
pub use verifying::{AttemptEnd, Judgement, add_checkpoint, claim, end_attempt, verify};
