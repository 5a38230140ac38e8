//! `stepmark project`

use clap::Args;

use crate::{
    exit::{Exit, Failure},
    output::{Output, wording},
    project::Project as OpenProject,
};

/// Rebuild what is derived from the artifacts: the gates
///
/// Everything that this writes can be deleted at any time. Nothing is written that is right already.
#[derive(Debug, Args)]
pub(crate) struct Project {
    /// Only the gates
    #[arg(long)]
    gates: bool,
}

/// What a projection did.
struct Done {
    name: &'static str,
    artifacts: usize,
    written: usize,
    removed: usize,
    unchanged: usize,
}

impl Project {
    pub(crate) fn run(&self, project: &OpenProject, output: &Output) -> Result<Exit, Failure> {
        let chosen = |is_named: bool| is_named || !self.gates;
        let mut done = Vec::new();
        if chosen(self.gates) {
            let gates = project.workspace.rebuild_gates()?;
            done.push(Done {
                name: "gates",
                artifacts: gates.artifacts,
                written: gates.written,
                removed: gates.removed,
                unchanged: gates.unchanged,
            });
        }
        report(output, &done);
        Ok(Exit::Fine)
    }
}

fn report(output: &Output, done: &[Done]) {
    if output.json {
        let projections: Vec<_> = done
            .iter()
            .map(|done| {
                serde_json::json!({
                    "name": done.name,
                    "artifacts": done.artifacts,
                    "written": done.written,
                    "removed": done.removed,
                    "unchanged": done.unchanged,
                })
            })
            .collect();
        output.json("stepmark.project/1", serde_json::json!({"projections": projections}));
        return;
    }
    for done in done {
        output.remark(format_args!(
            "{}: {}, {} written, {} removed, {} unchanged",
            done.name,
            wording::count(done.artifacts, "artifact"),
            done.written,
            done.removed,
            done.unchanged,
        ));
    }
}
