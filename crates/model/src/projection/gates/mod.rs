//! Gates: one small file for every completed step, whose existence says "go on". Pure: an artifact, its
//! stat and the gates that are there → the gates that should be, and the answers that gates give.
//!
//! # Tiers
//! 1. The gate is there, and the artifact's stat is the one in it ([`Gate::judge`]). A checkout or an edit
//!    closes all gates of an artifact until they are rebuilt. `test -f` alone is a hint: it does not compare.
//! 2. The step is listed in a frontmatter that parses ([`verify`]). This is the truth, whatever the gates
//!    say.
//! 3. The same under the artifact's lease: nobody else may change the answer meanwhile.

mod answer;
mod changes;
mod gate;

pub use answer::{Closed, GateDecision, GateMatch, find, verify};
pub use answer::{GateUse, gate_findings};
pub use changes::{GateChanges, GateFacts, superfluous};
pub(crate) use gate::gate_file_name;
pub use gate::{GATE_EXTENSION, GateStep, gate_steps, listed_steps};
pub use gate::{Gate, GateStat, StoredGate};

pub const GATES_FOLDER: &str = ".stepmark/gates";
