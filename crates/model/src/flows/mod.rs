//! Flows: graphs of tasks, runs, and executions with attempts and verifications, as records in artifacts
//! (docs/flows.md). Pure.

mod graph;
mod state;
mod verifying;
mod flow_move;
mod event_dump;

pub use event_dump::{EventDump, FlowFact, FollowingEvent, following_events};
pub use flow_move::{
    Acting, FlowRefusal, RecordChange, accept, execution_record, flow_record, freeze, graph_record, make,
};
pub use graph::{
    Attempt, Check, CheckResult, Decision, Failure, Graph, GraphProblem, HumanAction, MergePlan,
    OutputSummary, RetryPolicy, Scopes, TaskDefinition, Verification, Verifier,
};
pub use state::{
    FlowFacts, FlowKind, FlowRecord, FlowRecordError, FlowState, Why, allows, is_flow_id, is_task_id,
    overlap, why,
};
pub use verifying::{AttemptEnd, Judgement, add_checkpoint, claim, end_attempt, verify};

#[cfg(test)]
mod cases;
#[cfg(test)]
mod sample;
