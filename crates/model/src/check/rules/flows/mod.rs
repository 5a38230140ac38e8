//! Records of flows: graphs, flows and executions.

pub(crate) mod graph_changed;
pub(crate) mod graph_cyclic;
pub(crate) mod execution_missing;
pub(crate) mod success_unverified;
pub(crate) mod attempt_count_wrong;
pub(crate) mod over_limit;
pub(crate) mod log_disagrees;
pub(crate) mod scope_violation;
pub(crate) mod task_outlives_flow;
pub(crate) mod attempt_interrupted;
pub(crate) mod copy_differs;

use super::{super::Subject, value_span};
use crate::flows::{FlowFacts, FlowKind, FlowRecord};
use std::sync::Arc;
use stepmark_frontmatter::Span;

/// The record of `kind` that the subject is.
fn record(subject: &Subject<'_>, kind: FlowKind) -> Option<FlowRecord> {
    // Most artifacts are none, and need not be read again.
    subject.artifact.state().kind.filter(|own| own.name == kind.name())?;
    FlowRecord::of(subject.artifact, kind).ok()
}

/// The flows of the project.
fn facts(subject: &Subject<'_>) -> Option<Arc<FlowFacts>> {
    subject.environment?.flows()
}

/// The span of the value under `key`; that of the frontmatter where it is missing.
fn span(subject: &Subject<'_>, key: &str) -> Span {
    value_span(subject.artifact, &[key])
}
