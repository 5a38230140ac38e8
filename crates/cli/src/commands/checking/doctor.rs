//! `stepmark doctor`

use clap::Args;
use serde_json::json;
use stepmark_store::doctor::Diagnosis;

use crate::{
    exit::{Exit, Failure},
    output::{Output, wording},
    project::Project,
};

/// Look for what is not as it should be, and fix what can be
///
/// Torn and broken lines of the journal, commits that were cut off, checkpoints that cannot be trusted, bytes
/// of other programs that were kept, and artifacts whose state history cannot explain.
///
/// Reads only, unless `--repair` is given: then what was cut off is finished, and torn last lines of the
/// journal are cut off and kept beside it. The rest needs a person; each finding says what to do.
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Fix what can be fixed without a decision
    #[arg(long)]
    repair: bool,
}

impl Doctor {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let diagnosis = if self.repair {
            project.workspace.doctor().repair()?
        } else {
            project.workspace.doctor().diagnose()?
        };
        if output.json {
            let Diagnosis { findings, fixed, .. } = &diagnosis;
            output.json("stepmark.doctor/2", json!({"findings": findings, "fixed": fixed}));
        }
        report(output, &diagnosis);
        Ok(if diagnosis.findings.is_empty() { Exit::Fine } else { Exit::Findings })
    }
}

fn report(output: &Output, diagnosis: &Diagnosis) {
    if diagnosis.is_index_renewed {
        output.remark("the index of the journal had lost events, and was made anew");
    }
    for fix in &diagnosis.fixed {
        output.line(format_args!("{}: {}", fix.path, fix.message));
    }
    for found in &diagnosis.findings {
        output.line(format_args!("{}: {}: {}", found.path, found.word(), found.message));
        output.line(format_args!("  help: {}", found.help));
    }
    for path in &diagnosis.behind {
        output.remark(format_args!(
            "{path}: history knows a later state, of another branch or work tree, or of one that is gone: \
             `stepmark log {path}` shows it"
        ));
    }
    match diagnosis.findings.len() {
        0 => output.remark("all is well"),
        count => output.remark(wording::count(count, "finding")),
    }
}
