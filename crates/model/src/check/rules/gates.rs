//! Gates. `projection::gates` finds the problems: gates are copies.

use crate::check::rule::Decision;

rules! { Gates;
    pub(crate) GATE_WITHOUT_STEP "SM601" "gate-without-step" Note Decision::OfLaterStage;
    pub(crate) STEP_WITHOUT_GATE "SM602" "step-without-gate" Note Decision::OfLaterStage;
}
