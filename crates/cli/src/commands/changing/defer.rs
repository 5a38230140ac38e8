//! `stepmark defer`

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use stepmark_model::bmad::deferred::Deferred;

use super::memlog::FileChanged;
use crate::{
    exit::{Exit, Failure},
    output::Output,
    project::Project,
};

/// Put a finding of a review off: add it to `deferred` in a spec of BMAD
///
/// It is written in block style, as the skills of BMAD want it, and read again before it is kept. The list
/// only grows: of several agents at once each finding stays.
#[derive(Debug, Args)]
pub(crate) struct Defer {
    /// The spec
    artifact: PathBuf,
    /// What is put off, in a sentence
    #[arg(long, allow_hyphen_values = true)]
    summary: String,
    /// What shows that it is so; lines stay lines
    #[arg(long, allow_hyphen_values = true)]
    evidence: String,
    /// Where: `src/a.rs:7`
    #[arg(long, value_name = "PLACE")]
    location: Option<String>,
    /// How bad it is
    #[arg(long)]
    severity: Option<Severity>,
    /// Nobody has verified how bad it is
    #[arg(long, requires = "severity")]
    unverified: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Severity {
    High,
    Medium,
    Low,
}

impl Defer {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let path = project.artifact_path(&self.artifact)?;
        let word =
            self.severity.and_then(|severity| Some(severity.to_possible_value()?.get_name().to_owned()));
        let severity = word.map(|word| if self.unverified { format!("{word} (unverified)") } else { word });
        let (summary, evidence) = (&*self.summary, &*self.evidence);
        if summary.trim().is_empty() || evidence.trim().is_empty() {
            return Err(Failure::new(Exit::Usage, "a finding needs a summary and evidence"));
        }
        let (location, severity) = (self.location.as_deref(), severity.as_deref());
        project.workspace.defer(&path, &Deferred { summary, evidence, location, severity })?;
        let answer = FileChanged { path: path.to_string(), changed: true };
        output.json_or("stepmark.defer/1", || &answer, || output.remark(format_args!("{path}: written")));
        Ok(Exit::Fine)
    }
}
