//! Finding out where to go on: each tier is looked at when the one before does not answer.

#[cfg(feature = "history")]
pub(crate) mod choice;
#[cfg(feature = "history")]
pub(crate) mod everything;
#[cfg(feature = "history")]
mod subject;

#[cfg(feature = "history")]
pub use choice::{ChoiceError, ResumeChoice};

use jiff::Timestamp;

#[cfg(feature = "history")]
use self::subject::Subject;
use crate::workspace::{ArtifactError, Workspace};
use stepmark_model::tracked_artifact::TrackedArtifact;
use stepmark_model::{
    artifact::{Artifact, Problem, ProjectPath, STEPS_KEYS},
    resume::{
        ResumeDecision, ResumePoint, ResumeReport, SourceReport, SourceResult, StateSource, Tier, decide,
    },
};

/// The answer to where to go on, and all that was found out on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resumption {
    pub report: ResumeReport,
    /// The decision that follows: an answer, or that it cannot be told.
    pub verdict: ResumeDecision,
}

impl Workspace {
    /// Finds out where to go on with the artifact at `path`, looking at `least` at least and no further than
    /// is needed. Reads only. Without the feature `history` only the frontmatter is believed: the report says
    /// so of everything else.
    pub fn resume(&self, path: &ProjectPath, least: Tier) -> Result<Resumption, ArtifactError> {
        let mut report = ResumeReport::none(path.clone());
        let (artifact, result) = self.look_at_frontmatter(path)?;
        report.sources.push(SourceReport { source: StateSource::Frontmatter, result });
        report.looked = Some(Tier::Frontmatter);
        let mut subject = Subject::of(artifact);
        loop {
            match decide(&report, least) {
                ResumeDecision::Look(tier) => {
                    self.look_further(tier, &mut subject, &mut report)?;
                    report.looked = Some(tier);
                }
                verdict => return Ok(Resumption { report, verdict }),
            }
        }
    }

    fn look_at_frontmatter(&self, path: &ProjectPath) -> Result<(Artifact, SourceResult), ArtifactError> {
        Ok(match self.artifact(path) {
            Ok(tracked) => {
                let result = match damage(tracked.artifact()) {
                    Some(result) => result,
                    None => said_by(&tracked, None),
                };
                (tracked.artifact().clone(), result)
            }
            Err(ArtifactError::Missing { .. }) => {
                let result = SourceResult::Nothing { reason: "there is no such file".to_owned() };
                (Artifact::read(path.clone(), Vec::new()), result)
            }
            Err(ArtifactError::Read { source, .. }) => {
                let result =
                    SourceResult::Distrusted { reason: format!("the file cannot be read: {source}") };
                (Artifact::read(path.clone(), Vec::new()), result)
            }
            Err(error) => return Err(error),
        })
    }
}

/// Nothing more is known of an artifact without history.
#[cfg(not(feature = "history"))]
struct Subject;

#[cfg(not(feature = "history"))]
impl Subject {
    fn of(_: Artifact) -> Self {
        Self
    }
}

#[cfg(not(feature = "history"))]
impl Workspace {
    /// Reports the sources of `tier` as not to be believed: only history tells whether they are outdated.
    fn look_further(
        &self,
        tier: Tier,
        _: &mut Subject,
        report: &mut ResumeReport,
    ) -> Result<(), ArtifactError> {
        let reason = "this program was built without the feature `history`";
        let sources = match tier {
            Tier::Frontmatter => vec![StateSource::Frontmatter],
            Tier::Checkpoint => vec![StateSource::Checkpoint(None)],
            Tier::Everything => {
                report.cautions.push(format!("delegations and other sessions are not known: {reason}"));
                vec![StateSource::Journal(None), StateSource::GitHistory(None)]
            }
        };
        report.sources.extend(sources.into_iter().map(|source| SourceReport {
            source,
            result: SourceResult::Distrusted { reason: reason.to_owned() },
        }));
        Ok(())
    }
}

pub(crate) fn damage(artifact: &Artifact) -> Option<SourceResult> {
    let is_fatal = |problem: &Problem| match problem {
        Problem::SeveralDocuments | Problem::StepsInBody => true,
        Problem::KeyTwice { key } | Problem::StepsNotAList { key } | Problem::StepUnreadable { key } => {
            STEPS_KEYS.contains(&key.as_str())
        }
        problem => problem.hides_state(),
    };
    let fatal = artifact.diagnoses().iter().find(|diagnosis| is_fatal(&diagnosis.problem));
    if let Some(diagnosis) = fatal {
        let position = artifact.document().position(diagnosis.span.start);
        return Some(SourceResult::Distrusted { reason: format!("line {position}: {}", diagnosis.problem) });
    }
    let is_absent = !artifact.has_state_region();
    is_absent.then(|| SourceResult::Nothing { reason: "the file has none".to_owned() })
}

pub(crate) fn said_by(tracked: &TrackedArtifact, at: Option<Timestamp>) -> SourceResult {
    match ResumePoint::of(tracked) {
        Ok(point) => SourceResult::State { at, point },
        Err(reason) => SourceResult::Unclear { reason },
    }
}
