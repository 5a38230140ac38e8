//! How many problems each file has.

use std::collections::BTreeMap;

use stepmark_model::{artifact::ProjectPath, tracked_artifact::TrackedArtifact};
use stepmark_store::checking::{Known, Selection};

use crate::{
    exit::chain,
    output::{Output, wire::ProblemCounts},
    project::Project,
};

/// How many problems a check has found in each file.
pub(super) struct Problems {
    /// Artifacts, and files beside them in which something is wrong.
    pub(super) counts: BTreeMap<ProjectPath, ProblemCounts>,
    /// Whether everything was looked at.
    pub(super) is_whole: bool,
}

impl Problems {
    /// Those of all `artifacts` of `project`. Where no check can be made, what is wrong with each by itself is better than no answer.
    pub(super) fn of(project: &Project, artifacts: &[TrackedArtifact], output: &Output) -> Self {
        match project.workspace.check(artifacts, Selection::All, Known::LeftOut) {
            Ok(report) => {
                let counted =
                    report.files.into_iter().map(|file| (file.path, ProblemCounts::of(&file.findings)));
                Self { counts: counted.collect(), is_whole: true }
            }
            Err(error) => {
                output.warning(format_args!(
                    "only what is wrong with each artifact by itself is counted: {}",
                    chain(&error)
                ));
                let counted = artifacts.iter().map(|artifact| {
                    (artifact.path().clone(), ProblemCounts::of(&project.workspace.own_findings(artifact)))
                });
                Self { counts: counted.collect(), is_whole: false }
            }
        }
    }
}
