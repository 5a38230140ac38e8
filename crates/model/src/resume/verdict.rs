//! The choice of the trusted source.

use std::ptr;

use super::{ResumeReport, SourceReport, SourceResult, StateSource, Tier};
use crate::{
    artifact::ProjectPath,
    tracked_artifact::{Membership, TrackedArtifact},
    workflow::{Next, Step, WorkState},
};
use jiff::Timestamp;
use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResumeDecision {
    Answer(Box<ResumeAnswer>),
    /// All tiers were read.
    CannotTell {
        reason: String,
        help: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResumeAnswer {
    pub source: StateSource,
    pub name: Option<String>,
    pub point: ResumePoint,
    pub why: String,
    pub cautions: Vec<String>,
}

impl ResumeReport {
    /// The next tier to read, at least `least`; `None`: enough is known.
    pub fn wanted(&self, least: Tier) -> Option<Tier> {
        // Only the newest checkpoint: an older one would silently set the work back.
        let first = self.sources.iter().find(|one| one.source.tier() == self.tier);
        let decides = first.is_some_and(|one| one.state().is_some() || one.is_unclear_frontmatter());
        match self.tier {
            Tier::Everything => None,
            tier if tier >= least && decides => None,
            Tier::Frontmatter => Some(Tier::Checkpoint),
            Tier::Checkpoint => Some(Tier::Everything),
        }
    }

    /// After all wanted tiers were read.
    ///
    /// Readable frontmatter is the truth; other sources that disagree are only reported (docs/design.md,
    /// "Truth"). Else the newest checkpoint, if trusted and current; else the newest trusted state,
    /// preferring the journal to a checkpoint to git.
    pub fn verdict(&self) -> ResumeDecision {
        let of_tier = || self.sources.iter().find(|one| one.source.tier() == self.tier);
        let frontmatter = || {
            let tells = |one: &&SourceReport| one.source == StateSource::Frontmatter && one.state().is_some();
            self.sources.iter().find(|one| tells(one) || one.is_unclear_frontmatter())
        };
        let newest = || {
            let believed = self.sources.iter().filter_map(|one| Some((one.state()?.0, one.source, one)));
            believed.max_by_key(|(at, source, _)| (*at, *source)).map(|(_, _, one)| one)
        };
        let unclear = || self.sources.iter().find(|one| matches!(one.result, SourceResult::Unclear { .. }));
        let chosen = match self.tier {
            Tier::Everything => frontmatter().or_else(newest).or_else(unclear),
            _ => of_tier(),
        };
        match chosen.map(|one| (one, &one.result)) {
            Some((chosen, SourceResult::State { at, point })) => self.answer(chosen, *at, point),
            Some((chosen, SourceResult::Unclear { reason })) => ResumeDecision::CannotTell {
                reason: format!("{chosen} can be read, but does not tell the next step: {reason}"),
                help: reason.help.to_owned(),
            },
            _ => self.told_by_none(),
        }
    }

    fn told_by_none(&self) -> ResumeDecision {
        let path = &self.artifact;
        let all: Vec<String> = self.sources.iter().map(|one| format!("{one}: {}", one.result)).collect();
        ResumeDecision::CannotTell {
            reason: format!("no source tells the state of `{path}`: {}", all.join("; ")),
            help: format!(
                "fix its frontmatter by hand (`stepmark check {path}` shows the place), or put a checkpoint back with \
                 `stepmark restore`"
            ),
        }
    }

    fn answer(&self, chosen: &SourceReport, at: Option<Timestamp>, point: &ResumePoint) -> ResumeDecision {
        let mut cautions = self.cautions.clone();
        if point.state == Some(WorkState::Interrupted) {
            cautions.push(
                "the artifact has content but no completed step: look at it before its first step runs again"
                    .to_owned(),
            );
        }
        if let Some(at) = at.filter(|_| chosen.source != StateSource::Frontmatter) {
            cautions.push(format!(
                "what was done after {at} is not in this state: compare it with the text of the artifact"
            ));
        }
        cautions.extend(self.sources.iter().filter_map(|other| disagreement(chosen, (at, point), other)));
        if !self.delegations.is_empty() {
            let paths: Vec<String> =
                self.delegations.iter().map(|child| format!("`{}`", child.path)).collect();
            cautions.push(format!("work that was delegated is not finished: {}", paths.join(", ")));
        }
        ResumeDecision::Answer(Box::new(ResumeAnswer {
            source: chosen.source,
            name: chosen.name.clone(),
            point: point.clone(),
            why: self.why(chosen),
            cautions,
        }))
    }

    fn why(&self, chosen: &SourceReport) -> String {
        let reason = match chosen.source {
            StateSource::Frontmatter => "the frontmatter can be read, and it is the truth".to_owned(),
            StateSource::Checkpoint => format!("{chosen} is the newest state that is believed"),
            StateSource::Journal => format!("{chosen} is the last state that history knows"),
            StateSource::Git => format!("{chosen} is the newest version that can be read"),
        };
        let before = self.sources.iter().filter(|one| one.source.tier() < chosen.source.tier());
        let distrusted = before.filter_map(|one| match &one.result {
            SourceResult::Nothing { reason } | SourceResult::Distrusted { reason } => {
                Some(format!("{one}: {reason}"))
            }
            SourceResult::State { .. } | SourceResult::Unclear { .. } => None,
        });
        distrusted.chain([reason]).collect::<Vec<_>>().join("; ")
    }
}

impl SourceReport {
    const fn is_unclear_frontmatter(&self) -> bool {
        matches!((self.source, &self.result), (StateSource::Frontmatter, SourceResult::Unclear { .. }))
    }
}

/// Another trusted source knows more steps, is newer, or (for git, which alone knows the checkout)
/// contradicts the journal.
fn disagreement(
    chosen: &SourceReport,
    (at, point): (Option<Timestamp>, &ResumePoint),
    other: &SourceReport,
) -> Option<String> {
    let (other_at, other_point) = other.state()?;
    if ptr::eq(other, chosen)
        || (&other_point.next, &other_point.next_status) == (&point.next, &point.next_status)
    {
        return None;
    }
    let is_checked_out = (chosen.source, other.source) == (StateSource::Journal, StateSource::Git);
    let is_newer = at.is_some() && other_at > at;
    let knows_more = other_point.done.unwrap_or_default() > point.done.unwrap_or_default();
    if !(knows_more || is_newer || is_checked_out) {
        return None;
    }
    let remark = if is_checked_out { "; it counts if another branch was checked out since" } else { "" };
    Some(format!("{other} says otherwise: {}{remark}", other.result))
}

/// Also in the JSON of `resume`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct ResumePoint {
    /// `None`: only a status is known.
    #[serde(rename = "work_state")]
    pub state: Option<WorkState>,
    pub finished: bool,
    pub done: Option<usize>,
    pub total: Option<usize>,
    pub moves: Vec<String>,
    pub status: Option<String>,
    pub steps_completed: Vec<String>,
    /// Several to choose from; empty if finished.
    pub next: Vec<NextStep>,
    pub alternatives: Vec<NextStep>,
    /// Without a workflow: the next status.
    #[serde(skip)]
    pub next_status: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct NextStep {
    #[serde(rename = "id")]
    pub step: String,
    pub file: Option<ProjectPath>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct NoResumePoint {
    pub reason: String,
    pub help: &'static str,
}

impl ResumePoint {
    pub fn of(artifact: &TrackedArtifact) -> Result<Self, NoResumePoint> {
        let progress = artifact.progress();
        let steps = |steps: &[&Step]| steps.iter().copied().map(NextStep::of).collect();
        let (next, alternatives): (Vec<_>, Vec<_>) = match progress.as_ref().map(|progress| &progress.next) {
            Some(Next::Step { step, alternatives }) => (steps(&[step]), steps(alternatives)),
            Some(Next::Choice(choice)) => (steps(choice), Vec::new()),
            Some(Next::Unknown(unknown)) => {
                let help = "`stepmark show` lists the steps of its workflow";
                return Err(NoResumePoint { reason: unknown.to_string(), help });
            }
            None if artifact.lifecycle_state().is_none() => return Err(NoResumePoint::of(artifact)),
            Some(Next::Finished) | None => (Vec::new(), Vec::new()),
        };
        let is_open = progress.is_none() && artifact.has_work_left();
        let next_status = artifact.next_state().filter(|_| is_open).map(|state| state.name.clone());
        Ok(Self {
            state: progress.as_ref().map(|progress| progress.state),
            finished: next.is_empty() && next_status.is_none(),
            done: progress.as_ref().map(|progress| progress.done_units),
            total: progress.as_ref().map(|progress| progress.total),
            moves: artifact.moves().iter().map(|legal| legal.to.name.clone()).collect(),
            status: filled_status(artifact).map(str::to_owned),
            steps_completed: artifact.steps().completed().iter().map(ToString::to_string).collect(),
            next,
            alternatives,
            next_status,
        })
    }

    /// `5/14, next: step-04-journeys`; of a status `draft, next: status → final`
    pub fn in_words(&self) -> String {
        let next: Vec<&str> = self.next.iter().map(|next| next.step.as_str()).collect();
        let next = match &self.next_status {
            Some(status) => format!("next: status → {status}"),
            None if next.is_empty() => "finished".to_owned(),
            None => format!("next: {}", next.join(" | ")),
        };
        format!("{}, {next}", self.progress_in_words())
    }

    /// `5/14`; of a status `draft`
    pub fn progress_in_words(&self) -> String {
        match &self.status {
            Some(status) if self.state.is_none() => status.clone(),
            _ => format!("{}/{}", self.done.unwrap_or_default(), self.total.unwrap_or_default()),
        }
    }
}

impl NextStep {
    fn of(step: &Step) -> Self {
        Self { step: step.name().to_owned(), file: step.path.clone() }
    }
}

impl NoResumePoint {
    pub const NOT_IMPORTED: &'static str = "`stepmark import stories` takes it in";

    /// For artifacts without a workflow.
    pub fn of(artifact: &TrackedArtifact) -> Self {
        let (reason, help) = match (artifact.membership(), artifact.lifecycle(), filled_status(artifact)) {
            (Membership::Ambiguous { candidates }, ..) => (
                format!("several workflows fit: {}", candidates.join(", ")),
                "bind it to one of them in `.stepmark/config.yaml`",
            ),
            (Membership::Missing { name }, ..) => (
                format!("the configuration names the workflow `{name}`, and there is none"),
                "correct its name in `.stepmark/config.yaml`",
            ),
            _ if artifact.waits_for_import() => (
                "it is a story that is not imported yet: its frontmatter has no status".to_owned(),
                Self::NOT_IMPORTED,
            ),
            (_, Some(choice), Some(status)) => (
                format!("its status `{status}` is no state of the lifecycle `{}`", choice.lifecycle.name()),
                "`stepmark transition ARTIFACT STATE --force --reason TEXT` corrects it",
            ),
            _ => (
                "no workflow of the project fits".to_owned(),
                "install the workflow, or declare one in `.stepmark/config.yaml` under `workflows`",
            ),
        };
        Self { reason, help }
    }
}

fn filled_status(artifact: &TrackedArtifact) -> Option<&str> {
    artifact.state().status.as_ref().and_then(|status| status.filled())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        artifact::ProjectPath,
        resume::{NextStep, NoResumePoint, OpenDelegation},
    };

    fn path(text: &str) -> ProjectPath {
        ProjectPath::new(text).unwrap()
    }

    fn state(at: Option<&str>, done: usize) -> SourceResult {
        let point = ResumePoint {
            state: Some(WorkState::Underway),
            finished: false,
            done: Some(done),
            total: Some(14),
            steps_completed: (1..=done).map(|step| step.to_string()).collect(),
            next: vec![NextStep { step: format!("step-{:02}", done + 1), file: None }],
            alternatives: Vec::new(),
            status: None,
            next_status: None,
            moves: Vec::new(),
        };
        SourceResult::State { at: at.map(|at| format!("2026-11-22T{at}:00Z").parse().unwrap()), point }
    }

    fn distrusted() -> SourceResult {
        SourceResult::Distrusted { reason: "broken".to_owned() }
    }

    fn nothing() -> SourceResult {
        SourceResult::Nothing { reason: "none".to_owned() }
    }

    const FRONTMATTER: StateSource = StateSource::Frontmatter;
    const CHECKPOINT: StateSource = StateSource::Checkpoint;
    const JOURNAL: StateSource = StateSource::Journal;
    const GIT: StateSource = StateSource::Git;

    fn report(tier: Tier, sources: impl IntoIterator<Item = (StateSource, SourceResult)>) -> ResumeReport {
        let mut sources = sources.into_iter();
        let mut report = ResumeReport::new(path("docs/prd.md"), sources.next().unwrap().1);
        report.tier = tier;
        sources.for_each(|(source, result)| report.add(source, Some("0123456789abcdef".to_owned()), result));
        report
    }

    fn answered(verdict: ResumeDecision) -> ResumeAnswer {
        match verdict {
            ResumeDecision::Answer(answer) => *answer,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn looks_no_further_than_it_must() {
        let good = report(Tier::Frontmatter, [(FRONTMATTER, state(None, 3))]);
        assert_eq!(good.wanted(Tier::Frontmatter), None);
        assert_eq!(answered(good.verdict()).point.next[0].step, "step-04");
        assert_eq!(good.wanted(Tier::Checkpoint), Some(Tier::Checkpoint));
        let broken = report(Tier::Frontmatter, [(FRONTMATTER, distrusted())]);
        assert_eq!(broken.wanted(Tier::Frontmatter), Some(Tier::Checkpoint));
        let second =
            report(Tier::Checkpoint, [(FRONTMATTER, distrusted()), (CHECKPOINT, state(Some("10:00"), 2))]);
        assert_eq!(second.wanted(Tier::Frontmatter), None);
        let answer = answered(second.verdict());
        assert_eq!(answer.source, CHECKPOINT);
        assert!(answer.why.contains("broken"), "{}", answer.why);
        assert!(answer.cautions[0].contains("10:00"), "{:?}", answer.cautions);
        assert_eq!(second.wanted(Tier::Everything), Some(Tier::Everything));
    }

    #[test]
    fn a_missing_or_distrusted_checkpoint_falls_to_everything() {
        for checkpoints in [
            vec![(CHECKPOINT, nothing())],
            vec![(CHECKPOINT, distrusted())],
            vec![(CHECKPOINT, distrusted()), (CHECKPOINT, state(Some("08:00"), 1))],
        ] {
            let all = [(FRONTMATTER, distrusted())].into_iter().chain(checkpoints);
            assert_eq!(report(Tier::Checkpoint, all).wanted(Tier::Frontmatter), Some(Tier::Everything));
        }
    }

    #[test]
    fn of_everything_the_newest_state_counts() {
        let frontmatter = (FRONTMATTER, distrusted());
        for (result, source) in [
            ([state(Some("10:00"), 2), state(Some("11:00"), 3), state(Some("09:00"), 1)], JOURNAL),
            ([state(Some("10:00"), 2), state(Some("10:00"), 2), state(Some("10:00"), 2)], JOURNAL),
            ([state(Some("12:00"), 2), state(Some("11:00"), 3), state(Some("09:00"), 1)], CHECKPOINT),
            ([state(Some("10:00"), 2), nothing(), state(Some("11:00"), 1)], GIT),
            ([distrusted(), nothing(), state(Some("11:00"), 1)], GIT),
        ] {
            let [one, two, three] = result;
            let all = [frontmatter.clone(), (CHECKPOINT, one), (JOURNAL, two), (GIT, three)];
            let answer = answered(report(Tier::Everything, all).verdict());
            assert_eq!(answer.source, source);
        }
    }

    #[test]
    fn a_readable_frontmatter_is_the_truth_and_others_are_told() {
        let mut all = report(
            Tier::Everything,
            [
                (FRONTMATTER, state(None, 3)),
                (CHECKPOINT, state(Some("09:00"), 2)),
                (JOURNAL, state(Some("11:00"), 5)),
            ],
        );
        all.delegations.push(OpenDelegation { path: path("docs/child.md"), status: None, next: Vec::new() });
        let answer = answered(all.verdict());
        assert_eq!(answer.source, FRONTMATTER);
        assert_eq!(answer.cautions.len(), 2, "{:?}", answer.cautions);
        assert!(answer.cautions[0].contains("5/14") && answer.cautions[1].contains("child.md"));
    }

    #[test]
    fn what_is_checked_out_is_told_beside_the_journal() {
        let all =
            [(FRONTMATTER, distrusted()), (JOURNAL, state(Some("11:00"), 5)), (GIT, state(Some("10:00"), 3))];
        let answer = answered(report(Tier::Everything, all).verdict());
        assert!(answer.cautions.iter().any(|caution| caution.contains("branch")), "{:?}", answer.cautions);
    }

    #[test]
    fn it_never_guesses() {
        let none = report(Tier::Everything, [(FRONTMATTER, distrusted()), (JOURNAL, nothing())]);
        let ResumeDecision::CannotTell { reason, help } = none.verdict() else { panic!() };
        assert!(reason.contains("broken") && reason.contains("none") && help.contains("restore"), "{reason}");
        let no_workflow = NoResumePoint { reason: "no workflow".to_owned(), help: "" };
        let unclear = [(FRONTMATTER, SourceResult::Unclear { reason: no_workflow })];
        let unclear = report(Tier::Frontmatter, unclear);
        assert_eq!(unclear.wanted(Tier::Frontmatter), None);
        assert!(matches!(unclear.verdict(), ResumeDecision::CannotTell { .. }));
        assert_eq!(unclear.wanted(Tier::Checkpoint), Some(Tier::Checkpoint));
    }
}
