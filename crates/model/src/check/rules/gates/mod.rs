//! Gates. `projection::gates` looks for what these rules are about, since gates are copies.

pub(crate) mod gate_without_step;
pub(crate) mod step_without_gate;
