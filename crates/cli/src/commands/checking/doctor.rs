//! `stepmark doctor`

use clap::Args;
use serde_json::{Value as Json, json};
use stepmark_model::artifact::ProjectPath;
use stepmark_store::commit::{CommitSetAside, SetAsideRepair};
use stepmark_store::doctor::{Diagnosis, DoctorFinding};

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
            output.json("stepmark.doctor/2", wire(&diagnosis));
        }
        report(output, &diagnosis);
        Ok(if diagnosis.findings.is_empty() { Exit::Fine } else { Exit::Findings })
    }
}

fn report(output: &Output, diagnosis: &Diagnosis) {
    if diagnosis.is_index_renewed {
        output.remark("the index of the journal had lost events, and was made anew");
    }
    for path in &diagnosis.finished {
        output.line(format_args!("{path}: fixed: the commit that was cut off is finished"));
    }
    for cut in &diagnosis.cut {
        output.line(format_args!(
            "{}: fixed: {} bytes of a torn line are cut off and kept in `{}`",
            cut.segment, cut.length, cut.copy
        ));
    }
    for file in &diagnosis.published {
        output.line(format_args!("{file}: fixed: the sealing that was cut off is finished"));
    }
    for path in &diagnosis.removed {
        output
            .line(format_args!("{path}: fixed: the temporary file of a process that was killed is removed"));
    }
    for repair in &diagnosis.set_aside {
        match repair {
            SetAsideRepair::Finished(aside) => {
                output
                    .line(format_args!("{}: fixed: the commit that was set aside is finished", paths(aside)));
            }
            SetAsideRepair::Dropped(aside, reason) => output.line(format_args!(
                "{}: given up: {reason}; the bytes of the commit are kept in `{}`",
                paths(aside),
                aside.record.display()
            )),
        }
    }
    for found in &diagnosis.findings {
        output.line(format_args!("{}: {}: {}", found.path(), found.word(), found.message()));
        output.line(format_args!("  help: {}", found.help()));
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

fn paths(aside: &CommitSetAside) -> String {
    let paths: Vec<&str> = aside.files.iter().map(ProjectPath::as_str).collect();
    if paths.is_empty() { "a commit of nobody here".to_owned() } else { paths.join(", ") }
}

fn wire(diagnosis: &Diagnosis) -> Json {
    let finding = |found: &DoctorFinding| {
        json!({
            "kind": found.word(),
            "path": found.path(),
            "message": found.message(),
            "help": found.help(),
        })
    };
    let finished = diagnosis
        .finished
        .iter()
        .map(|path| json!({"kind": "interrupted-commit", "path": path.to_string(), "kept": null}));
    let cut = diagnosis
        .cut
        .iter()
        .map(|cut| json!({"kind": "journal-torn", "path": cut.segment, "kept": cut.copy}));
    let published = diagnosis
        .published
        .iter()
        .map(|file| json!({"kind": "segment-unpublished", "path": file, "kept": null}));
    let removed =
        diagnosis.removed.iter().map(|path| json!({"kind": "temporary-file", "path": path, "kept": null}));
    let set_aside = diagnosis.set_aside.iter().map(|repair| match repair {
        SetAsideRepair::Dropped(aside, _) => {
            json!({"kind": "commit-set-aside", "path": paths(aside), "kept": aside.record})
        }
        SetAsideRepair::Finished(aside) => {
            json!({"kind": "commit-set-aside", "path": paths(aside), "kept": null})
        }
    });
    json!({
        "findings": diagnosis.findings.iter().map(finding).collect::<Vec<_>>(),
        "fixed": finished.chain(cut).chain(published).chain(removed).chain(set_aside).collect::<Vec<_>>(),
    })
}
