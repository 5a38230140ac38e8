//! The gates that an artifact lacks or has too many of, and the facts that decide whether they are kept.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use super::{GateStep, StoredGate, gate_file_name, superfluous};
use crate::{
    artifact::Artifact,
    check::{
        Finding, Rule,
        rules::gates::{GATE_WITHOUT_STEP, STEP_WITHOUT_GATE},
    },
};
use stepmark_frontmatter::Span;

/// Finds the gates of `artifact`, which has completed `steps`, that are not those of its steps. One without
/// any gate lacks none: nobody has asked for them since it was checked out.
pub fn gate_findings(artifact: &Artifact, steps: &[GateStep], stored: &[StoredGate]) -> Vec<Finding> {
    let list = artifact.steps().map_or(Span::at(0), |steps| steps.span);
    let finding = |rule: &'static Rule, span, message: String, help: &str| {
        Finding::new(rule, artifact.path(), span, message).with_help(help)
    };
    let stale =
        superfluous(steps, stored.iter().map(|stored| stored.file_name.as_str())).into_iter().map(|name| {
            let message = format!("`{name}` is the gate of a step that is not listed here");
            finding(&GATE_WITHOUT_STEP, list, message, "`stepmark project` removes it")
        });
    let readable = stored.iter().filter(|stored| stored.gate.is_some());
    let readable: HashSet<&str> = readable.map(|stored| stored.file_name.as_str()).collect();
    let has_gate = |step: &&GateStep| readable.contains(gate_file_name(&step.name).as_str());
    let items = artifact.state().steps.iter().flat_map(|steps| &steps.items).rev();
    let spans: HashMap<&str, Span> = items.map(|item| (item.spelling.as_str(), item.span)).collect();
    let expected = if stored.is_empty() { &[] } else { steps };
    let missing = expected.iter().filter(|step| !has_gate(step)).map(|step| {
        let message = format!("`{}` is completed and has no gate", step.name);
        let span = spans.get(step.listed.as_str()).copied().unwrap_or(list);
        finding(&STEP_WITHOUT_GATE, span, message, "`stepmark project` makes it")
    });
    stale.chain(missing).collect()
}

/// The facts that decide whether the gates of an artifact are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateUse {
    /// The artifact's workflow or status says that it is finished.
    pub is_finished: bool,
    /// The time since the file was last changed.
    pub age: Duration,
    /// A live lease, a running session or an open child belongs to it.
    pub is_in_use: bool,
}

impl GateUse {
    /// Returns whether the gates are kept: somebody uses the artifact, or it is unfinished and was changed
    /// within `window`.
    pub fn keeps_gates(self, window: Duration) -> bool {
        self.is_in_use || !self.is_finished && self.age <= window
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::ProjectPath;

    #[test]
    fn gates_are_missed_where_there_are_some() {
        let path = ProjectPath::new("docs/prd.md").unwrap();
        let artifact = Artifact::read(path, b"---\nstepsCompleted: [a, b]\n---\n".to_vec());
        let steps = ["a", "b"].map(|name| GateStep { name: name.to_owned(), listed: name.to_owned() });
        let stored = |name: &str| StoredGate { file_name: gate_file_name(name), gate: None };
        let found = |stored: &[StoredGate]| -> Vec<&str> {
            gate_findings(&artifact, &steps, stored).iter().map(|finding| finding.rule.id).collect()
        };
        assert_eq!(found(&[]), [""; 0], "nobody has asked for gates of it");
        assert_eq!(found(&[stored("c")]), ["SM601", "SM602", "SM602"], "a gate that cannot be read is none");
    }

    #[test]
    fn gates_are_kept_where_somebody_works() {
        let window = Duration::from_secs(100);
        for (is_finished, seconds, is_in_use, expected) in [
            (false, 0, false, true),
            (false, 100, false, true),
            (false, 101, false, false),
            (true, 0, false, false),
            (true, 101, true, true),
            (false, 101, true, true),
        ] {
            let facts = GateUse { is_finished, age: Duration::from_secs(seconds), is_in_use };
            assert_eq!(facts.keeps_gates(window), expected, "{facts:?}");
        }
    }
}
