//! Gates. `projection::gates` looks for what these rules are about, since gates are copies.

use crate::check::rule::Decision;
use crate::check::{Group, Rule, Severity};

pub(crate) static GATE_WITHOUT_STEP: Rule =
    Rule::new("SM601", "gate-without-step", Group::Gates, Severity::Note, Decision::OfLaterStage);

pub(crate) static STEP_WITHOUT_GATE: Rule =
    Rule::new("SM602", "step-without-gate", Group::Gates, Severity::Note, Decision::OfLaterStage);
