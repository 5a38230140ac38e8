//! Gates against their artifact → findings.

use super::{GateStep, StoredGate, gate_file_name, superfluous};
use crate::{
    artifact::Artifact,
    check::{
        Finding, Rule,
        rules::gates::{gate_without_step, step_without_gate},
    },
    document::Span,
};

/// Where the gates of `artifact`, which has completed `steps`, are not those of its steps.
pub fn gate_findings(artifact: &Artifact, steps: &[GateStep], stored: &[StoredGate]) -> Vec<Finding> {
    let list = artifact.steps().map_or(Span::at(0), |steps| steps.span);
    let finding = |rule: &'static Rule, span, message: String, help: &str| {
        Finding::new(rule, artifact.path(), span, message).with_help(help)
    };
    let stale =
        superfluous(steps, stored.iter().map(|stored| stored.file_name.as_str())).into_iter().map(|name| {
            let message = format!("`{name}` is the gate of a step that is not listed here");
            finding(&gate_without_step::RULE, list, message, "`stepmark project` removes it")
        });
    let has_gate = |step: &&GateStep| {
        let name = gate_file_name(&step.name);
        stored.iter().any(|stored| stored.file_name == name && stored.gate.is_some())
    };
    let missing = steps.iter().filter(|step| !has_gate(step)).map(|step| {
        let lists = artifact.state().steps.iter();
        let item = lists.flat_map(|steps| &steps.items).find(|item| item.spelling == step.listed);
        let message = format!("`{}` is completed and has no gate", step.name);
        let span = item.map_or(list, |item| item.span);
        finding(&step_without_gate::RULE, span, message, "`stepmark project` makes it")
    });
    stale.chain(missing).collect()
}
