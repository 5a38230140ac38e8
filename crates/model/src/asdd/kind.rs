//! The kinds of records of ASDD, and the order of their keys.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::records::RecordKinds;

/// A kind of record. The frontmatter says it under `stepmark_kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum SliceKind {
    /// The sprint, the goals, and what else there is one of.
    #[serde(rename = "asdd-project")]
    Project,
    /// A slice of the product that is led through the phases.
    #[serde(rename = "asdd-slice")]
    Slice,
}

/// The key of [`SliceKind::Project`] with what the manifest says besides.
pub(super) const EXTRA: &str = "extra";

/// The keys of slices that the manifest does not show.
pub(super) const HIDDEN: [&str; 2] = ["accepted", "approval"];

const SLICE_KEYS: [&str; 24] = [
    "name",
    "type",
    "status",
    "governance_mode",
    "phase_data",
    "confidence_chain",
    "ccs",
    "blockers",
    "dissent_notices",
    "reasoning_traces",
    "blocked_at_phase",
    "lkg_phase",
    "block_reason",
    "uncertainty_factors",
    "rollback_timestamp",
    "validation_status",
    "requirements_validated",
    "requirements_corrected",
    "requirements_missing",
    "lock",
    "status_before",
    "needs_human_review",
    "accepted",
    "approval",
];

impl RecordKinds for SliceKind {
    const ALL: &'static [Self] = &[Self::Project, Self::Slice];

    fn name(self) -> &'static str {
        match self {
            Self::Project => "asdd-project",
            Self::Slice => "asdd-slice",
        }
    }

    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Project => &["current_sprint", "product_goals", "global_confidence_score"],
            Self::Slice => &SLICE_KEYS,
        }
    }

    fn inner_keys(self, key: &str) -> Option<&'static [&'static str]> {
        let is_phases = self == Self::Slice && key == "phase_data";
        is_phases.then_some(&["intent", "requirements", "domain_model", "design", "tasks"])
    }
}

impl fmt::Display for SliceKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}
