//! Finding where to resume: each tier is checked if the one before gives no answer.

#[cfg(feature = "history")]
pub(crate) mod choice;
#[cfg(feature = "history")]
mod looking;

#[cfg(feature = "history")]
pub use choice::ResumeChoice;

use crate::{Error, workspace::Workspace};
use std::io;
use stepmark_model::{
    artifact::{Artifact, Problem, ProjectPath, STEPS_KEYS},
    resume::{ResumeDecision, ResumeReport, SourceResult, Tier},
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resumption {
    pub report: ResumeReport,
    /// An answer, or that there is none.
    pub verdict: ResumeDecision,
}

impl Workspace {
    /// Checks `least` at least, and no further tiers than needed. Reads only. Without the feature `history`
    /// only the frontmatter is trusted, as the report says.
    pub fn resume(&self, path: &ProjectPath, least: Tier) -> Result<Resumption, Error> {
        let (artifact, result) = self.look_at_frontmatter(path)?;
        let report = ResumeReport::new(path.clone(), result);
        #[cfg(feature = "history")]
        let report = looking::Look::new(self, artifact, report).further(least);
        #[cfg(not(feature = "history"))]
        let report = without_history(&artifact, report, least);
        Ok(Resumption { verdict: report.verdict(), report })
    }

    fn look_at_frontmatter(&self, path: &ProjectPath) -> Result<(Artifact, SourceResult), Error> {
        let result = match self.artifact(path) {
            Ok(tracked) => {
                let damage = damage(tracked.artifact());
                let result = damage.unwrap_or_else(|| SourceResult::of(&tracked, None));
                return Ok((tracked.artifact().clone(), result));
            }
            Err(error) if error.is_missing() => SourceResult::nothing("there is no such file"),
            Err(error) => match error.detail::<io::Error>() {
                Some(source) if error.path() == Some(path) => {
                    SourceResult::distrusted(format!("the file cannot be read: {source}"))
                }
                _ => return Err(error),
            },
        };
        Ok((Artifact::read(path.clone(), Vec::new()), result))
    }
}

/// Only history tells if other sources are outdated, so they are not trusted.
#[cfg(not(feature = "history"))]
fn without_history(_: &Artifact, mut report: ResumeReport, least: Tier) -> ResumeReport {
    use stepmark_model::resume::StateSource;
    let reason = "this program was built without the feature `history`";
    while let Some(tier) = report.wanted(least) {
        let all = [StateSource::Checkpoint, StateSource::Journal, StateSource::Git];
        for source in all.into_iter().filter(|source| source.tier() == tier) {
            report.add(source, None, SourceResult::distrusted(reason));
        }
        if tier == Tier::Everything {
            report.cautions.push(format!("delegations and other sessions are not known: {reason}"));
        }
        report.tier = tier;
    }
    report
}

pub(crate) fn damage(artifact: &Artifact) -> Option<SourceResult> {
    let is_fatal = |problem: &Problem| match problem {
        Problem::SeveralDocuments | Problem::StepsInBody => true,
        Problem::KeyTwice { key } | Problem::StepsNotAList { key } | Problem::StepUnreadable { key } => {
            STEPS_KEYS.contains(&key.as_str())
        }
        problem => problem.hides_state(),
    };
    if let Some(diagnosis) = artifact.diagnoses().iter().find(|diagnosis| is_fatal(&diagnosis.problem)) {
        let position = artifact.document().position(diagnosis.span.start);
        return Some(SourceResult::distrusted(format!("line {position}: {}", diagnosis.problem)));
    }
    (!artifact.has_state_region()).then(|| SourceResult::nothing("the file has none"))
}
