//! Slices of ASDD.

pub(crate) mod slice_inconsistent;
pub(crate) mod slice_drifted;
pub(crate) mod agent_twice_in_chain;
pub(crate) mod ccs_wrong;
pub(crate) mod done_with_missing_file;
pub(crate) mod below_threshold;
pub(crate) mod slice_not_explained;
pub(crate) mod review_open;
pub(crate) mod heartbeat_stale;
pub(crate) mod factors_missing;
pub(crate) mod chain_out_of_order;

use super::{super::Subject, value_span};
use crate::asdd::{Record, SliceKind};
use stepmark_frontmatter::Span;

/// The slice that the subject is.
fn slice<'s>(subject: &'s Subject<'_>) -> Option<&'s Record> {
    subject.slice().filter(|record| record.kind == SliceKind::Slice)
}

/// The span of the value under `key`; that of the frontmatter where it is missing.
fn span(subject: &Subject<'_>, key: &str) -> Span {
    value_span(subject.artifact, &[key])
}
